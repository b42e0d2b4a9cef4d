import { scoreText } from '../../core/text/quantities.ts';

/** A reward with its sign: '+0.25', '-1.00', '+0.00'. */
export function formatReward(reward: number): string {
  const text = scoreText(reward);
  return Number.isNaN(reward) || text.startsWith('-') ? text : `+${text}`;
}

/** '+1.50'; values that round to zero become +0.00. */
export const formatAdvantage = (advantage: number): string => formatReward(Number(advantage.toFixed(2)) || 0);

/** Always says where the advantage comes from, because no trainer wrote it. '+1.50, recomputed from score'. */
export const advantageText = (advantage: number): string => `${formatAdvantage(advantage)}, recomputed from score`;

/** Numbers aligned at their decimal points, padded on both sides. */
export function alignedNumbers(texts: readonly string[]): string[] {
  const pointOf = (text: string): number => {
    const point = text.search(/[.e]/);
    return point === -1 ? text.length : point;
  };
  const before = Math.max(0, ...texts.map(pointOf));
  const behind = Math.max(0, ...texts.map((text) => text.length - pointOf(text)));
  return texts.map(
    (text) => ' '.repeat(before - pointOf(text)) + text + ' '.repeat(behind - (text.length - pointOf(text))),
  );
}
