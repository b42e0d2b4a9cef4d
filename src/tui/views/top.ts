import { meanScore } from '../../analysis/step-scores.ts';
import { renderTopLine } from '../../present/top-line.ts';
import type { View } from './view.ts';

export const topView: View = ({ state, world, theme, name }, width) => {
  const { files } = world.dump;
  const file = state.list.cursor?.file;
  const stream = files.filter((other) => other.stream === file?.stream);
  const { phase, done, total } = world.dump.progress();
  const line = {
    name,
    steps: files.length,
    rollouts: files.reduce((sum, file) => sum + file.count, 0),
    // A step that is still arriving stays out of the curve.
    means: stream.map((file) => (file.isArriving() ? Number.NaN : (meanScore(file) ?? Number.NaN))),
    here: file === undefined ? -1 : stream.indexOf(file),
    progress:
      phase === 'done' || total === 0
        ? null
        : { text: phase === 'index' ? 'indexing' : 'checking', share: done / total },
  };
  return [renderTopLine(line, theme, width)];
};
