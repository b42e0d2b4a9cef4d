import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Edges, Piece } from '../../present/line.ts';
import { topLine } from '../../present/top-line.ts';
import { MIN_COLUMNS, MIN_ROWS } from '../rows/geometry.ts';
import type { PromptState } from '../state/prompt.ts';
import type { BulkProgress } from '../state/replay.ts';
import { PROMPTS } from '../update/prompt-kinds.ts';
import { editorTitle } from './editor.ts';
import { footOf } from './footer.ts';
import type { FieldProps } from './kit.ts';
import { promptInfo } from './prompt-info.ts';
import type { Scene } from './scene.ts';

/** Everything on screen that does not scroll: what App shows. */
export interface Chrome {
  columns: number;
  /** Shown alone in a window that is too small. */
  tooSmall: string | null;
  top: Edges;
  editor: Edges | null;
  /** The lines at the foot: one, or those of a question; none while a prompt is open. */
  foot: readonly Edges[];
  prompt: PromptProps | null;
}

/** The input line, and the message below it. */
interface PromptProps {
  field: FieldProps;
  info: readonly Piece[];
}

export function chromeOf(scene: Scene): Chrome {
  const { state, data } = scene;
  const { columns, rows, prompt } = state;
  const { tooSmall } = data.geometry(state);
  if (tooSmall) {
    const text = `rollout-viewer needs ${MIN_COLUMNS}×${MIN_ROWS}; this window has ${columns}×${rows}.`;
    return { ...NOTHING, columns, tooSmall: text };
  }
  return {
    columns,
    tooSmall: null,
    top: topEdges(scene, columns),
    editor: state.editor === null ? null : editorTitle(state.editor),
    foot: prompt === null ? footOf(scene, columns) : [],
    prompt: prompt && promptField(prompt, promptInfo(scene, columns)),
  };
}

const promptField = ({ id, value, seed, cursor }: PromptState, info: readonly Piece[]): PromptProps => ({
  field: { id, sign: PROMPTS[id].sign, value, seed, cursor },
  info,
});

const EMPTY: Edges = { left: [], right: [] };
const NOTHING: Chrome = {
  columns: 0,
  tooSmall: null,
  top: EMPTY,
  editor: null,
  foot: [],
  prompt: null,
};

/** Rows above the body and below it. */
export interface ChromeRows {
  above: readonly string[];
  below: readonly string[];
}

/** Splits App's lines at the body. */
export function chromeRows({ editor }: Chrome, lines: readonly string[]): ChromeRows {
  const above = editor !== null ? 2 : 1;
  return { above: lines.slice(0, above), below: lines.slice(above) };
}

function topEdges({ state, data, name, connection }: Scene, width: number): Edges {
  const { phase, done, total } = data.dump.progress();
  const { bulk, backend } = state.replay;
  const run = data.live.stats(state.list.cursor?.file.stream ?? null, data.now);
  const line = {
    name,
    connection: connection == null ? null : sanitiseLine(connection),
    run,
    follow: state.follow.mode,
    queue: state.follow.mode === 'off' ? null : data.underWay.queueAt(data.now),
    isReading: run.status === 'waiting' && phase === 'index',
    progress:
      bulk !== null
        ? { text: bulk.waiting ?? bulkText(bulk), share: bulk.done / Math.max(1, bulk.total) }
        : phase === 'done' || total === 0
          ? null
          : phase === 'index'
            ? // How much there is of the first packed file is known at its end.
              { text: 'indexing', share: done === 0 ? null : done / total }
            : { text: 'checking', share: done / total },
    sandbox: backend === null ? null : sanitiseLine(backend.replace(/^https?:\/\//, '')),
  };
  return topLine(line, width);
}

/** `replaying, 3 drift`: the numbers that a person is waiting for. */
function bulkText({ what, tally }: BulkProgress): string {
  const drift = tally.drift ?? 0;
  return drift === 0 ? what : `${what}, ${drift} drift`;
}
