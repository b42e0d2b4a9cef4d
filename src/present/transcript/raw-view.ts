import type { Rollout, Span } from '../../rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import type { Block, Note, Range } from './block.ts';
import { findingNote, spokenOf } from './findings.ts';

/** Trained text as it is, masked text quiet, what a template wrote and what nobody knows in colours of their own. */
const styleOf = (span: Span): Range['style'] => {
  if (span.trained === null) return 'unknown';
  return span.kind === 'marker' ? 'marker' : span.trained ? 'plain' : 'quiet';
};

/** The recorded strings character for character, with the mask laid over them: nothing trimmed, folded or reordered. */
export function rawTextBlocks(rollout: Rollout): Block[] {
  const blocks: Block[] = [];
  const begun = new Set<number>();
  for (const [field, text] of Object.entries(rollout.texts)) {
    const base = { turn: null, trained: false, indent: 0 } as const;
    blocks.push({ ...base, id: `raw.${field}`, text: sanitiseLine(field), style: 'heading' });
    let shown = '';
    let ranges: Range[] = [];
    let turn: number | null = null;
    let part = 0;
    const close = (): void => {
      if (shown === '') return;
      const header = turn !== null && !begun.has(turn);
      if (turn !== null) begun.add(turn);
      // The newline at a block's end is the step to the next block.
      const body = shown.endsWith('\n') ? shown.slice(0, -1) : shown;
      blocks.push({ ...base, id: `raw.${field}.${part++}`, turn, text: body, style: 'quiet', ranges, header });
      shown = '';
      ranges = [];
    };
    for (const span of rollout.spans) {
      if (span.field !== field) continue;
      // A block a turn, but never a line break that the text does not have.
      if (span.turn !== turn && (shown === '' || shown.endsWith('\n'))) {
        close();
        turn = span.turn;
      }
      const piece = sanitise(text.slice(span.start, span.end));
      const start = shown.length;
      shown += piece;
      ranges.push({ start, end: shown.length, style: styleOf(span), trained: span.trained });
    }
    close();
  }
  return withFindings(blocks, rollout);
}

/** Findings at the words that they speak of, or at the end of the turn where the words are unknown. */
function withFindings(blocks: Block[], rollout: Rollout): Block[] {
  const notes = new Map<Block, Note[]>();
  const counted = new Map<string, number>();
  const ofTurn = new Map<number | null, Block[]>();
  for (const block of blocks) ofTurn.set(block.turn, [...(ofTurn.get(block.turn) ?? []), block]);
  for (const finding of rollout.findings) {
    const turn = finding.turn === null ? undefined : rollout.turns[finding.turn];
    const own = turn === undefined ? [] : (ofTurn.get(turn.index) ?? []);
    if (turn === undefined || own.length === 0) continue;
    const key = `${turn.index} ${finding.check}`;
    const nth = counted.get(key) ?? 0;
    counted.set(key, nth + 1);
    const words = sanitise(spokenOf(finding, turn, nth));
    const block = own.find(({ text }) => words !== '' && text.includes(words)) ?? own.at(-1)!;
    const at = words === '' ? -1 : block.text.indexOf(words);
    notes.set(block, [...(notes.get(block) ?? []), findingNote(finding, at === -1 ? block.text.length : at)]);
  }
  return blocks.map((block) => {
    const found = notes.get(block);
    return found === undefined ? block : { ...block, notes: found.sort((a, b) => a.at - b.at) };
  });
}
