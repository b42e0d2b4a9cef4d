import { int32At, itemAt } from '../lists/at.ts';
import { ENDS } from './ended.ts';
import { ERROR_KINDS, FAULTS } from './error-kind.ts';
import type { Finding } from './finding.ts';
import { mostRepeated } from './loops.ts';
import { isResult, type Rollout, type Turn } from './rollout.ts';
import { SCRIPTS } from './scripts.ts';
import { textScan } from './text-scan.ts';
import { timeByKind } from './times.ts';
import { CLIP, tokenMeasures } from './token-measures.ts';

/**
 * A number that a rollout has. An entry in FACTS is all it needs: the index keeps it, filters and sort orders know its
 * name, the list offers it as a column, `ls --json` prints it.
 */
export interface Fact {
  /** In filters, sort orders and JSON. */
  name: string;
  /** The heading of its column. */
  title: string;
  help: string;
  /** The words of a non-numeric fact, by number; comparisons use the words. */
  words?: readonly string[];
  /** A number derived from a text, compared with others of its kind: six hexadecimal digits. */
  isSignature?: true;
  /** A moment: it can be sorted and compared, but sums and means are meaningless. */
  isMoment?: true;
  /** The value for a bad record; null if it has none. */
  ofBad: number | null;
  /** null if the rollout does not have it. */
  of(rollout: Rollout): number | null;
}

/** A count over the turns of the response. Avoids allocating a list, because this runs for a million rollouts. */
function factSum({ turns, responseTurn }: Rollout, of: (turn: Turn) => number): number {
  let sum = 0;
  for (let i = responseTurn; i < turns.length; i++) sum += of(itemAt(turns, i));
  return sum;
}

/** Whether a call has a result, in whatever role. */
const hasResult = ({ turns, responseTurn }: Rollout): boolean =>
  turns.some(({ toolCalls }) => toolCalls.some(({ resultTurn }) => resultTurn !== null && resultTurn >= responseTurn));

