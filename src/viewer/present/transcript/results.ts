import { finished } from '../../../core/async/finished.ts';
import type { Rollout, ToolCall, Turn } from '../../../core/rollout/rollout.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Note } from './block.ts';
import { errorLine } from './findings.ts';

/** A preview is cut to the room beside its call; at most this much of a longer result is examined. */
const MAX_PREVIEW = 600;

/** Prefixes that verl's tools write before an error. */
const PREFIX = /^(?:Error when executing tool|Error executing tool '[^'\n]*'|Tool call failed): /;

/** A result on one line, with line breaks as signs: `95`, `error: NameError: name 'total' is not defined`, `empty`. */
export function resultPreview(text: string, failed: boolean): string {
  if (!failed) return resultLine(text, text.search(/\S/), text.length) || 'empty';
  const { start, end } = errorLine(text);
  return `error: ${resultLine(text, start, end).replace(PREFIX, '')}`;
}

/** Lines searched for one with content. */
const MOST_LINES = 30;
/** Closing tags of an answer, fences, rules: they carry no content. */
const SAYS_NOTHING = /^(?:<\/?[A-Za-z_]{1,30}>|\\?[\])}]|\$\$|[`~*_=-]{3,}\w*|\s)*$/;

/** The last line with content, without the tags around it. */
function lastWords(text: string): string {
  let end = text.trimEnd().length;
  for (let i = 0; i < MOST_LINES && end > 0; i++) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = resultLine(text, start, end).trimStart();
    if (!SAYS_NOTHING.test(line)) return line.replace(/^<answer>\s*|\s*<\/answer>$/g, '');
    end = text.slice(0, start).trimEnd().length;
  }
  return resultLine(text, text.lastIndexOf('\n', text.trimEnd().length - 1) + 1, text.trimEnd().length).trimStart();
}

function resultLine(text: string, start: number, end: number): string {
  if (start === -1) return '';
  const cut = text.slice(start, Math.min(end, start + MAX_PREVIEW)).trimEnd();
  // Half of a surrogate pair would be shown as a replacement character.
  const whole = cut.replace(/[\ud800-\udbff]$/, '');
  return sanitiseLine(whole.replace(/\s*\n\s*/g, '\n').replaceAll('\t', ' '));
}

const known = new WeakMap<Rollout, Results>();
/** Turns examined between two pauses. */
const SHARE = 5000;

/** Calls beside their results: the outcome of each call, and which call a result answers. */
export class Results {
  readonly #rollout: Rollout;
  readonly #failed: ReadonlySet<number | null>;
  /** The calls of the turn that asked for the result in this turn, and which of them did. */
  readonly #askedBy = new Map<number, { calls: readonly ToolCall[]; which: number }>();

  private constructor(rollout: Rollout) {
    this.#rollout = rollout;
    this.#failed = new Set(rollout.findings.filter(({ check }) => check === 'tool_error').map(({ turn }) => turn));
  }

  static of(rollout: Rollout): Results {
    return finished(Results.finding(rollout));
  }

  /** The same with pauses, found once for a rollout. */
  static *finding(rollout: Rollout): Generator<void, Results> {
    const before = known.get(rollout);
    if (before !== undefined) return before;
    const results = new Results(rollout);
    for (const [at, { toolCalls }] of rollout.turns.entries()) {
      if (at % SHARE === SHARE - 1) yield;
      for (const [which, { resultTurn }] of toolCalls.entries())
        if (resultTurn !== null && !results.#askedBy.has(resultTurn))
          results.#askedBy.set(resultTurn, { calls: toolCalls, which });
    }
    known.set(rollout, results);
    return results;
  }

  /** ` ← code_interpreter, call 2 of 3` after a result's role; '' for other turns. */
  asked({ index, role }: Turn): string {
    const asked = this.#askedBy.get(index);
    if (asked !== undefined) {
      const { calls, which } = asked;
      const place = calls.length > 1 ? `, call ${which + 1} of ${calls.length}` : '';
      return ` ← ${sanitiseLine(calls[which]?.name ?? 'call')}${place}`;
    }
    return role === 'tool' ? ' ← no call' : '';
  }

  /** The line of a folded turn: a model's calls, else its last line; the start of any other turn. */
  summary({ index, role, text, toolCalls }: Turn): string {
    if (role === 'tool') return resultPreview(text, this.#failed.has(index));
    if (toolCalls.length > 0) return toolCalls.map(({ name }) => sanitiseLine(name ?? 'call')).join(', ');
    if (role !== 'assistant') return resultLine(text, text.search(/\S/), text.length);
    return lastWords(text);
  }

  /** The outcome of a call, shown after its name. `sign`: a finding says that something is missing here. */
  outcome(call: ToolCall, at: number, sign: boolean): Note {
    const note = { at, place: 'behind', sign } as const;
    if (call.error !== null && call.resultTurn === null) return { ...note, text: '→ not executed', style: 'error' };
    const result = call.resultTurn === null ? undefined : this.#rollout.turns[call.resultTurn];
    if (result === undefined) return { ...note, text: '→ no result', style: sign ? 'warning' : 'quiet' };
    const failed = this.#failed.has(result.index);
    return { ...note, text: `→ ${resultPreview(result.text, failed)}`, style: failed ? 'error' : 'quiet' };
  }
}
