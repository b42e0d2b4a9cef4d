import { itemAt } from '../../../core/lists/at.ts';
import { checkWord } from '../../../core/rollout/checks.ts';
import type { Finding } from '../../../core/rollout/finding.ts';
import type { Turn } from '../../../core/rollout/rollout.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../line.ts';
import type { Style } from '../theme.ts';
import type { Block, Note, Range } from './block.ts';

const TRACEBACK = 'Traceback (most recent call last):';
const CUT = '(truncated)';
const OWN_RESPONSE = '<tool_response>';

/** The line of a text that names its failure: the exception line after its last traceback, else its first nonblank line. */
export function errorLine(text: string): { start: number; end: number } {
  const traceback = text.lastIndexOf(TRACEBACK);
  if (traceback === -1) {
    const start = text.search(/\S/);
    return start === -1 ? { start: 0, end: 0 } : lineFrom(text, start);
  }
  // Frames are indented; the first line that is not indented names the exception.
  for (let at = text.indexOf('\n', traceback); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (/\S/.test(text[at + 1] ?? ' ')) return lineFrom(text, at + 1);
  }
  // Truncated inside the traceback: the last line is all there is.
  const end = text.trimEnd().length;
  return { start: text.lastIndexOf('\n', end - 1) + 1, end };
}

function lineFrom(text: string, start: number): { start: number; end: number } {
  const newline = text.indexOf('\n', start);
  return { start, end: newline === -1 ? text.length : newline };
}

/** The part of the turn's shown text that a finding refers to; null if that part is not shown. */
function subject({ check }: Finding, text: string): { start: number; end: number } | null {
  if (check === 'tool_error') return errorLine(text);
  if (check === 'tool_cut') return word(text, CUT);
  if (check === 'own_tool_response') return word(text, OWN_RESPONSE);
  return null;
}

/**
 * The words of a turn that a finding refers to, '' for its end. `nth`: how many findings of the same check precede it, because each call
 * has one.
 */
export function spokenOf(finding: Finding, turn: Turn, nth: number): string {
  const found = subject(finding, turn.text);
  if (found !== null) return turn.text.slice(found.start, found.end);
  const meant = turn.toolCalls.filter(({ error, resultTurn }) => {
    if (finding.check === 'call_without_result') return error === null && resultTurn === null;
    return finding.check === 'call_unparsed' && error !== null;
  });
  return meant[nth]?.raw.trim().split('\n', 1)[0] ?? '';
}

function word(text: string, what: string): { start: number; end: number } | null {
  const start = text.indexOf(what);
  return start === -1 ? null : { start, end: start + what.length };
}

export const findingStyle = ({ severity }: Pick<Finding, 'severity'>): Style =>
  severity === 'error' ? 'error' : 'warning';

export const findingNote = (finding: Pick<Finding, 'message' | 'severity'>, at: number): Note => ({
  at,
  text: sanitiseLine(finding.message),
  style: findingStyle(finding),
  place: 'edge',
  sign: true,
});

/** The findings of a turn that are not placed yet: each is drawn once, at the first text it refers to. */
export class Unplaced {
  #findings: Finding[];

  constructor(findings: readonly Finding[]) {
    this.#findings = [...findings];
  }

  get all(): readonly Finding[] {
    return this.#findings;
  }

  /** The first matching finding, which is then placed. */
  take(meant: (finding: Finding) => boolean): Finding | null {
    const at = this.#findings.findIndex(meant);
    return at === -1 ? null : itemAt(this.#findings.splice(at, 1), 0);
  }

  /** A block of text with its findings, the words themselves in the finding's style. */
  mark(block: Block): Block {
    const notes: Note[] = [];
    const ranges: Range[] = [];
    for (const finding of [...this.#findings]) {
      const found = subject(finding, block.text);
      if (found === null) continue;
      this.take((other) => other === finding);
      notes.push(findingNote(finding, found.start));
      if (found.end > found.start) ranges.push({ ...found, style: findingStyle(finding) });
    }
    if (notes.length === 0) return block;
    const marked = { ...block, notes: notes.sort((a, b) => a.at - b.at) };
    // Ranges of the mask are kept: the gutter is drawn from them.
    return block.ranges === undefined ? { ...marked, ranges: rangesApart(ranges) } : marked;
  }
}

/** In order, without overlap. */
function rangesApart(ranges: readonly Range[]): Range[] {
  const kept: Range[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    if (range.start >= (kept.at(-1)?.end ?? 0)) kept.push(range);
  }
  return kept;
}

/** For a turn folded to a line, which names the tool and what it failed with: its findings, in a word each. */
export function foldedPieces(findings: readonly Finding[]): Piece[] {
  const words = new Map(findings.map((finding) => [checkWord(finding.check), findingStyle(finding)]));
  return [...words].map(([word, style]) => [style, `! ${word}`] as const);
}

/** By turn; findings about the whole record are in the head. */
export function findingsByTurn(findings: readonly Finding[]): ReadonlyMap<number, readonly Finding[]> {
  const byTurn = new Map<number, Finding[]>();
  for (const finding of findings) {
    if (finding.turn === null) continue;
    const known = byTurn.get(finding.turn);
    if (known === undefined) byTurn.set(finding.turn, [finding]);
    else known.push(finding);
  }
  return byTurn;
}
