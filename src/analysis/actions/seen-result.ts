import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../core/json/value.ts';

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
  const meta = isJsonObject(value.metadata ?? null) ? (value.metadata as JsonObject) : {};
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
