import { posix } from 'node:path';
import type { RecordedAction } from '../actions/action.ts';
import { seenResult } from '../actions/seen-result.ts';
import { codeEffects, loopEffects } from './code-effects.ts';
import { anyFile, type DirectEffect, type FileEffect, pathsOf } from './file-effect.ts';
import type { FileStates } from './file-states.ts';
import { certainFile, GONE, linesOf, partialFile, UNKNOWN } from './known-file.ts';
import { MovedFiles } from './moved-files.ts';
import type { PatchedFiles } from './patched-files.ts';
import { inDir, shellEffects } from './shell-effects.ts';
import { type Happened, happenedOf, type ShellEnd } from './shell-end.ts';
import { CUT, readView } from './views.ts';

/** Claude Code did not run a command, or not to its end. */
const REFUSED = /<tool_use_error>|timed out|doesn't want to|was rejected|interrupted|permission to use/i;

/** Follows the shell: its directory, and what its commands do to files. */
export class ShellFiles {
  readonly #states: FileStates;
  readonly #patched: PatchedFiles;
  readonly #moved: MovedFiles;
  /** The directory of the shell is not known any more. */
  #isLost = false;
  /** Names of functions and aliases of the shell. */
  readonly #defined = new Set<string>();
  /** Files whose text ran as that of a module. */
  #imported = new Set<string>();
  /** Whether the shell keeps its directory between calls; null = the record does not say. */
  readonly #keepsDir: boolean | null;
  readonly #trims: boolean;