export const FACTS: readonly Fact[] = [
  { name: 'turns', title: 'turns', help: 'messages', ofBad: 0, of: ({ turns }) => turns.length },
  {
    name: 'tool_calls',
    title: 'calls',
    help: 'tool calls, unparsed ones included',
    ofBad: 0,
    of: ({ turns }) => turns.reduce((sum, { toolCalls }) => sum + toolCalls.length, 0),
  },
  {
    name: 'tools',
    title: 'tools',
    help: 'tools that the prompt shows to the model',
    ofBad: null,
    of: ({ toolSchemas }) => toolSchemas.length,
  },
  {
    name: 'contexts',
    title: 'contexts',
    help: 'message histories that the model saw',
    ofBad: 0,
    of: ({ contexts }) => contexts?.length ?? 1,
  },
  {
    name: 'tool_errors',
    title: 'errors',
    help: 'tool results that are errors; unknown if no result was recorded',
    ofBad: null,
    of: (rollout) =>
      factSum(rollout, (turn) => (isResult(turn) ? 1 : 0)) > 0 || hasResult(rollout)
        ? rollout.findings.reduce((sum, { check }) => sum + (check === 'tool_error' ? 1 : 0), 0)
        : null,
  },
  {
    name: 'chars',
    title: 'chars',
    help: 'characters (UTF-16 units) of the turns of the response, reasoning and tool results included; role headers and end tokens do not count',
    ofBad: null,
    of: (rollout) => factSum(rollout, ({ text }) => text.length),
  },
  {
    name: 'think_chars',
    title: 'think',
    help: 'characters of the reasoning in the response',
    ofBad: null,
    of: (rollout) =>
      factSum(rollout, ({ parts }) =>
        parts.reduce((sum, { kind, start, end }) => sum + (kind === 'think' ? end - start : 0), 0),
      ),
  },
  {
    name: 'tokens',
    title: 'tokens',
    help: 'recorded tokens of the response',
    ofBad: null,
    of: ({ tokens, lossMask }) => tokens?.responseIds.length ?? lossMask?.totalTokens ?? null,
  },
  {
    name: 'trained',
    title: 'trained',
    help: 'tokens of the response that are trained on',
    ofBad: null,
    // A mask that the record of a validation rollout holds was used by no trainer.
    of: ({ lossMask, validation }) => (validation ? null : (lossMask?.trainedTokens ?? null)),
  },
  {
    name: 'ended',
    title: 'ended',
    help: `how it ended: ${ENDS.join(', ')}`,
    words: ENDS,
    ofBad: null,
    of: ({ ended }) => ENDS.indexOf(ended.how),
  },
  {
    name: 'time.start',
    title: 'start',
    help: 'when it began, in seconds since 1970, if that was recorded',
    isMoment: true,
    ofBad: null,
    of: ({ times }) => times?.started ?? null,
  },
  timeFact('wall', 'from its start to the last sign'),
  timeFact('model', 'of generating'),
  timeFact('tool', 'of tools, calls side by side counted once'),
  timeFact('queue', 'of waiting for a place'),
  timeFact('score', 'of scoring'),
  timeFact('setup', 'before the first turn'),
  timeFact('blank', 'that nothing recorded explains'),
  {
    name: 'time.first_token',
    title: 'first',
    help: 'seconds from the first request of the model to its first token, if that was recorded',
    ofBad: null,
    of: ({ times }) => times?.firstToken ?? null,
  },
  {
    name: 'tokens_per_s',
    title: 'tok/s',
    help: 'trained tokens per second of generating',
    ofBad: null,
    of: (rollout) => {
      const seconds = timeOf(rollout, 'model');
      const trained = rollout.lossMask?.trainedTokens ?? null;
      return trained === null || seconds === null || seconds === 0 ? null : trained / seconds;
    },
  },
  {
    name: 'policy',
    title: 'policy',
    help: 'the oldest version of the weights that sampled it',
    ofBad: null,
    of: ({ policy }) => policy?.first ?? null,
  },
  {
    name: 'staleness',
    title: 'stale',
    help: 'versions between the oldest weights that sampled it and those that were trained with it',
    ofBad: null,
    of: ({ policy }) => (policy === undefined || policy.trainedAt === null ? null : policy.trainedAt - policy.first),
  },
  {
    name: 'error.kind',
    title: 'error',
    help: `the most frequent kind of its failed calls, the first of equally frequent ones: ${ERROR_KINDS.join(', ')}`,
    words: ERROR_KINDS,
    ofBad: null,
    of: (rollout) => indexOrNull(ERROR_KINDS, mostFailed(rollout)?.kind),
  },
  {
    name: 'fault',
    title: 'fault',
    help: `who caused most of its failed calls: ${FAULTS.join(', ')}`,
    words: FAULTS,
    ofBad: null,
    of: (rollout) => indexOrNull(FAULTS, mostFailed(rollout)?.fault),
  },
  {
    name: 'loop',
    title: 'loop',
    help: 'the most times that one call was made with the same arguments',
    ofBad: null,
    of: (rollout) => mostRepeated(rollout)?.calls.length ?? null,
  },
  {
    name: 'repetition',
    title: 'repeats',
    help: "share of the eight-word runs in the model's text that it had written before, 0 to 1",
    ofBad: null,
    of: (rollout) => (textScan(rollout).words === 0 ? null : textScan(rollout).repetition),
  },
  {
    name: 'script',
    title: 'script',
    help: `the script of most letters in the model's text: ${SCRIPTS.join(', ')}`,
    words: SCRIPTS,
    ofBad: null,
    of: (rollout) => mainScript(textScan(rollout).letters),
  },
  {
    name: 'opening',
    title: 'opening',
    help: "a hash of the first eight words of the model's text: equal if rollouts begin alike",
    isSignature: true,
    ofBad: null,
    of: (rollout) => (textScan(rollout).words === 0 ? null : textScan(rollout).opening),
  },
  {
    name: 'gist',
    title: 'gist',
    help: "a hash of all of the model's text: equal for copies, one or two of 24 bits apart for near copies",
    isSignature: true,
    ofBad: null,
    of: (rollout) => (textScan(rollout).words === 0 ? null : textScan(rollout).gist),
  },
  {
    name: 'entropy',
    title: 'entropy',
    help: 'mean entropy of the trained tokens, if it was recorded',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).entropy,
  },
  {
    name: 'logprob_min',
    title: 'lowest',
    help: 'log probability of the least likely trained token',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).logprobMin,
  },
  {
    name: 'kl_k1',
    title: 'kl k1',
    help: 'mismatch of sampling and training: mean of log p(sampled) - log p(trainer)',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).k1,
  },
  {
    name: 'kl_k3',
    title: 'kl k3',
    help: 'the same, by the estimator exp(r) - r - 1 with r = log p(trainer) - log p(sampled), never negative',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).k3,
  },
  {
    name: 'clipped',
    title: 'clipped',
    help: 'the share of trained tokens that the trainer recorded as clipped or masked, 0 to 1',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).clipped,
  },
  {
    name: 'ratio_max',
    title: 'ratio',
    help: 'the largest importance ratio exp(log p(trainer) - log p(sampled)) of a trained token',
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).ratioMax,
  },
  {
    name: 'ratio_outside',
    title: 'outside',
    help: `the share of trained tokens whose ratio is outside of ${1 - CLIP} to ${1 + CLIP}, 0 to 1`,
    ofBad: null,
    of: (rollout) => tokenMeasures(rollout).ratioOutside,
  },
];

