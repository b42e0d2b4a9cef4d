import { isJsonObject, type JsonValue } from '../../rollout/json.ts';
import { type Rollout, toolCallsOf } from '../../rollout/rollout.ts';
import { cellWidth } from '../../text/graphemes.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import { maskShare } from '../mask-share.ts';
import { advantageText, formatCount, formatReward } from '../numbers.ts';
import { scoreText, sizeText } from '../quantities.ts';
import type { Block } from './block.ts';

const MAX_LABEL = 20;

/** Names at the left, values beside them, each with its own wrap. */
function table(rows: readonly (readonly [name: string, value: string])[]): Block[] {
  const labels = rows.map(([name]) => sanitiseLine(name));
  const width = Math.min(MAX_LABEL, Math.max(0, ...labels.map(cellWidth))) + 2;
  return rows.map(([name, value], i) => ({
    id: `field.${name.replaceAll('.', '\u0001')}`,
    turn: i,
    header: true,
    text: sanitise(value),
    style: 'plain',
    trained: false,
    indent: width,
    label: `${labels[i]!} `,
    clip: true,
  }));
}

/** Every field of the record as it was written, in its order, but those that are hidden. */
export function fieldBlocks(value: JsonValue, hidden: readonly string[]): Block[] {
  if (!isJsonObject(value)) return table([['value', formatJson(value, 2)]]);
  const shown = Object.entries(value).filter(([name]) => !hidden.includes(name));
  const blocks = table(shown.map(([name, item]) => [name, typeof item === 'string' ? item : formatJson(item, 2)]));
  const away = Object.keys(value).filter((name) => hidden.includes(name));
  if (away.length === 0) return blocks;
  const text = `hidden: ${away.map(sanitiseLine).join(', ')}   + shows them`;
  return [...blocks, { id: 'hidden', turn: null, text, style: 'quiet', trained: false, indent: 0 }];
}

const MASK_FROM = {
  recorded: 'recorded while the rollout was made',
  tokens: 'from token ids',
  inferred: 'inferred from roles',
} as const;

/** 't1 +0.10, t3 +1.00': the turns that have one. */
const perTurnText = (values: readonly (number | null)[], text: (value: number) => string): string =>
  values.flatMap((value, turn) => (value === null ? [] : [`t${turn} ${text(value)}`])).join(', ');

export interface Details {
  rollout: Rollout;
  locator: string;
  bytes: number;
  /** In words, '' where none is known. */
  group: string;
  /** Relative to its group; null without one. */
  advantage: number | null;
}

/** What is known of a rollout beside its text, and where each of it comes from. */
export function detailBlocks({ rollout, locator, bytes, group, advantage }: Details): Block[] {
  const calls = toolCallsOf(rollout);
  const judged = rollout.turns.filter((turn) => turn.confidence === 'inferred').length;
  const rows: [string, string][] = [
    ['record', `${locator}, ${sizeText(bytes)}, format ${rollout.format}`],
    ['score', `${scoreText(rollout.score)}${rollout.score === null ? '' : '  (recorded)'}`],
  ];
  if (rollout.groundTruth !== undefined) {
    const truth = rollout.groundTruth;
    rows.push(['ground truth', typeof truth === 'string' ? truth : formatJson(truth, 2)]);
  }
  rows.push(['group', group === '' ? 'none is known' : group]);
  if (advantage !== null) rows.push(['advantage', advantageText(advantage)]);
  const { perTurn, returns, unaligned } = rollout.rewards;
  if (perTurn !== null) rows.push(['rewards', `${perTurnText(perTurn, formatReward)}  (recorded)`]);
  if (returns !== null) rows.push(['returns', `${perTurnText(returns, scoreText)}  (recorded)`]);
  for (const { field, values } of unaligned) rows.push([field, `${formatJson(values)}  (unaligned)`]);
  rows.push(
    ['loss mask', rollout.lossMask === null ? 'none: validation is not trained on' : maskShare(rollout.lossMask)],
    ['mask from', rollout.lossMask === null ? '–' : MASK_FROM[rollout.lossMask.source]],
    ['turns', `${formatCount(rollout.turns.length)}, borders of ${judged === 0 ? 'none' : judged} inferred`],
    ['tool calls', `${formatCount(calls.length)}, ${calls.filter((call) => call.resultTurn !== null).length} answered`],
  );
  if (rollout.step !== null) rows.push(['step', `${rollout.step}  (recorded)`]);
  if (rollout.uid !== null) rows.push(['uid', rollout.uid]);
  if (rollout.requestId !== null) rows.push(['request_id', rollout.requestId]);
  if (rollout.status !== null) rows.push(['status', rollout.status]);
  for (const finding of rollout.findings) {
    rows.push([finding.severity, `${finding.message}${finding.turn === null ? '' : `  (t${finding.turn})`}`]);
  }
  for (const [name, value] of Object.entries(rollout.extras)) {
    if (unaligned.some(({ field }) => field === name)) continue;
    rows.push([name, typeof value === 'string' ? value : formatJson(value)]);
  }
  return table(rows).map((block, i) => ({ ...block, id: `detail.${i}` }));
}
