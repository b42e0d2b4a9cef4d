import { itemAt, numberInAt } from '../lists/at.ts';
import type { CheckDeclaration, Notice } from './finding.ts';
import { isLaid } from './loss-mask.ts';
import type { RolloutTokens, Span, Turn, UncheckedRollout } from './rollout.ts';

export const MASK_CHECKS = {
  mask_foreign: { needs: 'mask', word: 'mask: foreign', severity: 'error' },
  mask_missing: { needs: 'mask', word: 'mask: own', severity: 'warning' },
  mask_zero: { needs: 'mask', word: 'mask: zero', severity: 'warning' },
  mask_length: { needs: 'ids', word: 'mask: length', severity: 'error' },
  mask_inverted: { needs: 'mask', word: 'mask: inverted', severity: 'error' },
  mask_break: { needs: 'mask', word: 'mask: break', severity: 'warning' },
  logprob_placeholder: { needs: 'logprobs', word: 'logprob', severity: 'warning' },
} as const satisfies Record<string, CheckDeclaration>;

type NoticeMask = Notice<keyof typeof MASK_CHECKS>;

/** Findings about a recorded mask. A mask inferred by this program says nothing about the trainer's. */
export function auditMask(rollout: UncheckedRollout, notice: NoticeMask): void {
  const { lossMask, tokens, validation } = rollout;
  if (validation || lossMask === null) return;
  if (tokens !== undefined) {
    auditTokens(tokens, notice);
    const against = maskAgainstTurns(rollout.turns, rollout.responseTurn, tokens);
    if (against !== null)
      notice('mask_length', null, `the mask of the tokens does not fit the turns: ${against}`, 'warning');
  }
  if (!isLaid(lossMask)) return;
  const total = lossMask.totalTokens ?? lossMask.totalChars;
  if (total > 0 && (lossMask.trainedTokens ?? lossMask.trainedChars) === 0) {
    notice('mask_zero', null, 'nothing of the response is trained: its mask is all zero');
    return;
  }
  auditSpans(rollout, notice);
}

function auditSpans(rollout: UncheckedRollout, notice: NoticeMask): void {
  const { turns, responseTurn } = rollout;
  const text = textSpans(rollout);
  const known = text.filter(({ trained }) => trained !== null);
  // Formats without a mask on text have nothing to compare.
  if (known.every(({ trained }) => trained === false)) return;
  const isModel = ({ turn }: Span): boolean => turns[turn]?.role === 'assistant';
  const foreign = known.filter(
    (span) => span.trained === true && turns[span.turn]?.role !== 'unknown' && !isModel(span),
  );
  const own = known.filter(isModel).filter(({ turn }) => turn >= responseTurn);
  if (foreign.length > 0 && own.length > 0 && own.every(({ trained }) => trained === false)) {
    notice(
      'mask_inverted',
      itemAt(foreign, 0).turn,
      "the mask is inverted: the model's text is masked, the rest is trained",
    );
    return;
  }
  for (const turn of new Set(foreign.map((span) => span.turn)))
    notice('mask_foreign', turn, `text of a ${turns[turn]?.role ?? 'turn'} is trained`);
  const states = new Map<number, boolean>();
  for (const { turn, trained } of own) states.set(turn, (states.get(turn) ?? false) || trained === true);
  const masked: number[] = [];
  let lastTrained = -1;
  for (const [turn, isTrained] of states) {
    if (isTrained) lastTrained = Math.max(lastTrained, turn);
    else masked.push(turn);
  }
  if (masked.length === 0) return;
  const behind = masked.filter((turn) => turn > lastTrained);
  if (behind.length === masked.length && behind.length > 0)
    notice(
      'mask_break',
      numberInAt(behind, 0),
      `from here on nothing of the model's is trained (${behind.length} of ${states.size} turns): a history that was tokenised again?`,
    );
  else for (const turn of masked) notice('mask_missing', turn, "the model's text here is masked");
}

/** The text of the response, without markers. */
function textSpans({ spans, responseTurn }: UncheckedRollout): Span[] {
  return spans.filter(({ kind, turn, start, end }) => kind === 'text' && end > start && turn >= responseTurn);
}

/**
 * How a mask of tokens cannot be that of the turns; null if it can. Tokens may have no text, so theirs may have more
 * runs; a run of turns without any token of its kind is a contradiction, though only the ids would say where.
 */
export function maskAgainstTurns(
  turns: readonly Turn[],
  responseTurn: number,
  { mask, responseIds }: RolloutTokens,
): string | null {
  if (mask.length !== responseIds.length || !mask.some((bit) => bit !== 0)) return null;
  const response = turns.filter(({ text, context }, i) => i >= responseTurn && text.trim() !== '' && !context);
  if (response.length === 0 || response.some(({ role, confidence }) => role === 'unknown' || confidence === 'unknown'))
    return null;
  const isModels = response.map(({ role }) => role === 'assistant' || role === 'function_call');
  const ofTurns = runCount(isModels);
  const ofTokens = runCount(mask.map((bit) => bit !== 0));
  const isOtherwise = isModels[0] !== (mask[0] !== 0) ? 1 : 0;
  if (ofTurns + isOtherwise <= ofTokens) return null;
  return `${runsText(ofTokens, mask[0] !== 0)}, and ${runsText(ofTurns, isModels[0]!)} by who speaks`;
}

const runsText = (count: number, isTrained: boolean): string =>
  `${count} ${count === 1 ? 'run' : 'runs'} beginning ${isTrained ? 'trained' : 'masked'}`;

const runCount = (bits: readonly boolean[]): number => bits.filter((bit, at) => bit !== bits[at - 1]).length;

function auditTokens({ responseIds, mask, logprobs }: RolloutTokens, notice: NoticeMask): void {
  if (mask.length !== responseIds.length || (logprobs !== null && logprobs.length !== responseIds.length)) {
    const lengths = [`${responseIds.length} ids`, `${mask.length} of the mask`];
    if (logprobs !== null) lengths.push(`${logprobs.length} log probabilities`);
    notice('mask_length', null, `the lists of the response differ in length: ${lengths.join(', ')}`);
    return;
  }
  if (logprobs === null) return;
  const trained = logprobs.filter((_, at) => mask[at] !== 0);
  const above = trained.filter((value) => value !== null && value > 0).length;
  if (above > 0)
    notice(
      'logprob_placeholder',
      null,
      `${above} trained tokens have a log probability above 0, which none can have`,
      'error',
    );
  // A sampled token may have probability 1, but not every run of trained tokens, and only those, ends in one by chance.
  const ends = runEnds(mask).map((at) => logprobs[at]);
  const zeros = trained.filter((value) => value === 0).length;
  if (
    ends.length > 0 &&
    ends.every((value) => value === 0) &&
    zeros === ends.length &&
    trained.length > 2 * ends.length
  )
    notice(
      'logprob_placeholder',
      null,
      'the last trained token of each turn has log probability 0: an end token that was appended, not sampled',
    );
}

/** The ends of the runs of trained tokens. */
const runEnds = (mask: readonly number[]): number[] =>
  mask.flatMap((bit, at) => (bit !== 0 && (mask[at + 1] ?? 0) === 0 ? [at] : []));
