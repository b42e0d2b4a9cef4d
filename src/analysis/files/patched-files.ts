import { posix } from 'node:path';
import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { seenResult } from '../actions/seen-result.ts';
import { applyChunks, type PatchOperation, readCodexPatch } from './codex-patch.ts';
import type { FileEffect } from './file-effect.ts';
import type { FileStates } from './file-states.ts';
import { certainFile, GONE, type KnownFile, type KnownLine, partialFile, UNKNOWN } from './known-file.ts';
import { editedPartly, withHunk } from './text-edits.ts';

/** Follows patches: those of apply_patch, and unified ones. */
export class PatchedFiles {
  readonly #states: FileStates;

  constructor(states: FileStates) {
    this.#states = states;
  }

  codexPatch(text: string, workdir: string | null): void {
    const { result, call } = this.#states.action;
    const operations = readCodexPatch(text);
    if (typeof operations === 'string') return;
    const paths = operations.map(({ path }) => this.#states.path(path, workdir));
    if (result === null) {
      for (const path of paths) this.#states.set(path, UNKNOWN, 'the result of this call is not recorded');
      return;
    }
    const seen = seenResult(result);
    const failed = seen.exit === null ? !/Success|Done|^$/.test(seen.output) : seen.exit !== 0;
    let stop = operations.length;
    if (failed) {
      stop = operations.findIndex(({ path }) => seen.output.includes(path));
      if (stop === -1) {
        if (!/Invalid patch/.test(seen.output))
          for (const path of paths) this.#states.set(path, UNKNOWN, 'the patch failed somewhere');
        return;
      }
    }
    for (const [i, operation] of operations.entries()) {
      const path = paths[i] ?? '';
      if (i >= stop) this.#states.note(path, 'failed: no change');
      else this.#codexOperation(operation, path, workdir, call);
    }
  }

  #codexOperation(operation: PatchOperation, path: string, workdir: string | null, call: number): void {
    if (operation.kind === 'delete') {
      this.#states.set(path, GONE, 'deleted');
      return;
    }
    const before = this.#states.at(path);
    if (operation.kind === 'add') {
      this.#states.set(path, certainFile(operation.text, call, before), 'written whole');
      return;
    }
    const to = operation.moveTo === null ? path : this.#states.path(operation.moveTo, workdir);
    let after: KnownFile;
    const applied =
      before.status === 'certain' && before.text !== null ? applyChunks(before.text, operation.chunks) : null;
    if (applied !== null && 'text' in applied) after = certainFile(applied.text, call, before);
    else
      after = editedPartly(
        before.status === 'certain' ? UNKNOWN : before,
        operation.chunks.map(({ old, new: put }) => ({ old: old.join('\n'), new: put.join('\n'), all: false })),
        call,
        null,
      );
    const why = after.status === 'certain' ? 'an edit of known content' : 'an edit of a file that is known in part';
    if (to === path) {
      this.#states.set(path, after, why);
      return;
    }
    this.#states.set(path, GONE, 'moved away');
    this.#states.set(to, after, why);
  }

  unifiedPatch(
    { dir, strip, text }: Extract<FileEffect, { kind: 'unified-patch' }>,
    output: string | null,
    failed: boolean | null,
  ): void {
    let patches: StructuredPatch[];
    try {
      patches = parsePatch(text);
    } catch {
      return;
    }
    for (const patch of patches) {
      const name = (one: string | undefined) => {
        const plain = (one ?? '').replace(/\t.*$/, '').trim();
        return plain === '/dev/null' ? null : plain.split('/').slice(strip).join('/');
      };
      const [old, put] = [name(patch.oldFileName), name(patch.newFileName)];
      const target = put ?? old;
      if (target === null || target === '') continue;
      const path = this.#states.path(target, dir.startsWith('/') ? dir : this.#states.dir);
      if (output === null) this.#states.set(path, UNKNOWN, 'the result of this call is not recorded');
      else this.#patchOne(path, patch, { isNew: old === null, isGone: put === null }, output, failed);
    }
  }

  #patchOne(
    path: string,
    patch: StructuredPatch,
    { isNew, isGone }: { isNew: boolean; isGone: boolean },
    output: string,
    failed: boolean | null,
  ): void {
    const { call } = this.#states.action;
    const part = output.slice(Math.max(0, output.indexOf(posix.basename(path))));
    const isFailed =
      failed === true || /FAILED|ignored|can't find file|malformed|does not apply|Only garbage/.test(output);
    if (isFailed) {
      const [, bad, all] = /(\d+) out of (\d+) hunks? (?:FAILED|ignored)/.exec(part) ?? [];
      const isNone =
        (bad !== undefined && bad === all) || /can't find file|does not apply|malformed|Only garbage/.test(output);
      if (isNone) this.#states.note(path, 'failed: no change');
      else this.#states.set(path, UNKNOWN, 'only a part of the patch was applied');
      return;
    }
    if (isGone) {
      this.#states.set(path, GONE, 'deleted');
      return;
    }
    const before = this.#states.at(path);
    if (isNew) {
      const text = applyPatch('', patch, { autoConvertLineEndings: false });
      this.#states.set(path, text === false ? UNKNOWN : certainFile(text, call, before), 'written whole');
      return;
    }
    if (before.status === 'certain' && before.text !== null) {
      const text = applyPatch(before.text, patch, {
        autoConvertLineEndings: false,
        fuzzFactor: /fuzz/.test(part) ? 2 : 0,
      });
      if (text !== false) {
        this.#states.set(path, certainFile(text, call, before), 'an edit of known content');
        return;
      }
    }
    if (/offset|fuzz/.test(part)) {
      this.#states.set(path, partialFile(new Map()), 'a patch whose place is not shown');
      return;
    }
    let file = before.status === 'certain' ? UNKNOWN : before;
    for (const hunk of patch.hunks) {
      const put = hunk.lines.filter((line) => /^[ +]/.test(line) || line === '');
      const lines = put.map((line, i): KnownLine => {
        const text = line.slice(1);
        const known = line.startsWith('+') ? undefined : file.lines.get(hunk.newStart + i);
        return known !== undefined && known.text === text ? known : { text, by: line.startsWith('+') ? call : null };
      });
      file = withHunk(file, hunk.newStart, hunk.oldLines, lines);
    }
    this.#states.set(path, file, 'an edit of a file that is known in part');
  }
}
