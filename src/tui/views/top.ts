import { meanScore } from '../../analysis/step-scores.ts';
import { renderTopLine } from '../../present/top-line.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { BulkProgress } from '../replay/state.ts';
import type { View } from './view.ts';

export const topView: View = ({ state, world, theme, name }, width) => {
  const { files } = world.dump;
  const file = state.list.cursor?.file;
  const stream = files.filter((other) => other.stream === file?.stream);
  const { phase, done, total } = world.dump.progress();
  const { bulk, backend } = state.replay;
  const line = {
    name,
    steps: files.length,
    rollouts: files.reduce((sum, file) => sum + file.count, 0),
    // A step that is still arriving stays out of the curve.
    means: stream.map((file) => (file.isArriving() ? Number.NaN : (meanScore(file) ?? Number.NaN))),
    here: file === undefined ? -1 : stream.indexOf(file),
    progress:
      bulk !== null
        ? { text: bulk.waiting ?? bulkText(bulk), share: bulk.done / Math.max(1, bulk.total) }
        : phase === 'done' || total === 0
          ? null
          : { text: phase === 'index' ? 'indexing' : 'checking', share: done / total },
    sandbox: backend === null ? null : sanitiseLine(backend),
  };
  return [renderTopLine(line, theme, width)];
};

/** `replaying, 3 drift`: what a person waits for. */
function bulkText({ what, tally }: BulkProgress): string {
  const drift = tally.drift ?? 0;
  return drift === 0 ? what : `${what}, ${drift} drift`;
}