const indexOrNull = <Word>(words: readonly Word[], word: Word | null | undefined): number | null =>
  word == null ? null : words.indexOf(word);

/** The first failure of a rollout's most frequent kind; null without a failure. */
export function mostFailed({
  findings,
}: {
  findings: readonly Pick<Finding, 'error'>[];
}): NonNullable<Finding['error']> | null {
  let most: NonNullable<Finding['error']> | null = null;
  let count = 0;
  for (const { error } of findings) {
    if (error === undefined) continue;
    const own = findings.filter((other) => other.error?.kind === error.kind).length;
    if (own > count) {
      most = error;
      count = own;
    }
  }
  return most;
}

function mainScript(letters: Int32Array): number | null {
  let main: number | null = null;
  for (let script = 0; script < letters.length; script++)
    if (int32At(letters, script) > (main === null ? 0 : int32At(letters, main))) main = script;
  return main;
}

function timeFact(kind: 'wall' | keyof ReturnType<typeof timeByKind>, says: string): Fact {
  return {
    name: `time.${kind}`,
    title: kind,
    help: `seconds ${says}, if times were recorded`,
    ofBad: null,
    of: (rollout) => timeOf(rollout, kind),
  };
}

/** null if nothing of the kind was recorded, which does not mean that it took no time. */
function timeOf({ times }: Rollout, kind: 'wall' | keyof ReturnType<typeof timeByKind>): number | null {
  if (times === undefined) return null;
  if (kind === 'wall') return times.wall;
  const isRecorded =
    kind === 'blank' || times.durations[kind] !== undefined || times.spans.some((span) => span.kind === kind);
  return isRecorded ? timeByKind(times)[kind] : null;
}

/** The value of a fact's number, as filters compare it and people see it. */
export const factValue = ({ words, isSignature }: Fact, value: number): number | string =>
  isSignature ? value.toString(16).padStart(6, '0') : (words?.[value] ?? value);

/** The meaning of known numbers: themselves, six hexadecimal digits, or anything else. */
export type NumberForm = 'number' | 'signature' | 'other';

export const formOf = ({ words, isSignature }: Fact): NumberForm =>
  words !== undefined ? 'other' : isSignature ? 'signature' : 'number';

/** A fact whose numbers can be added: not words, signatures or moments. */
export const isQuantity = ({ words, isSignature, isMoment }: Fact): boolean =>
  words === undefined && isSignature === undefined && isMoment === undefined;

const FACT_AT: ReadonlyMap<string, number> = new Map(FACTS.map(({ name }, at) => [name, at]));
export const isFact = (name: string): boolean => FACT_AT.has(name);

/** The index of the fact in FACTS; -1 if it is not one. */
export const factAt = (name: string): number => FACT_AT.get(name) ?? -1;
