import { plural } from '../../../core/text/numbers.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { spreadOf } from '../../../replay/spread.ts';
import type { Block } from '../transcript/block.ts';
import type { Folds } from '../transcript/blocks.ts';
import { diffBlocks } from './diff-blocks.ts';
import type { BranchView } from './view.ts';

/** The branches of a rollout, below its last turn: one line each, with their turns folded once they were seen. */
export function branchBlocks(
  branches: readonly BranchView[],
  turn: number,
  folds: Folds,
  recorded: number | null = null,
): Block[] {
  if (branches.length === 0) return [];
  const base = { turn, trained: false, indent: 0 } as const;
  const blocks: Block[] = [
    {
      ...base,
      id: `t${turn}.branches`,
      text: plural(branches.length, 'branch') + spreadText(branches, recorded),
      style: 'heading',
    },
  ];
  for (const [number, branch] of branches.entries()) {
    const id = `t${turn}.branch${branch.uid}`;
    const isFolded = folds.get(id) ?? !branch.isNew;
    const text = `${isFolded ? '▸' : '▾'} ${summary(number, branch)}`;
    const style = branch.status === null ? 'accent' : branch.error !== null ? 'error' : 'strong';
    blocks.push({ ...base, id, text, style, fold: isFolded ? 'closed' : 'open' });
    if (!isFolded) blocks.push(...bodyBlocks(branch, id, turn));
  }
  blocks.push({ ...base, id: `t${turn}.branches.end`, text: '', style: 'plain' });
  return blocks;
}

/** Mean and spread of the branches' scores, beside the recorded one. */
function spreadText(branches: readonly BranchView[], recorded: number | null): string {
  const spread = spreadOf(branches.flatMap(({ score }) => score ?? []));
  if (spread === null || spread.count < 2) return '';
  const own = recorded === null ? '' : `, recorded ${scoreText(recorded)}`;
  return `, mean score ${scoreText(spread.mean)} ± ${scoreText(spread.deviation)} of ${spread.count}${own}`;
}

function summary(number: number, { turn, model, status, score, turns, difference }: BranchView): string {
  const said = [`branch ${number} from t${turn}`, sanitiseLine(model)];
  if (status === null) said.push('running, ^c cancels');
  else {
    said.push(score === null ? 'no score' : `score ${scoreText(score)}`);
    if (status !== 'SUCCEEDED') said.push(status.toLowerCase().replaceAll('_', ' '));
    if (turns.length > 0) said.push(difference === null ? 'as recorded' : `differs from t${difference.turn}`);
  }
  said.push(plural(turns.length, 'turn'));
  return said.join(', ');
}

function bodyBlocks(
  { turns, turn: first, judged, error, difference, status, prefix, changed }: BranchView,
  id: string,
  turn: number,
): Block[] {
  const base = { turn, trained: false } as const;
  const blocks: Block[] = [];
  const quiet = (name: string, text: string) =>
    blocks.push({ ...base, id: `${id}.${name}`, text: sanitiseLine(text), style: 'quiet', indent: 2 });
  for (const [i, spoken] of turns.entries()) {
    const own = `${id}.${i}`;
    blocks.push({ ...base, id: own, text: `t${first + i} ${sanitiseLine(spoken.role)}`, style: 'heading', indent: 2 });
    const text = spoken.text.trim();
    if (text !== '')
      blocks.push({ ...base, id: `${own}.text`, text: sanitise(text), style: 'plain', indent: 2, clip: true });
    for (const [j, call] of spoken.calls.entries()) {
      blocks.push({ ...base, id: `${own}.call${j}`, text: sanitiseLine(call.name), style: 'strong', indent: 2 });
      blocks.push({
        ...base,
        id: `${own}.call${j}.text`,
        text: sanitise(call.text.trimEnd()),
        style: 'plain',
        indent: 4,
        clip: true,
      });
    }
  }
  if (prefix !== null) quiet('prefix', prefix);
  for (const [i, text] of changed.entries()) quiet(`changed${i}`, text);
  if (judged !== null && judged !== error) quiet('judged', judged);
  if (status === null) return blocks;
  if (error !== null) blocks.push({ ...base, id: `${id}.error`, text: sanitise(error), style: 'error', indent: 2 });
  if (difference !== null && turns.length > 0) {
    quiet('difference', `t${difference.turn} as recorded (-) and here (+)`);
    blocks.push(...diffBlocks(`${id}.diff`, turn, difference.diff, 2));
  }
  return blocks;
}
