import type { Check, Finding } from './finding.ts';
import { isLaid } from './loss-mask.ts';
import type { Rollout, RolloutTokens, Span } from './rollout.ts';

type Add = (check: Check, severity: Finding['severity'], turn: number | null, message: string) => void;

/** Findings about a recorded mask. A mask that this program inferred says nothing of the trainer's. */
export function auditMask(rollout: Omit<Rollout, 'findings'>, add: Add): void {
  const { lossMask, tokens, validation } = rollout;
  if (validation || lossMask === null || !isLaid(lossMask)) return;
  if (tokens !== undefined) auditTokens(tokens, add);
  const total = lossMask.totalTokens ?? lossMask.totalChars;
  if (total > 0 && (lossMask.trainedTokens ?? lossMask.trainedChars) === 0) {
    add('mask_zero', 'warning', null, 'nothing of the response is trained: its mask is all zero');
    return;
  }
  auditSpans(rollout, add);
}

function auditSpans(rollout: Omit<Rollout, 'findings'>, add: Add): void {
  const { turns, responseTurn } = rollout;
  const text = textSpans(rollout);
  const known = text.filter(({ trained }) => trained !== null);
  // Formats that lay no mask on text have nothing to compare.
  if (known.every(({ trained }) => trained === false)) return;
  const isModel = ({ turn }: Span): boolean => turns[turn]?.role === 'assistant';
  const foreign = known.filter(
    (span) => span.trained === true && turns[span.turn]?.role !== 'unknown' && !isModel(span),
  );
  const own = known.filter(isModel).filter(({ turn }) => turn >= responseTurn);
  if (foreign.length > 0 && own.length > 0 && own.every(({ trained }) => trained === false)) {
    add(
      'mask_inverted',
      'error',
      foreign[0]!.turn,
      'the mask is the wrong way round: what the model wrote is masked, the rest is trained',
    );
    return;
  }
  for (const turn of new Set(foreign.map((span) => span.turn)))
    add('mask_foreign', 'error', turn, `text of a ${turns[turn]?.role ?? 'turn'} is trained`);
  const states = new Map<number, boolean>();
  for (const { turn, trained } of own) states.set(turn, (states.get(turn) ?? false) || trained === true);
  const masked = [...states].filter(([, trained]) => !trained).map(([turn]) => turn);
  if (masked.length === 0) return;
  const lastTrained = Math.max(...[...states].filter(([, trained]) => trained).map(([turn]) => turn));
  const behind = masked.filter((turn) => turn > lastTrained);
  if (behind.length === masked.length && behind.length > 0)
    add(
      'mask_break',
      'warning',
      behind[0]!,
      `from here on nothing of the model's is trained (${behind.length} of ${states.size} turns): a history that was tokenised anew?`,
    );
  else for (const turn of masked) add('mask_missing', 'warning', turn, 'what the model wrote here is masked');
}

/** Text, not markers, of what lies in the response. */
function textSpans({ spans, responseTurn }: Omit<Rollout, 'findings'>): Span[] {
  return spans.filter(({ kind, turn, start, end }) => kind === 'text' && end > start && turn >= responseTurn);
}

function auditTokens({ responseIds, mask, logprobs }: RolloutTokens, add: Add): void {
  if (mask.length !== responseIds.length || (logprobs !== null && logprobs.length !== responseIds.length)) {
    const lengths = [`${responseIds.length} ids`, `${mask.length} of the mask`];
    if (logprobs !== null) lengths.push(`${logprobs.length} log probabilities`);
    add('mask_length', 'error', null, `the lists of the response differ in length: ${lengths.join(', ')}`);
    return;
  }
  if (logprobs === null) return;
  const trained = logprobs.filter((_, at) => mask[at] !== 0);
  const above = trained.filter((value) => value !== null && value > 0).length;
  if (above > 0)
    add(
      'logprob_placeholder',
      'error',
      null,
      `${above} trained tokens have a log probability above 0, which none can have`,
    );
  // A sampled token may have probability 1; that each run of trained tokens ends in one, and none else has it, is no chance.
  const ends = runEnds(mask).map((at) => logprobs[at]);
  const zeros = trained.filter((value) => value === 0).length;
  if (
    ends.length > 0 &&
    ends.every((value) => value === 0) &&
    zeros === ends.length &&
    trained.length > 2 * ends.length
  )
    add(
      'logprob_placeholder',
      'warning',
      null,
      'the last trained token of each turn has log probability 0: an end token that was appended, not sampled',
    );
}

/** The ends of the runs of trained tokens. */
const runEnds = (mask: readonly number[]): number[] =>
  mask.flatMap((bit, at) => (bit !== 0 && (mask[at + 1] ?? 0) === 0 ? [at] : []));
