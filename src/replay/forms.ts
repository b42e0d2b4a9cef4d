import { parseJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';
import { isJsonObject } from '../core/json/value.ts';
import { itemAt } from '../core/lists/at.ts';
import { RAISED } from './compare/traceback.ts';
import type { Execution } from './execution.ts';

/** The text that verl's SandboxFusionTool returns for anything but a program that ran to its end; the outcome itself is lost. */
export const NO_STDOUT = 'no stdout here';
export const isNoStdout = (recorded: string): boolean => recorded.trim() === NO_STDOUT;

/** The forms in which tools show a run. A tool file names one (`form`); otherwise the record shows which it was. */
export interface Form {
  name: string;
  about: string;
  /** It shows stderr, or that the program failed. */
  showsErrors: boolean;
  /** The text that the tool produces; null if this form cannot express such a run. @param recorded may hold the tool's own labels */
  text(run: Execution, recorded: string, alike?: LikenessTest): string | null;
}

/** Whether two texts of a labelled result are equal except for noise; the recorded one is then used. */
type LikenessTest = (recorded: string, now: string) => boolean;

const outOf = (run: Execution): string => run.stdout + run.display;
const hasFailed = ({ isFinished, exitStatus }: Execution): boolean => !isFinished || exitStatus !== 0;

/** The first is verl's current form, used for a result that fits none of them. */
export const FORMS: readonly Form[] = [
  {
    name: 'verl',
    about: "verl's SandboxFusionTool: stdout, then stderr",
    showsErrors: true,
    text: (run) => (run.isFinished ? outOf(run) + run.stderr : NO_STDOUT),
  },
  {
    name: 'stdout or stderr',
    about: 'stdout, or stderr after a failure',
    showsErrors: true,
    text: (run) => (run.isFinished ? (run.exitStatus === 0 ? outOf(run) : run.stderr) : null),
  },
  {
    name: 'stderr first',
    about: 'stderr, then stdout: both of one pipe',
    showsErrors: true,
    text: (run) => (run.isFinished ? run.stderr + outOf(run) : null),
  },
  {
    name: 'stdout',
    about: 'stdout alone',
    showsErrors: false,
    text: (run) => (run.isFinished ? outOf(run) : null),
  },
  {
    name: 'labelled',
    about: 'stdout, stderr and exit status under labels, in tags or as JSON',
    showsErrors: true,
    text: labelled,
  },
  {
    name: 'numbered cell',
    about: 'the value of the last expression behind Out[1]:, as a notebook writes it',
    showsErrors: true,
    text: numberedOutput,
  },
  {
    name: 'one pipe',
    about: 'stdout and stderr of one pipe, in the order in which they were written',
    showsErrors: true,
    text: (run, recorded) =>
      run.isFinished && run.stdout !== '' && run.stderr !== '' && isMerge(recorded, outOf(run), run.stderr)
        ? recorded
        : null,
  },
  { name: 'message', about: 'the exception, in a line', showsErrors: true, text: message },
];

export const formNamed = (name: string): Form | undefined => FORMS.find((form) => form.name === name);

const BLOCK = String.raw`(?:[^\S\n]*\n)?([\s\S]*?)`;
const LABELS = (out: string, err: string) =>
  new RegExp(String.raw`^\s*\W{0,3}${out}\W{0,3}:?${BLOCK}(?:\n\s*|\s+)?\W{0,3}${err}\W{0,3}:?${BLOCK}\s*$`, 'i');
/** Labels of two outputs, and of one. */
const LAYOUTS = [
  // Tags come first: the signs around a label may belong to them.
  /^\s*<(?:stdout|output)>\n?([\s\S]*?)\n?<\/(?:stdout|output)>\s*(?:<(?:stderr|error)>\n?([\s\S]*?)\n?<\/(?:stderr|error)>)?\s*$/,
  LABELS('(?:std)?out(?:put)?', '(?:std)?err(?:or)?s?'),
  /^\s*<returncode>-?\d+<\/returncode>\s*<output>\n?([\s\S]*?)\n?<\/output>\s*$/,
  /^\s*(?:execution )?(?:output|result|stdout)s?:[^\S\n]*\n?([\s\S]*)$/i,
  /^\s*```(?:output|text|python)?\n([\s\S]*?)\n?```\s*$/,
];

/** The record with the new run's outputs under its own labels. */
function labelled(run: Execution, recorded: string, alike: LikenessTest = () => false): string | null {
  if (!run.isFinished) return null;
  const json = jsonLayout(run, recorded, alike);
  if (json !== null) return json;
  for (const layout of LAYOUTS) {
    const match = new RegExp(layout.source, `${layout.flags}d`).exec(recorded);
    const [, out, err] = match?.indices ?? [];
    if (match === null || out === undefined) continue;
    const showsStatus = layout.source.includes('returncode');
    // A label alone says nothing about stderr, so it must not hide a new failure.
    if (err === undefined && match[2] === undefined && !showsStatus && hasFailed(run)) continue;
    const put = (old: string, now: string): string =>
      old.trim() === now.trim() || alike(old, now)
        ? old
        : now.replace(/\n$/, '') + (/\s*$/.exec(old) as RegExpExecArray)[0];
    const head = recorded.slice(0, out[0]);
    if (showsStatus)
      return (
        head.replace(/(<returncode>)-?\d+/, `$1${run.exitStatus ?? ''}`) +
        put(match[1] ?? '', outOf(run) + run.stderr) +
        recorded.slice(out[1])
      );
    const tail =
      err === undefined
        ? recorded.slice(out[1])
        : recorded.slice(out[1], err[0]) + put(match[2] ?? '', run.stderr) + recorded.slice(err[1]);
    return head + put(match[1] ?? '', outOf(run)) + tail;
  }
  return null;
}

const OUT_KEYS = ['stdout', 'output', 'result', 'out'];
const ERR_KEYS = ['stderr', 'error', 'err'];
const EXIT_KEYS = ['exit_code', 'returncode', 'return_code', 'exitcode', 'exit_status'];

function jsonLayout(run: Execution, recorded: string, alike: LikenessTest): string | null {
  if (!/^\s*\{/.test(recorded)) return null;
  let value: unknown;
  try {
    value = parseJson(recorded);
  } catch {
    return null;
  }
  if (!isJsonObject(value as never)) return null;
  const object = { ...(value as Record<string, unknown>) };
  const out = OUT_KEYS.find((key) => typeof object[key] === 'string');
  if (out === undefined) return null;
  const set = (key: string, now: string) => {
    const old = String(object[key] ?? '');
    if (old.trim() !== now.trim() && !alike(old, now)) object[key] = now;
  };
  set(out, outOf(run));
  const err = ERR_KEYS.find((key) => key in object);
  if (err === undefined && hasFailed(run)) return null;
  if (err !== undefined) set(err, run.stderr);
  const exit = EXIT_KEYS.find((key) => typeof object[key] === 'number');
  if (exit !== undefined) object[exit] = run.exitStatus;
  return printJson(object) === printJson(value as never)
    ? recorded
    : printJson(object, /\n/.test(recorded) ? 2 : undefined);
}

const SAYS =
  /^(?:[^\w\n]*(?:an? )?(?:[a-z]+ ){0,3}(?:error|exception|failed|failure)\b(?: (?:executing|running|in|while executing|occurred)(?: \w+){0,2})?\s*[:：-]\s*)+/i;

/** Tools that catch exceptions report them on a separate line, after any printed output. */
function message(run: Execution, recorded: string): string | null {
  if (!run.isFinished || run.exitStatus === 0) return null;
  const lines = run.stderr.trimEnd().split('\n');
  const at = lines.findLastIndex((line) => RAISED.test(line));
  if (at === -1) return null;
  const raised = lines.slice(at).join('\n');
  const body = recorded.trimEnd();
  const last = body.slice(body.lastIndexOf('\n') + 1);
  const before = body.slice(0, body.length - last.length);
  if (before.trim() !== '' && before.trim() !== outOf(run).trim()) return null;
  const label = RAISED.test(last) && !SAYS.exec(last) ? '' : (SAYS.exec(last)?.[0] ?? '');
  const message = last.slice(label.length);
  const text = raised.replace(/^[\w.]+: /, '');
  // `Error: division by zero` omits the kind, `Error: ZeroDivisionError: division by zero` does not.
  if (message === text || last === raised) return recorded;
  return before + label + (RAISED.test(message) ? raised : text);
}

const OUT = /^Out\s?\[(\d+)\]:(\s)/m;

/**
 * The value under the recorded cell's number. A program that printed it instead, because its tool here is not a notebook, gave the same
 * result.
 */
function numberedOutput(run: Execution, recorded: string): string | null {
  const [label = '', , gap = ' '] = OUT.exec(recorded) ?? [];
  if (label === '' || !run.isFinished || hasFailed(run)) return null;
  const head = label.slice(0, label.length - gap.length);
  if (run.display !== '') return `${run.stdout}${head}${gap}${run.display}${run.stderr}`;
  const lines = run.stdout.trimEnd().split('\n');
  const value = recorded
    .slice(recorded.search(OUT) + label.length)
    .trimEnd()
    .split('\n').length;
  const printed = lines.slice(0, -value).map((line) => `${line}\n`);
  return `${printed.join('')}${head}${gap}${lines.slice(-value).join('\n')}\n${run.stderr}`;
}

/** Whether a text interleaves the lines of two others, each in its own order. */
function isMerge(text: string, first: string, second: string): boolean {
  const lines = (of: string) => of.trimEnd().split('\n');
  const [all, a, b] = [lines(text), lines(first), lines(second)];
  if (all.length !== a.length + b.length || all.length > 2000) return false;
  // The positions in `a` reachable after each line.
  let reached = new Set([0]);
  for (const [at, line] of all.entries()) {
    const next = new Set<number>();
    for (const from of reached) {
      if (a[from] === line) next.add(from + 1);
      if (b[at - from] === line) next.add(from);
    }
    reached = next;
  }
  return reached.has(a.length);
}

/** How a program was changed before it ran. */
export interface Program {
  name: string;
  about: string;
  /** null if this code is unaffected. */
  of(code: string): string | null;
  /** It ran in a notebook, which shows the value of the last expression. */
  inCell?: boolean;
}

const FENCE = /`{3,}(?:py(?:thon)?3?)?[^\S\n]*\n([\s\S]*?)\n?[^\S\n]*`{3,}/i;
const unfenced = (code: string): string | null => FENCE.exec(code)?.[1]?.trim() ?? null;

/**
 * The changes that tools make to the code they are given. If the unchanged code does not reproduce the record, the record shows which
 * applied.
 */
export const PROGRAMS: readonly Program[] = [
  { name: 'fence', about: 'a fence is taken off', of: unfenced },
  {
    // recipe/retool/retool.py in verl, CustomSandboxFusionTool.execute
    name: 'retool',
    about: "a fence is taken off and the last line printed, as verl's ReTool does",
    of(code) {
      const lines = (unfenced(code) ?? code).split('\n');
      const last = lines.findLastIndex((line) => line !== '');
      if (last === -1) return null;
      if (!itemAt(lines, last).startsWith('print')) lines[last] = `print(${lines[last]})`;
      const text = lines.join('\n');
      return text === code ? null : text;
    },
  },
  {
    name: 'notebook',
    about: 'the value of the last expression is shown, as a notebook does',
    inCell: true,
    of: (code) =>
      /^(?!\s*(?:print|import|from|def|class|return|raise|pass|assert)\b)\s*\S+.*$/.test(lastLine(code))
        ? (unfenced(code) ?? code)
        : null,
  },
];

const lastLine = (code: string): string => code.trimEnd().slice(code.trimEnd().lastIndexOf('\n') + 1);
