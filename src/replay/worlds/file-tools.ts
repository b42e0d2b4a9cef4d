import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import type { CallAction, EditorAction } from '../../analysis/actions/action.ts';
import { applyChunks, readCodexPatch } from '../../analysis/files/codex-patch.ts';
import { tabsExpanded, universalNewlines } from '../../analysis/files/known-file.ts';
import type { LiveWorld } from '../../sandbox/worlds/world.ts';

/** The answer of a tool that works on files. */
export interface ToolAnswer {
  text: string;
  ok: boolean;
  /** The file lines that the answer shows, as they are now; a recorded view is checked against them. */
  shows: { path: string; text: string; from: number; to: number | null } | null;
  /** The lines of the answer are a set: their order is not guaranteed. */
  isSet?: true;
}

const toolState = z.object({
  undo: z.array(z.tuple([z.string(), z.array(z.string())])),
  read: z.array(z.tuple([z.string(), z.string()])),
  open: z.string().nullable(),
});

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

const failedAnswer = (text: string): ToolAnswer => ({ text, ok: false, shows: null });
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Commands of SWE-agent's windows; its searches are not among them. */
export const WINDOW_TOOLS: ReadonlySet<string> = new Set([
  'open',
  'goto',
  'scroll_up',
  'scroll_down',
  'create',
  'edit',
]);

/** Agents' tools that read and write files themselves, run in a world. They keep the state that an agent's own process would. */
export class FileTools {
  readonly #world: LiveWorld;
  /** The versions that undo_edit restores, by path. */
  readonly #undo = new Map<string, string[]>();
  /** Hashes of the files that Claude Code's Read saw, by path: it refuses to edit anything else. */
  readonly #read = new Map<string, string>();
  #open: string | null = null;
  #last: string;

  /** @param state of the tools in an earlier world */
  constructor(world: LiveWorld, state: string | null = null) {
    this.#world = world;
    if (state !== null) {
      const { undo, read, open } = toolState.parse(JSON.parse(state));
      for (const [path, versions] of undo) this.#undo.set(path, versions);
      for (const [path, hash] of read) this.#read.set(path, hash);
      this.#open = open;
    }
    this.#last = this.#state();
  }

  #state(): string {
    return JSON.stringify({ undo: [...this.#undo], read: [...this.#read], open: this.#open });
  }

  /** The tools' memory, as text for another world; null if that is what it was when this was asked last. */
  changedState(): string | null {
    const state = this.#state();
    if (state === this.#last) return null;
    this.#last = state;
    return state;
  }

  /**
   * Runs a call. @param workdir base of relative paths, except the shell's. @param recorded the recorded answer, which
   * shows the version of a tool
   */
  async run(
    action: Exclude<CallAction, { kind: 'shell' | 'none' }>,
    workdir: string,
    recorded: string | null,
  ): Promise<ToolAnswer> {
    switch (action.kind) {
      case 'read':
        return this.#claudeRead(this.#at(action.path), action.offset, action.limit);
      case 'write':
        return this.#claudeWrite(this.#at(action.path), action.content);
      case 'edit':
        return this.#claudeEdit(this.#at(action.path), action.edits);
      case 'search':
        return this.#search(action.tool, action.options);
      case 'editor':
        return this.#editor(action);
      case 'window':
        return action.verb === 'create'
          ? this.#windowCreate(action.words[0] ?? '', /\(1 lines total\)/.test(recorded ?? ''))
          : this.#window(action.verb, action.words, action.text);
      case 'patch':
        return this.#patch(action.text, action.workdir ?? workdir);
      case 'blocks':
        return this.#blocks(action.blocks, workdir);
    }
  }

  #at(path: string, dir = this.#world.dir): string {
    return posix.isAbsolute(path) ? posix.normalize(path) : posix.join(dir, path);
  }

  async #text(path: string): Promise<string | null> {
    return (await this.#world.readFile(path))?.toString('utf8') ?? null;
  }

  async #put(path: string, text: string): Promise<string | null> {
    return this.#world.writeFile(path, Buffer.from(text, 'utf8'));
  }

  async #claudeRead(path: string, offset: number | null, limit: number | null): Promise<ToolAnswer> {
    const text = await this.#text(path);
    if (text === null) return failedAnswer('File does not exist.');
    this.#read.set(path, sha256Of(text));
    const from = offset ?? 1;
    const to = limit === null ? null : from + limit - 1;
    return { text: numberedLines(text, from, to, '→'), ok: true, shows: { path, text, from, to } };
  }