  /** @param actions all of the rollout: they show what kind of shell it has */
  constructor(states: FileStates, patched: PatchedFiles, actions: readonly RecordedAction[]) {
    this.#states = states;
    this.#patched = patched;
    this.#moved = new MovedFiles(
      states,
      actions.flatMap(({ action }) => (action.kind === 'shell' ? [action.command] : [])),
    );
    this.#keepsDir = keepsDirectory(actions);
    const plain = actions.flatMap(({ action, result }) =>
      action.kind === 'shell' && result !== null ? [seenResult(result)] : [],
    );
    this.#trims = !plain.some(({ output, isExact }) => isExact && output.endsWith('\n'));
  }

  run(command: string, workdir: string | null, result: string | null): void {
    const { name } = this.#states.action;
    this.#imported = new Set();
    const start =
      workdir === null
        ? this.#keepsDir === false
          ? this.#states.root
          : this.#states.dir
        : inDir(this.#states.root, workdir);
    const wasLost = this.#isLost;
    if (workdir !== null || this.#keepsDir === false) this.#isLost = false;
    this.#states.dir = start;
    const { steps, isAlone, isOneList, defines, words } = shellEffects(command);
    const seen = result === null ? null : seenResult(result);
    // Claude Code reports only the status of a failure.
    const exit = seen === null ? null : (seen.exit ?? (name === 'Bash' && !REFUSED.test(seen.output) ? 0 : null));
    const hasErrors = seen === null || SHELL_FAILED.test(seen.output) || CUT.test(seen.output);
    const end: ShellEnd = { seen, exit, hasErrors, isAlone: isAlone && (exit !== null || isOneList || !hasErrors) };
    if (words.some((word) => this.#defined.has(word))) {
      this.#effect(anyFile('a function or an alias of an earlier call runs'), 'maybe', end);
      this.#effect({ kind: 'cd', to: null }, 'maybe', end);
    }
    let before: Happened = 'maybe';
    for (const step of steps) {
      before = happenedOf(step, before, end);
      // A program that is missing changed nothing; its shell may have emptied a file for it.
      const isMissing = end.isAlone && exit === 127;
      for (const effect of step.effects)
        if (!isMissing || !OF_PROGRAMS.has(effect.kind)) this.#effect(effect, before, end);
    }
    if (this.#keepsDir !== false && workdir === null) for (const one of defines) this.#defined.add(one);
    this.#leave(start, wasLost, end);
  }

  /** A tool ran that is not known. @param code its program, if it ran one */
  ranTool(code: string | null, name: string): void {
    this.#imported = new Set();
    const end: ShellEnd = { seen: null, exit: null, hasErrors: true, isAlone: false };
    const effects = code === null ? [anyFile(`${name} is not a known tool`)] : codeEffects(code, '', name);
    for (const effect of effects) this.#effect(effect, 'maybe', end);
    if (code !== null && /^[ \t]*[!%]/m.test(code)) this.#effect(anyFile('a cell runs commands'), 'maybe', end);
  }

  /** The directory in which the next command begins. */
  #leave(start: string | null, wasLost: boolean, { seen, exit }: ShellEnd): void {
    const notice = /\[Current working directory: (\/[^\]\n]*)\]|Shell cwd was reset to (\/\S+)/.exec(
      this.#states.action.result ?? '',
    );
    const dir = notice?.[1] ?? notice?.[2];
    if (dir !== undefined) {
      this.#states.dir = posix.normalize(dir);
      this.#isLost = false;
      return;
    }
    // A shell of this kind goes where a successful command ended.
    if (this.#states.action.name === 'Bash' && exit !== 0 && seen !== null) {
      this.#states.dir = start;
      this.#isLost = wasLost;
    }
    // Nothing says whether this agent's shell keeps its directory.
    if (this.#keepsDir === null && this.#states.dir !== start) this.#isLost = true;
  }

  #effect(effect: FileEffect, happened: Happened, end: ShellEnd): void {
    switch (effect.kind) {
      case 'show':
        if (end.seen !== null && (end.exit ?? (end.hasErrors ? 1 : 0)) === 0)
          for (const path of this.#placed(effect.path, false)) this.#shown(path, effect, end.seen);
        return;
      case 'cd':
        this.#goTo(effect.to, happened);
        return;
      case 'runs':
        this.#states.ranProgram();
        if (TESTS.test(effect.what)) this.#tests(end);
        return;
      case 'named':
        for (const path of this.#named(effect.text))
          this.#states.set(path, UNKNOWN, 'a command that names it could have changed it');
        return;
      case 'below': {
        const dir = effect.dir === null || this.#isLost ? null : this.#states.path(effect.dir).replace(/\/$/, '');
        for (const path of this.#states.paths())
          if (dir === null || dir === '.' || path.startsWith(`${dir}/`)) this.#states.set(path, UNKNOWN, effect.why);
        return;
      }
      case 'script':
        this.#script(effect, end);
        return;
      case 'module':
        this.#module(effect, end);
        return;
      case 'unified-patch': {
        const { seen, exit } = end;
        if (this.#isLost) {
          this.#effect(anyFile('a patch whose directory is not known'), 'maybe', end);
          return;
        }
        const failed = seen === null ? null : exit === null ? end.hasErrors : exit !== 0;
        this.#patched.unifiedPatch(
          effect,
          happened === 'maybe' && failed === false ? null : (seen?.output ?? null),
          failed,
        );
        return;
      }
      case 'codex-patch':
        if (this.#isLost) this.#effect({ kind: 'named', text: effect.text }, happened, end);
        else this.#patched.codexPatch(effect.text, this.#states.dir);
        return;
      default:
        this.#direct(effect, happened);
    }
  }

  #goTo(to: string | null, happened: Happened): void {
    if (happened === 'no') return;
    if (happened === 'maybe' || to === null || (this.#isLost && !posix.isAbsolute(to))) {
      this.#isLost = true;
      return;
    }
    if (!posix.isAbsolute(to) && this.#states.dir === null) {
      this.#isLost = to !== '.';
      return;
    }
    this.#states.dir = inDir(this.#states.dir, to);
    this.#isLost = false;
  }

  /** The paths that a word may mean. Where the directory is lost, it may be any known file of that name. */
  #placed(path: string, canChange = true): string[] {
    if (!this.#isLost || posix.isAbsolute(path)) return [this.#states.path(path)];
    if (!canChange) return [];
    const base = posix.basename(path);
    return [...this.#states.paths()].filter((one) => posix.basename(one) === base || one.includes(`/${base}/`));
  }

  #direct(effect: DirectEffect, happened: Happened): void {
    const { call } = this.#states.action;
    if (happened === 'no' && !(effect.kind === 'touch' && !effect.needsFile)) return;
    const isSure = happened === 'did' && effect.kind !== 'touch' && !this.#isLost;
    if (!isSure) {
      const why =
        effect.kind === 'touch' ? 'a command wrote it' : 'it is not recorded whether this command ran and succeeded';
      for (const path of pathsOf(effect).flatMap((one) => this.#placed(one))) {
        this.#states.set(path, UNKNOWN, why);
        for (const one of this.#states.paths()) if (one.startsWith(`${path}/`)) this.#states.set(one, UNKNOWN, why);
      }
      return;
    }
    const [path = '', to = ''] = pathsOf(effect).map((one) => this.#states.path(one));
    switch (effect.kind) {
      case 'write': {
        const before = this.#states.at(path);
        if (!effect.appends) this.#states.set(path, certainFile(effect.text, call, before), 'written whole');
        else if (before.status === 'certain')
          this.#states.set(
            path,
            certainFile((before.text ?? '') + effect.text, call, before),
            'appended to known content',
          );
        else this.#states.set(path, partialFile(before.lines), 'an append whose place is not shown');
        return;
      }
      case 'delete':
        for (const one of this.#states.paths()) if (one.startsWith(`${path}/`)) this.#states.set(one, GONE, 'deleted');
        if (!effect.recursive || this.#states.has(path)) this.#states.set(path, GONE, 'deleted');
        this.#states.unlink(path);
        return;
      case 'link':
        this.#moved.link(effect, path, to);
        return;
      case 'copy':
      case 'move':
        this.#moved.carry(effect, path, to);
        return;
      default:
        return;
    }
  }

  /** The effects of a script, by its text as it is known now. */
  #script(effect: Extract<FileEffect, { kind: 'script' }>, end: ShellEnd): void {
    const { language, args } = effect;
    const [path] = this.#placed(effect.path, false);
    const file = path === undefined ? UNKNOWN : this.#states.at(path);
    const text = [...file.lines.values()].map((line) => line.text).join('\n');
    const isShell = language === 'shell' || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text) || /\.sh$/.test(effect.path);
    const what = `${effect.path} ${args}`.trim();
    const isWhole = file.status === 'certain' && file.text !== null;
    if (text !== '')
      for (const one of isShell ? loopEffects(text) : codeEffects(text, args, what)) this.#effect(one, 'maybe', end);
    if (!isWhole) this.#effect(anyFile('a script runs whose text the record does not show'), 'maybe', end);
    this.#effect({ kind: 'runs', what }, 'maybe', end);
  }

  /** Tests that the record shows write what they name; by convention, others leave the project as it is. */
  #tests(end: ShellEnd): void {
    for (const path of this.#states.paths()) {
      if (!TEST_FILE.test(path) || this.#imported.has(path)) continue;
      this.#imported.add(path);
      const text = [...this.#states.at(path).lines.values()].map((line) => line.text).join('\n');
      for (const effect of codeEffects(text, '', path))
        if (effect.kind === 'named' || effect.kind === 'touch') this.#effect(effect, 'maybe', end);
    }
  }

  /** The effects of a module, by the text of each file that it may be. */
  #module({ path, members }: Extract<FileEffect, { kind: 'module' }>, end: ShellEnd): void {
    const at = (name: string): string[] =>
      this.#states
        .paths()
        .filter((one) => `/${one}`.replace(/(?:\/(?:__init__|index))?\.\w+$/, '').endsWith(`/${name}`));
    const files = path === '' ? [] : at(path);
    for (const member of members) files.push(...at(path === '' ? member : `${path}/${member}`));
    for (const one of files) {
      if (this.#imported.has(one)) continue;
      this.#imported.add(one);
      this.#script({ kind: 'script', path: one, language: 'other', args: '' }, end);
    }
    // A name that a package does not define is that of a module.
    const isMissing = (name: string): boolean =>
      at(path === '' ? name : `${path}/${name}`).length === 0 &&
      !files.some((one) => [...this.#states.at(one).lines.values()].some(({ text }) => text.includes(name)));
    if (files.length === 0 || members.some((name) => name !== '*' && isMissing(name)))
      this.#effect(anyFile('a program takes in a module whose text the record does not show'), 'maybe', end);
  }

  #shown(
    path: string,
    { from, to, isNumbered }: Extract<FileEffect, { kind: 'show' }>,
    seen: ReturnType<typeof seenResult>,
  ): void {
    const { output } = seen;
    if (CUT.test(output) && output.length > 1500) return;
    const isWhole = from === 1 && to === null;
    if (isNumbered) {
      this.#states.see(path, { ...readView(output), endsEmpty: false }, isWhole);
      return;
    }
    const isExact = seen.isExact && !this.#hidesEnds() && !output.includes('\ufffd');
    const before = this.#states.at(path);
    if (isWhole && isExact) {
      if (before.status === 'certain' && before.text === output) {
        this.#states.set(path, before, 'it was known', true);
        return;
      }
      const why =
        before.status === 'certain'
          ? 'the whole file, printed, contradicts what was known'
          : 'the whole file, printed as it is';
      this.#states.set(path, certainFile(output, null, before), why, true);
      return;
    }
    const texts = linesOf(output);
    const lines = new Map(texts.map((text, i) => [from + i, text] as const));
    this.#states.see(path, { lines, endsEmpty: false }, isWhole);
  }

  /** Whether results may lack a final newline, or carriage returns, that the program printed. */
  #hidesEnds(): boolean {
    const { name, action, result } = this.#states.action;
    if (HIDES_ENDS.test(name) || (action.kind === 'shell' && this.#isLine())) return true;
    return this.#trims && !/^\{|^Exit code|^<returncode>/.test(result ?? '');
  }

  /** The first word of a line of SWE-agent's shell names it. */
  #isLine(): boolean {
    const { name, action } = this.#states.action;
    return action.kind === 'shell' && name !== 'bash' && action.command.startsWith(name);
  }

  #named(text: string): string[] {
    const patterns = (text.match(/[\w./@+*?[\]-]*[*?][\w./@+*?[\]-]*/g) ?? []).map(
      (glob) =>
        new RegExp(
          `(?:^|/)${glob
            .replace(/[.+^${}()|\\]/g, '\\$&')
            .replaceAll('*', '[^/]*')
            .replaceAll('?', '[^/]')}$`.replace(/\[(?![^\]]*\])/g, '\\['),
        ),
    );
    return [...this.#states.paths()].filter((path) => {
      const base = posix.basename(path);
      const at = text.indexOf(base);
      const isNamed =
        at !== -1 && new RegExp(`(?<![\\w.-])${base.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`).test(text);
      return isNamed || patterns.some((pattern) => pattern.test(path));
    });
  }
}

const TESTS = /\b(?:py\.?test|unittest|doctest|jest|vitest|mocha|tests?|coverage|bench)\b/;
const TEST_FILE = /(?:^|\/)(?:tests?|spec)\/|(?:^|\/)(?:test|conftest)[^/]*$|[._-](?:test|spec)\.\w+$/;

const OF_PROGRAMS: ReadonlySet<string> = new Set<FileEffect['kind']>(['below', 'named', 'runs', 'script', 'module']);

/** Tools whose shell keeps its directory between calls, and those that start a new shell each time. */
const KEEPS_DIR = /^(?:Bash|execute_bash|run|cd|pwd|ls)$/;
const STARTS_SHELL = /^(?:shell|shell_command|local_shell|exec_command|container\.exec)$/;

function keepsDirectory(actions: readonly RecordedAction[]): boolean | null {
  if (actions.some(({ name }) => KEEPS_DIR.test(name))) return true;
  const isNew = actions.some(
    ({ name, action, result }) =>
      STARTS_SHELL.test(name) ||
      (action.kind === 'shell' && action.workdir !== null) ||
      /^<returncode>/.test(result ?? ''),
  );
  return isNew ? false : null;
}

/** Tools that strip blank space from a program's output. */
const HIDES_ENDS = /^(?:Bash|execute_bash|run)$/;
const SHELL_FAILED =
  /^(?:\/\S*\/)?(?:bash|sh|cat|tee|mv|cp|rm|sed|patch|touch|mkdir|ls|head|tail|nl)(?:: line \d+)?: |No such file or directory|Permission denied|^fatal: /m;
