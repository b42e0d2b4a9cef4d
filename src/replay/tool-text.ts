import type { Execution } from './execution.ts';

/** What verl's SandboxFusionTool says of anything but a program that ran to its end; the outcome itself is lost. */
export const NO_STDOUT = 'no stdout here';

/** A way in which a tool makes its text from the sandbox's answer. */
export interface TextForm {
  name: string;
  /** It shows what the program wrote to stderr, or that it failed. */
  showsErrors: boolean;
  text(execution: Execution): string;
}

/** The first is verl's of today, and the form of a result that fits none of them. */
export const TEXT_FORMS: readonly TextForm[] = [
  {
    name: 'stdout + stderr',
    showsErrors: true,
    text: (run) => (run.isFinished ? run.stdout + run.display + run.stderr : NO_STDOUT),
  },
  {
    name: 'stdout',
    showsErrors: false,
    text: (run) => (run.isFinished ? run.stdout + run.display : NO_STDOUT),
  },
  {
    name: 'stdout, or stderr after a failure',
    showsErrors: true,
    text: (run) => (run.isFinished ? (run.exitStatus === 0 ? run.stdout + run.display : run.stderr) : NO_STDOUT),
  },
];

const TRACE = /^Traceback \(most recent call last\):|^[ \t]*File ".+", line \d+/m;

/**
 * The forms that the tool may have had, judged from what it wrote: one traceback among its results proves that it shows errors, and a
 * result without stderr is then no longer excused. @param own the rollout was made by this program's engine, whose form is known
 */
export function possibleForms(results: readonly string[], own: boolean): readonly TextForm[] {
  if (own) return TEXT_FORMS.slice(0, 1);
  return results.some((text) => TRACE.test(text)) ? TEXT_FORMS.filter((form) => form.showsErrors) : TEXT_FORMS;
}

export const isNoStdout = (recorded: string): boolean => recorded.trim() === NO_STDOUT;

const FAILURES = [
  TRACE,
  /^\s*Error (?:when executing tool: |executing tool '|: )/,
  /^\s*(?:Unknown function '|Invalid JSON in arguments for '|Tool call failed: |Connection failed: )/,
  /^[\w.]*(?:Error|Exception)\b.*$/m,
  /(?:command not found|Segmentation fault|Killed)\s*$/m,
];

/** A recorded result that tells of a failure. */
export const tellsFailure = (recorded: string): boolean => FAILURES.some((pattern) => pattern.test(recorded));
