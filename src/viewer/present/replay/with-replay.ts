import type { Rollout } from '../../../core/rollout/rollout.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { fateOf } from '../../../replay/fate.ts';
import { fateText } from '../fate-text.ts';
import type { Block } from '../transcript/block.ts';
import { END_SECTION, type Folds, turnSection } from '../transcript/blocks.ts';
import { PAUSE, type PartOrPause, type Section } from '../transcript/section.ts';
import { callId } from '../transcript/turn-blocks.ts';
import { branchBlocks } from './branch-blocks.ts';
import { callBlocks, resultPieces } from './call-blocks.ts';
import { underwayPieces } from './outcome-text.ts';
import type { BranchView, RescoreView, RolloutReplay } from './view.ts';
import { worldBlocks, worldPieces, worldUnderway } from './world-blocks.ts';

/** A transcript with replay results beside the recorded ones. */
export function* withReplay(
  sections: Iterable<Section>,
  rollout: Rollout,
  replay: RolloutReplay,
  folds: Folds,
): Generator<Section> {
  const right = new Map<string, Block['right']>();
  const below = new Map<number, Block[]>();
  const changed = new Set([END_SECTION]);
  for (const turn of rollout.turns) {
    for (const call of turn.toolCalls) {
      const found = replay.calls.get(call.index);
      if (found === undefined) continue;
      const head = `${callId(turn, call)}.0`;
      if (found.underway !== null) right.set(head, underwayPieces(found.underway, replay.now));
      const at = call.resultTurn ?? turn.index;
      changed.add(turnSection(turn.index)).add(turnSection(at));
      if (call.resultTurn === null) right.set(head, resultPieces(found));
      else right.set(`t${at}`, resultPieces(found));
      const place = { id: `t${at}.again${call.index}`, turn: at, folds };
      below.set(at, [...(below.get(at) ?? []), ...callBlocks(found, place)]);
    }
  }
  const heads = new Map(
    rollout.turns.flatMap((turn) => turn.toolCalls.map((call) => [call.index, `${callId(turn, call)}.0`] as const)),
  );
  for (const [call, found] of replay.world) {
    const at = found.resultTurn ?? found.turn;
    const head = heads.get(call) ?? `t${found.turn}`;
    if (found.underway !== null) right.set(head, worldUnderway(found, replay.now));
    changed.add(turnSection(found.turn)).add(turnSection(at));
    const result = found.resultTurn === null ? head : `t${at}`;
    if (found.outcome !== null) right.set(result, [...(right.get(result) ?? []), ...worldPieces(found)]);
    below.set(at, [...(below.get(at) ?? []), ...worldBlocks(found, `t${at}.again${call}`, at)]);
  }
  for (const [turn, scores] of fates(replay.branches)) {
    const block: Block = { ...BLANK, turn, id: `t${turn}.fate`, text: fateText(fateOf(turn, scores)), style: 'quiet' };
    below.set(turn, [block, ...(below.get(turn) ?? [])]);
    changed.add(turnSection(turn));
  }
  const last = rollout.turns.at(-1)?.index ?? 0;
  const beside = (blocks: Iterable<PartOrPause<Block>>) =>
    blocksWithResults(blocks, { right, below, folds, rescored: replay.rescored });
  for (const section of sections) {
    if (!changed.has(section.id)) yield section;
    else yield { ...section, key: null, blocks: () => beside(section.blocks()) };
  }
  const branches = branchBlocks(replay.branches, last, folds, rollout.score);
  if (branches.length === 0) return;
  const gap = { ...BLANK, turn: last, id: `t${last}.branches.blank` };
  yield { id: 'branches', key: null, source: replay, blocks: () => [gap, ...branches] };
}

interface RewardsBeside {
  /** Shown after a block's first line, by block id. */
  right: ReadonlyMap<string, Block['right']>;
  /** Below a turn. */
  below: ReadonlyMap<number, Block[]>;
  folds: Folds;
  rescored: RescoreView | null;
}

function* blocksWithResults(
  blocks: Iterable<PartOrPause<Block>>,
  { right, below, folds, rescored: again }: RewardsBeside,
): Generator<PartOrPause<Block>> {
  for (const block of blocks) {
    if (block === PAUSE) {
      yield PAUSE;
      continue;
    }
    const { id, turn } = block;
    // A turn folded to a line shows nothing below it.
    const isFolded = folds.get(`t${turn}`) === true;
    if (turn !== null && id === `t${turn}.blank` && !isFolded) yield* below.get(turn) ?? [];
    if (id === 'score' && again !== null) yield* rescored(block, again);
    else {
      const pieces = right.get(id) ?? [];
      yield pieces.length === 0 ? block : { ...block, right: [...pieces, ...spacedRight(block.right)] };
    }
  }
}

/** A single branch says nothing about a turn. */
const FEWEST = 2;

/** The scores of the branches that regenerated a turn as recorded, by turn. */
function fates(branches: readonly BranchView[]): Map<number, number[]> {
  const scores = new Map<number, number[]>();
  for (const { turn, score, isEdited } of branches)
    if (score !== null && !isEdited) scores.set(turn, [...(scores.get(turn) ?? []), score]);
  return new Map([...scores].filter(([, one]) => one.length >= FEWEST));
}

const BLANK = { text: '', style: 'plain', trained: false, indent: 0 } as const;

const spacedRight = (right: Block['right']): NonNullable<Block['right']> =>
  right === undefined || right.length === 0 ? [] : [['plain', '  '], ...right];

/** The re-computed score beside the recorded one; without one, the reason below it. */
function rescored(block: Block, { status, score, reward, reason }: RescoreView): Block[] {
  const style = status === 'drift' ? 'warning' : status === 'error' ? 'error' : 'quiet';
  const said = [
    status,
    ...(score === null ? [] : [scoreText(score)]),
    ...(reward === null ? [] : [rewardName(reward)]),
  ];
  const right: Block['right'] = [[style, `again: ${said.join(', ')}`]];
  if (reason === null) return [{ ...block, right }];
  const why: Block = { ...BLANK, turn: block.turn, id: 'score.again', text: `again: ${sanitiseLine(reason)}`, style };
  return [{ ...block, right }, why];
}

/** The file name of a path. */
const rewardName = (reward: string): string => sanitiseLine(reward.replace(/^.*\//, ''));