  async #claudeWrite(path: string, content: string): Promise<ToolAnswer> {
    const before = await this.#text(path);
    const refusal = before === null ? null : this.#unread(path, before);
    if (refusal !== null) return failedAnswer(refusal);
    const problem = await this.#put(path, content);
    if (problem !== null) return failedAnswer(problem);
    this.#read.set(path, sha256Of(content));
    const text = before === null ? `File created successfully at: ${path}` : `The file ${path} has been updated.`;
    return { text, ok: true, shows: { path, text: content, from: 1, to: null } };
  }

  #unread(path: string, now: string): string | null {
    const seen = this.#read.get(path);
    if (seen === undefined)
      return '<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>';
    return seen === sha256Of(now)
      ? null
      : '<tool_use_error>File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.</tool_use_error>';
  }

  async #claudeEdit(path: string, edits: readonly { old: string; new: string; all: boolean }[]): Promise<ToolAnswer> {
    const before = await this.#text(path);
    if (before === null && edits[0]?.old !== '')
      return failedAnswer('<tool_use_error>File does not exist.</tool_use_error>');
    if (before !== null) {
      const refusal = this.#unread(path, before);
      if (refusal !== null) return failedAnswer(refusal);
    }
    const isCrlf = before?.includes('\r\n') === true;
    let text = (before ?? '').replaceAll('\r\n', '\n');
    for (const { old, new: put, all } of edits) {
      if (old === put)
        return failedAnswer(
          '<tool_use_error>No changes to make: old_string and new_string are exactly the same.</tool_use_error>',
        );
      const count = old === '' ? (text === '' ? 1 : 0) : text.split(old).length - 1;
      if (count === 0)
        return failedAnswer(`<tool_use_error>String to replace not found in file.\nString: ${old}</tool_use_error>`);
      if (count > 1 && !all)
        return failedAnswer(
          `<tool_use_error>Found ${count} matches of the string to replace, but replace_all is false.</tool_use_error>`,
        );
      text = old === '' ? put : all ? text.split(old).join(put) : text.replace(old, () => put);
    }
    const written = isCrlf ? text.replaceAll('\n', '\r\n') : text;
    const problem = await this.#put(path, written);
    if (problem !== null) return failedAnswer(problem);
    this.#read.set(path, sha256Of(written));
    return { text: `The file ${path} has been updated.`, ok: true, shows: { path, text, from: 1, to: null } };
  }

  async #search(
    tool: 'Grep' | 'Glob',
    options: Readonly<Record<string, string | number | boolean>>,
  ): Promise<ToolAnswer> {
    const path = this.#at(String(options.path ?? '.'));
    const pattern = String(options.pattern ?? '');
    if (tool === 'Glob') {
      const run = await this.#world.help(
        `shopt -s globstar nullglob dotglob; cd ${quote(path)} && for f in ${globWords(pattern)}; do [ -f "$f" ] && printf '%s/%s\\n' "$PWD" "$f"; done`,
      );
      const text = run.stdout.toString('utf8').replace(/\n$/, '');
      return { text: text === '' ? 'No files found' : text, ok: run.exit !== null, shows: null, isSet: true };
    }
    const mode = String(options.output_mode ?? 'files_with_matches');
    const flags = [
      mode === 'content' ? '-n' : mode === 'count' ? '-c' : '-l',
      options['-i'] === true ? '-i' : '',
      ...['-A', '-B', '-C'].map((flag) => (options[flag] === undefined ? '' : `${flag} ${Number(options[flag])}`)),
      options.glob === undefined ? '' : `--include=${quote(String(options.glob))}`,
    ];
    const run = await this.#world.help(
      `grep -rHIP ${flags.join(' ')} --exclude-dir=.git -- ${quote(pattern)} ${quote(path)}`,
    );
    const lines = run.stdout
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
    const limit = Number(options.head_limit ?? Number.POSITIVE_INFINITY);
    const text = lines.slice(0, limit).join('\n');
    const isFiles = mode === 'files_with_matches';
    if (lines.length === 0) return { text: isFiles ? 'No files found' : 'No matches found', ok: true, shows: null };
    const head = isFiles ? `Found ${lines.length} ${lines.length === 1 ? 'file' : 'files'}\n` : '';
    return { text: head + text, ok: true, shows: null, isSet: true };
  }

  async #editor(action: EditorAction): Promise<ToolAnswer> {
    const path = this.#at(action.path);
    const isLine = action.flavour === 'swe-agent';
    const error = (text: string) => failedAnswer(isLine ? text : `ERROR:\n${text}`);
    const gone = () =>
      error(
        isLine
          ? `The path ${path} does not exist. Please provide a valid path.`
          : `Invalid \`path\` parameter: ${path}. The path ${path} does not exist. Please provide a valid path.`,
      );
    const stack = this.#undo.get(path) ?? [];
    this.#undo.set(path, stack);
    const raw = await this.#text(path);
    if (action.command === 'create') {
      if (raw !== null)
        return error(
          `${isLine ? '' : `Invalid \`path\` parameter: ${path}. `}File already exists at: ${path}. Cannot overwrite files using command \`create\`.`,
        );
      const problem = await this.#put(path, action.fileText ?? '');
      if (problem !== null) return error(problem);
      stack.push(action.fileText ?? '');
      return { text: `File created successfully at: ${path}`, ok: true, shows: null };
    }
    if (raw === null) return action.command === 'view' ? this.#folder(path, gone) : gone();
    const before = isLine ? tabsExpanded(universalNewlines(raw)) : universalNewlines(raw);
    const read = (text: string | null) => (isLine ? tabsExpanded(text ?? '') : (text ?? ''));
    const write = async (text: string, head: string): Promise<ToolAnswer> => {
      const problem = await this.#put(path, text);
      return problem === null ? { text: head, ok: true, shows: { path, text, from: 1, to: null } } : error(problem);
    };
    const edited = `The file ${path} has been edited.`;
    switch (action.command) {
      case 'view': {
        const [from, to] = action.viewRange ?? [1, -1];
        const end = to === -1 ? null : to;
        const text = `Here's the result of running \`cat -n\` on ${path}:\n${numberedLines(before, from, end, '\t')}\n`;
        return { text, ok: true, shows: { path, text: before, from, to: end } };
      }
      case 'str_replace': {
        const old = read(action.old);
        const count = old === '' ? 0 : before.split(old).length - 1;
        if (count === 0)
          return error(
            `No replacement was performed, old_str \`${action.old ?? ''}\` did not appear verbatim in ${path}.`,
          );
        if (count > 1) {
          const lines = partOffsets(before, old);
          return error(
            `No replacement was performed. Multiple occurrences of old_str \`${action.old ?? ''}\` in lines [${lines.join(', ')}]. Please ensure it is unique${isLine ? '' : '.'}`,
          );
        }
        const answer = await write(
          before.replace(old, () => read(action.new)),
          edited,
        );
        if (answer.ok) stack.push(before);
        return answer;
      }
      case 'insert': {
        const lines = before.split('\n');
        const at = action.insertLine ?? 0;
        if (at < 0 || at > lines.length)
          return error(
            `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${lines.length}]`,
          );
        lines.splice(at, 0, ...read(action.new).split('\n'));
        const answer = await write(lines.join('\n'), edited);
        if (answer.ok) stack.push(before);
        return answer;
      }
      case 'undo_edit': {
        const last = stack.pop();
        return last === undefined
          ? error(`No edit history found for ${path}.`)
          : write(last, `Last edit to ${path} undone successfully.`);
      }
      default:
        return error(`Unrecognized command ${action.command}.`);
    }
  }

  async #folder(path: string, gone: () => ToolAnswer): Promise<ToolAnswer> {
    const run = await this.#world.help(
      `[ -d ${quote(path)} ] && cd ${quote(path)} && find . -maxdepth 2 -not -path '*/.*' \\( -type d -printf '%P/\\n' -o -printf '%P\\n' \\) | sort; [ -d ${quote(path)} ] && find . -maxdepth 1 -name '.?*' | wc -l`,
    );
    if (run.exit !== 0) return gone();
    const lines = run.stdout.toString('utf8').split('\n').slice(0, -1);
    const hidden = Number(lines.pop() ?? 0);
    const list = lines.map((line) => (line === '/' ? `${path}/` : `${path}/${line}`)).sort();
    const text = `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n${list.join('\n')}`;
    const more =
      hidden === 0
        ? ''
        : `\n\n${hidden} hidden files/directories in this directory are excluded. You can use 'ls -la ${path}' to see them.`;
    return { text: text + more, ok: true, shows: null, isSet: true };
  }

  /** Older versions of the tool leave the file empty, later ones write a newline. */
  async #windowCreate(written: string, hasLine: boolean): Promise<ToolAnswer> {
    const path = this.#at(written);
    if ((await this.#text(path)) !== null) return failedAnswer(`Warning: File '${written}' already exists.`);
    const text = hasLine ? '\n' : '';
    const problem = await this.#put(path, text);
    if (problem !== null) return failedAnswer(problem);
    this.#open = path;
    return {
      text: `[File: ${path} (${hasLine ? 1 : 0} lines total)]`,
      ok: true,
      shows: { path, text, from: 1, to: null },
    };
  }

  async #window(verb: string, words: readonly string[], body: string | null): Promise<ToolAnswer> {
    const [first] = words;
    if (verb === 'open') {
      const path = this.#at(first ?? '');
      if ((await this.#text(path)) === null) return failedAnswer(`Error: File ${first} not found`);
      this.#open = path;
    }
    const path = this.#open;
    if (path === null) return failedAnswer('No file open. Use the open command first.');
    const text = await this.#text(path);
    if (text === null) return failedAnswer(`Error: File ${path} not found`);
    const show = (now: string): ToolAnswer => {
      const count = now === '' ? 0 : now.split('\n').length - (now.endsWith('\n') ? 1 : 0);
      return {
        text: `[File: ${path} (${count} lines total)]`,
        ok: true,
        shows: { path, text: now, from: 1, to: null },
      };
    };
    if (verb !== 'edit' || body === null)
      return ['open', 'goto', 'scroll_up', 'scroll_down'].includes(verb)
        ? show(text)
        : failedAnswer(`${verb} is not known here`);
    const [from = 1, to = from] = (first ?? '').split(':').map(Number);
    const lines = text.split('\n');
    lines.splice(from - 1, Math.max(0, to - from + 1), ...body.split('\n'));
    const now = lines.join('\n');
    const problem = await this.#put(path, now);
    if (problem !== null) return failedAnswer(problem);
    if (path.endsWith('.py')) {
      const check = await this.#world.help(
        `command -v python3 >/dev/null || exit 0; python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' ${quote(path)}`,
      );
      if (check.exit !== 0) {
        await this.#put(path, text);
        return failedAnswer('Your proposed edit has introduced new syntax error(s).');
      }
    }
    return show(now);
  }

  async #patch(text: string, workdir: string): Promise<ToolAnswer> {
    const operations = readCodexPatch(text);
    if (typeof operations === 'string') return failedAnswer(`${operations}\n`);
    const done: string[] = [];
    for (const operation of operations) {
      const path = this.#at(operation.path, workdir);
      const before = await this.#text(path);
      if (operation.kind === 'add') {
        await this.#put(path, operation.text);
        done.push(`A ${operation.path}`);
      } else if (operation.kind === 'delete') {
        const run = await this.#world.help(`rm -- ${quote(path)}`);
        if (run.exit !== 0) return failedAnswer(`Failed to delete file ${operation.path}\n`);
        done.push(`D ${operation.path}`);
      } else {
        if (before === null)
          return failedAnswer(
            `Failed to read file to update ${operation.path}: No such file or directory (os error 2)\n`,
          );
        const applied = applyChunks(before, operation.chunks);
        if ('missing' in applied)
          return failedAnswer(
            applied.isContext
              ? `Failed to find context '${applied.missing}' in ${operation.path}\n`
              : `Failed to find expected lines in ${operation.path}:\n${applied.missing}\n`,
          );
        const to = operation.moveTo ?? operation.path;
        await this.#put(this.#at(to, workdir), applied.text);
        if (operation.moveTo !== null) await this.#world.help(`rm -f -- ${quote(path)}`);
        done.push(`M ${to}`);
      }
    }
    const order = ['A', 'M', 'D'];
    const sorted = done.toSorted((a, b) => order.indexOf(a[0] ?? '') - order.indexOf(b[0] ?? ''));
    return { text: `Success. Updated the following files:\n${sorted.join('\n')}\n`, ok: true, shows: null };
  }

  async #blocks(
    blocks: readonly { path: string; search: string; replace: string }[],
    workdir: string,
  ): Promise<ToolAnswer> {
    for (const { path: written, search, replace } of blocks) {
      const path = this.#at(written, workdir);
      const text = await this.#text(path);
      const at = text === null ? -1 : search === '' ? text.length : text.indexOf(search);
      if (text === null ? search !== '' : at === -1) return failedAnswer('1 SEARCH/REPLACE block failed to match!');
      await this.#put(path, text === null ? replace : text.slice(0, at) + replace + text.slice(at + search.length));
    }
    return { text: blocks.map(({ path }) => `Applied edit to ${path}\n`).join(''), ok: true, shows: null };
  }
}

/** Lines with their numbers, as `cat -n` writes them; an empty one for a final newline. */
function numberedLines(text: string, from: number, to: number | null, sign: string): string {
  return text
    .split('\n')
    .slice(from - 1, to ?? undefined)
    .map((line, i) => `${String(from + i).padStart(6)}${sign}${line}`)
    .join('\n');
}

/** The numbers of the lines in which a text begins. */
function partOffsets(text: string, part: string): number[] {
  const lines: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length))
    lines.push(text.slice(0, at).split('\n').length);
  return lines;
}

/** A pattern in which only `*`, `?`, `[…]` and `{…}` keep their shell meaning. */
const globWords = (pattern: string): string => pattern.replace(/[^\w*?[\]{},./-]/g, '\\$&');
