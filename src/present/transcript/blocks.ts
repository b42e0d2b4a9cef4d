import type { Rollout } from '../../rollout/rollout.ts';
import { sanitise } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import { maskShare } from '../mask-share.ts';
import { advantageText } from '../numbers.ts';
import { scoreText } from '../quantities.ts';
import type { Block } from './block.ts';
import { contextHeading, ownBlocks, withOutlines } from './context-blocks.ts';
import { findingsByTurn, Unplaced } from './findings.ts';
import { Results } from './results.ts';
import { type Folds, turnBlocks } from './turn-blocks.ts';
import { partlyTrained } from './turn-mask.ts';

export type { Folds };

/** The rollout's own numbers, once, after its last turn. */
function verdictBlocks(rollout: Rollout, advantage: number | null): Block[] {
  const line = (id: string, text: string, style: Block['style'] = 'plain'): Block => ({
    id,
    turn: null,
    text,
    style,
    trained: false,
    indent: 0,
    clip: true,
  });
  const blocks = [line('score', `score ${scoreText(rollout.score)}`, 'strong')];
  if (advantage !== null) blocks.push(line('advantage', `advantage ${advantageText(advantage)}`));
  if (rollout.groundTruth !== undefined) {
    const truth = rollout.groundTruth;
    const text = typeof truth === 'string' ? truth : formatJson(truth);
    blocks.push(line('ground-truth', `ground truth ${sanitise(text)}`));
  }
  for (const { field, values } of rollout.rewards.unaligned) {
    blocks.push(line(`unaligned.${field}`, sanitise(`${field} ${formatJson(values)}, unaligned`), 'quiet'));
  }
  if (rollout.lossMask !== null) blocks.push(line('mask', `loss mask ${maskShare(rollout.lossMask)}`, 'quiet'));
  return blocks;
}

const blank = (id: string, turn: number | null): Block => ({
  id: `${id}.blank`,
  turn,
  text: '',
  style: 'plain',
  trained: false,
  indent: 0,
});

/** All of a rollout as it reads from top to bottom. `advantage`: relative to its group, null where that is not known. */
export function transcriptBlocks(rollout: Rollout, opened: Folds, advantage: number | null = null): Block[] {
  const blocks: Block[] = [];
  const folds = withOutlines(rollout, opened);
  const masks = partlyTrained(rollout);
  const results = new Results(rollout);
  const findings = findingsByTurn(rollout.findings);
  for (const turn of rollout.turns) {
    const { index } = turn;
    const heading = contextHeading(rollout, index);
    if (heading !== null) blocks.push(heading, blank(heading.id, null));
    const noticed = new Unplaced(findings.get(index) ?? []);
    blocks.push(...turnBlocks({ rollout, turn, folds, results, mask: masks.get(index), findings: noticed }));
    // Turns that are folded to a line stand close, as an outline.
    if (folds.get(`t${index}`) !== true || folds.get(`t${index + 1}`) !== true) blocks.push(blank(`t${index}`, index));
    blocks.push(...ownBlocks(rollout, index, folds));
  }
  blocks.push(...ownBlocks(rollout, null, folds));
  blocks.push(...verdictBlocks(rollout, advantage));
  return blocks;
}

/** A line that is no record: why, and its raw text. */
export function rawBlocks(error: string, raw: string): Block[] {
  const base = { turn: null, trained: false, indent: 0 } as const;
  return [
    { ...base, id: 'error', text: sanitise(error), style: 'error' },
    blank('error', null),
    { ...base, id: 'raw', text: sanitise(raw), style: 'plain' },
  ];
}
