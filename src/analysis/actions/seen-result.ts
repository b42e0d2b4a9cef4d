import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, objectIn } from '../../core/json/value.ts';

/** A run, as far as its recorded result shows it. */
export interface SeenResult {
  output: string;
  /** null if the record does not say. */
  exit: number | null;
  /**
   * True if `output` is byte for byte what the program printed; false if the agent strips newlines, adds text or
   * truncates.
   */
  isExact: boolean;
}

/** The formats in which agents write the result of a command. The first one that matches is used. */
const FRAMES: readonly ((text: string) => SeenResult | null)[] = [
  // mini-swe-agent's observation template.
  (text) => {
    const match =
      /^<returncode>(-?\d+)<\/returncode>\n(?:<warning>[\s\S]*?<\/warning>\n?)?<output>\n([\s\S]*)<\/output>\s*$/.exec(
        text,
      );
    if (match !== null) return { output: match[2] ?? '', exit: Number(match[1]), isExact: true };
    const cut = /^<returncode>(-?\d+)<\/returncode>/.exec(text);
    return cut === null ? null : { output: text, exit: Number(cut[1]), isExact: false };
  },
  // Codex' shell_command.
  (text) => {
    const match = /^Exit code: (-?\d+)\nWall time: [^\n]*\n(?:Total output lines: [^\n]*\n)?Output:\n([\s\S]*)$/.exec(
      text,
    );
    return match === null
      ? null
      : { output: match[2] ?? '', exit: Number(match[1]), isExact: !/tokens truncated|omitted/.test(text) };
  },
  (text) => (text.startsWith('{') ? ofJson(text) : null),
  // OpenHands' footer.
  (text) => {
    const match =
      /^([\s\S]*?)\n?\[(?:The command completed with exit code (-?\d+)|Command finished with exit code (-?\d+))/.exec(
        text,
      );
    return match === null ? null : { output: match[1] ?? '', exit: Number(match[2] ?? match[3]), isExact: false };
  },
  // Claude Code writes the status first, and only if the command failed.
  (text) => {
    const match = /^(?:<error>)?Exit code (\d+)\n?([\s\S]*)$/.exec(text);
    return match === null ? null : { output: match[2] ?? '', exit: Number(match[1]), isExact: false };
  },
  (text) => {
    const match = /^([\s\S]*?)\n?\[exit(?: code)? (-?\d+)\]\s*$/.exec(text);
    return match === null ? null : { output: match[1] ?? '', exit: Number(match[2]), isExact: false };
  },
];

/** Two streams that an agent records separately, as one text. */
export const apart = (stdout: string, stderr: string): string =>
  `${stdout}${stdout === '' || stdout.endsWith('\n') ? '' : '\n'}[stderr]\n${stderr}`;

function ofJson(text: string): SeenResult | null {
  let value: JsonObject;
  try {
    const parsed = parseJson(text);
    if (!isJsonObject(parsed)) return null;
    value = parsed;
  } catch {
    return null;
  }
  const meta = objectIn(value.metadata);
  const exit = value.exit_code ?? value.returncode ?? meta.exit_code;
  if (typeof exit !== 'number') return null;
  const { output, stdout, stderr } = value;
  if (typeof output === 'string') return { output, exit, isExact: !/tokens truncated|omitted/.test(output) };
  if (typeof stdout === 'string') {
    const errors = typeof stderr === 'string' ? stderr : '';
    return {
      output: errors === '' ? stdout : apart(stdout, errors),
      exit,
      isExact: errors === '' && !stdout.includes('[…]'),
    };
  }
  return { output: text, exit, isExact: false };
}

/** Reads the result of a command. A text in no known format is taken as the output itself, possibly trimmed. */
export function seenResult(text: string): SeenResult {
  for (const read of FRAMES) {
    const seen = read(text);
    if (seen !== null) return seen;
  }
  return { output: text, exit: null, isExact: text.endsWith('\n') };
}

/** A command's output and exit status, for `framedLike`. */
export interface CommandEnd {
  stdout: string;
  stderr: string;
  exit: number | null;
  seconds: number;
}

/**
 * The result of a command in the words of an agent's recorded one; without an example, as the output and then, if it failed, the status.
 * @param example the recorded result of a command with its status, if the agent ever shows one
 */
export function framedLike(example: string | null, { stdout, stderr, exit, seconds }: CommandEnd): string {
  const output = stdout + stderr;
  const status = exit ?? -1;
  const between = output === '' || output.endsWith('\n') ? '' : '\n';
  if (example?.startsWith('<returncode>'))
    return `<returncode>${status}</returncode>\n<output>\n${output}${between}</output>`;
  if (example !== null && /^Exit code: -?\d+\nWall time:/.test(example))
    return `Exit code: ${status}\nWall time: ${seconds.toFixed(1)} seconds\nOutput:\n${output}`;
  if (example?.startsWith('{') && seenResult(example).exit !== null) {
    const value = parseJson(example);
    if (isJsonObject(value)) {
      const made = filled(value, { stdout, stderr, exit: status, seconds });
      return /^\{"[^"]*": /.test(example) ? spacedOutput(printJson(made, 1)) : printJson(made);
    }
  }
  if (example !== null && /^(?:<error>)?Exit code \d+/.test(example))
    return status === 0 ? output.replace(/\n+$/, '') : `Exit code ${status}\n${output.replace(/\n+$/, '')}`;
  const footer =
    /\n?\[(?:The command completed with exit code|Command finished with exit code|exit(?: code)?) -?\d+(?:\]|[^\n]*)/.exec(
      example ?? '',
    )?.[0];
  if (footer !== undefined) return `${output.replace(/\n$/, '')}${footer.replace(/ -?\d+(?=\]|\.)/, ` ${status}`)}`;
  return example === null && status !== 0 ? `${output}${between}[exit ${status}]` : output;
}

/** JSON on one line, as Python writes it. A line break in indented JSON is never part of a text. */
const spacedOutput = (text: string): string =>
  text
    .replace(/([{[])\n\s*/g, '$1')
    .replace(/\n\s*([}\]])/g, '$1')
    .replace(/\n\s*/g, ' ');

/** A recorded result with another command's values under its keys. */
function filled(value: JsonObject, end: CommandEnd): JsonObject {
  const next: JsonObject = {};
  for (const [key, old] of Object.entries(value))
    if (key === 'exit_code' || key === 'returncode') next[key] = end.exit;
    else if (key === 'duration_seconds') next[key] = Number(end.seconds.toFixed(1));
    else if (key === 'output') next[key] = end.stdout + end.stderr;
    else if (key === 'stdout') next[key] = 'stderr' in value ? end.stdout : end.stdout + end.stderr;
    else if (key === 'stderr') next[key] = end.stderr;
    else next[key] = isJsonObject(old) ? filled(old, end) : old;
  return next;
}
