import { itemAt, lastItem } from '../../../core/lists/at.ts';
import type { Finding } from '../../../core/rollout/finding.ts';
import type { Rollout, Span, Turn } from '../../../core/rollout/rollout.ts';
import { sanitise, sanitiseLine, sanitising } from '../../../core/text/sanitise.ts';
import type { Block, Note, Range } from './block.ts';
import { findingNote, findingsByTurn, spokenOf } from './findings.ts';
import { type PartOrPause, paused, type Section } from './section.ts';

/** Spans of one block examined between two pauses. */
const SPANS = 1000;

/** Trained text unstyled, masked text quiet; template text and unknown text in their own colours. */
const styleOf = (span: Span): Range['style'] => {
  if (span.trained === null) return 'unknown';
  return span.kind === 'marker' ? 'marker' : span.trained ? 'plain' : 'quiet';
};

/** A block before its text is made. */
interface PlannedPart {
  id: string;
  turn: number | null;
  header: boolean;
  field: string;
  spans: readonly Span[];
}

/**
 * The recorded strings verbatim, with the mask over them: nothing trimmed, folded or reordered. Findings appear at the words they refer to,
 * or at the end of their turn if the words are unknown.
 */
export function* rawTextSections(rollout: Rollout): Generator<PartOrPause<Section>> {
  const shares = yield* paused(planned(rollout));
  const findings = findingsByTurn(rollout.findings);
  const ofTurn = yield* paused(grouped(shares, findings));
  const notes = new PlacedNotes(rollout, findings, ofTurn);
  for (const [at, share] of shares.entries())
    yield {
      id: sectionId(at),
      key: '',
      source: rollout,
      isMadeAnew: true,
      blocks: () => sharedBlocks(share, rollout, notes),
    };
}

const sectionId = (share: number): string => `raw${share}`;

function* sharedBlocks(
  share: readonly PlannedPart[],
  rollout: Rollout,
  notes: PlacedNotes,
): Generator<PartOrPause<Block>> {
  for (const one of share) {
    if (one.spans.length === 0) {
      yield { id: one.id, turn: null, text: sanitiseLine(one.field), style: 'heading', trained: false, indent: 0 };
      continue;
    }
    const block = yield* paused(blockOf(one, rollout));
    const own = yield* paused(notes.of(one));
    yield own === undefined ? block : { ...block, notes: own };
  }
}

/** Parts that are laid out together, and their UTF-16 units; a longer part is alone, so that everything before it is available first. */
const SHARE = 16;
const SHARE_UNITS = 8192;

/** One block per turn, without adding line breaks to the text; the field's name comes before its blocks. */
function* planned({ texts, spans }: Rollout): Generator<void, PlannedPart[][]> {
  const ofField = new Map<string, Span[]>();
  for (const [i, span] of spans.entries()) {
    if (i % SPANS === SPANS - 1) yield;
    const known = ofField.get(span.field);
    if (known === undefined) ofField.set(span.field, [span]);
    else known.push(span);
  }
  const shares: PlannedPart[][] = [];
  let units = 0;
  const add = (part: Omit<PlannedPart, 'id'>): void => {
    const own = (part.spans.at(-1)?.end ?? 0) - (part.spans[0]?.start ?? 0);
    let share = shares.at(-1);
    if (share === undefined || share.length === SHARE || (share.length > 0 && units + own > SHARE_UNITS)) {
      share = [];
      shares.push(share);
      units = 0;
    }
    units += own;
    share.push({ ...part, id: `${sectionId(shares.length - 1)}.${share.length}` });
  };
  const begun = new Set<number>();
  let done = 0;
  for (const field in texts) {
    if (++done % SPANS === 0) yield;
    const text = texts[field]!;
    add({ turn: null, header: false, field, spans: [] });
    let own: Span[] = [];
    const close = (): void => {
      if (own.length === 0) return;
      const { turn } = itemAt(own, 0);
      add({ turn, header: !begun.has(turn), field, spans: own });
      begun.add(turn);
      own = [];
    };
    for (const span of ofField.get(field) ?? []) {
      if (++done % SPANS === 0) yield;
      const last = own.at(-1);
      if (last !== undefined && span.turn !== itemAt(own, 0).turn && text[last.end - 1] === '\n') close();
      own.push(span);
    }
    close();
  }
  return shares;
}

/** The parts of turns with findings. */
function* grouped(
  shares: readonly (readonly PlannedPart[])[],
  findings: ReturnType<typeof findingsByTurn>,
): Generator<void, ReadonlyMap<number, PlannedPart[]>> {
  const byTurn = new Map<number, PlannedPart[]>();
  for (const [at, share] of shares.entries()) {
    if (at % SPANS === SPANS - 1) yield;
    for (const one of share) {
      if (one.turn === null || !findings.has(one.turn)) continue;
      const known = byTurn.get(one.turn);
      if (known === undefined) byTurn.set(one.turn, [one]);
      else known.push(one);
    }
  }
  return byTurn;
}

function* blockOf({ id, turn, header, field, spans }: PlannedPart, { texts }: Rollout): Generator<void, Block> {
  const text = texts[field]!;
  const ranges: Range[] = [];
  const parts: string[] = [];
  let isSame = true;
  let start = 0;
  for (const span of spans) {
    const part = text.slice(span.start, span.end);
    const safe = yield* sanitising(part);
    isSame &&= safe === part;
    parts.push(safe);
    ranges.push({ start, end: start + safe.length, style: styleOf(span), trained: span.trained });
    start += safe.length;
    if (ranges.length % SPANS === 0) yield;
  }
  // A part of the recorded text takes no memory of its own. Spans are adjacent.
  const shown = isSame ? text.slice(spans[0]?.start, spans.at(-1)?.end) : parts.join('');
  // The newline at a block's end becomes the break to the next block.
  const body = shown.endsWith('\n') ? shown.slice(0, -1) : shown;
  return { id, turn, text: body, style: 'quiet', trained: false, indent: 0, ranges, header };
}

/** The findings beside the parts that they refer to. They are placed once: for a short part the long ones of its turn are searched, too. */
class PlacedNotes {
  readonly #rollout: Rollout;
  readonly #findings: ReturnType<typeof findingsByTurn>;
  readonly #ofTurn: ReadonlyMap<number, readonly PlannedPart[]>;
  readonly #placed = new Set<number>();
  /** By the part's id, ordered by offset. */
  readonly #notes = new Map<string, readonly Note[]>();

  constructor(
    rollout: Rollout,
    findings: ReturnType<typeof findingsByTurn>,
    ofTurn: ReadonlyMap<number, readonly PlannedPart[]>,
  ) {
    this.#rollout = rollout;
    this.#findings = findings;
    this.#ofTurn = ofTurn;
  }

  *of({ id, turn }: PlannedPart): Generator<void, readonly Note[] | undefined> {
    if (turn !== null && !this.#placed.has(turn)) yield* this.#place(turn);
    return this.#notes.get(id);
  }

  *#place(turn: number): Generator<void> {
    const findings = this.#findings.get(turn) ?? [];
    const own = this.#rollout.turns[turn];
    const parts = this.#ofTurn.get(turn) ?? [];
    if (own !== undefined && findings.length > 0 && parts.length > 0) {
      const blocks: Block[] = [];
      for (const part of parts) blocks.push(yield* blockOf(part, this.#rollout));
      for (const [id, notes] of placedNotes(blocks, own, findings)) this.#notes.set(id, notes);
    }
    this.#placed.add(turn);
  }
}

/** @param blocks all of the turn's @returns the notes of each, by its id */
function placedNotes(blocks: readonly Block[], turn: Turn, findings: readonly Finding[]): Map<string, Note[]> {
  const notes = new Map<string, Note[]>();
  const counted = new Map<string, number>();
  for (const finding of findings) {
    const nth = counted.get(finding.check) ?? 0;
    counted.set(finding.check, nth + 1);
    const words = sanitise(spokenOf(finding, turn, nth));
    const block = blocks.find(({ text }) => words !== '' && text.includes(words)) ?? lastItem(blocks);
    const at = words === '' ? -1 : block.text.indexOf(words);
    const note = findingNote(finding, at === -1 ? block.text.length : at);
    notes.set(block.id, [...(notes.get(block.id) ?? []), note]);
  }
  for (const own of notes.values()) own.sort((a, b) => a.at - b.at);
  return notes;
}
