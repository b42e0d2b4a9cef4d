import { itemAt, lastItem } from '../lists/at.ts';
import { likelyBorders, PROSE_WEIGHT, weightOf } from './likely.ts';
import { endBefore, type Header, resultBefore } from './scan-headers.ts';
import { type HeaderRule, type Shape, THINK_TAIL } from './template.ts';
import type { Zone } from './zone.ts';

/** The borders of a zone, as far as they are known. */
export interface Reading {
  /** Headers that are certainly borders, in order. */
  borders: { header: Header; judged: boolean }[];
  /** The turn that is open at the start of the zone contains words that may be a header, so it is inferred too. */
  opensJudged?: true;
  /** The start of text whose turn is unknown, and the border after it (null: the end of the zone). */
  unknown: { start: Header; until: Header | null }[];
}

const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user'],
  user: ['assistant'],
  assistant: ['user', 'tool'],
  tool: ['tool', 'assistant'],
};
/** For a role in no table: a name that represents one. */
const OTHER = ['user', 'assistant', 'tool', 'system'];

type ReadingNode = Zone['first'] | Header;

/** Does the model message that begins here end its turn? */
function endsTurn({ final }: Shape, text: string, at: number): boolean {
  return final !== undefined && text.startsWith(final, at);
}

/** A generation prompt: a header, and the text that templates add after it. */
const TAIL = new RegExp(`^${THINK_TAIL}$`);
const MAX_TAIL = 64;

const isPrompt = ({ text }: Zone, { role, bodyStart }: Header): boolean =>
  role === 'assistant' && text.length - bodyStart < MAX_TAIL && TAIL.test(text.slice(bodyStart));

/** May `header` follow the text of `before`? @param adjacent no other header is between them */
function mayFollow(zone: Zone, before: ReadingNode, header: Header, adjacent: boolean): boolean {
  const { shape, text } = zone;
  if (isWrapped(shape, before) && header.resultEnd === null) return false;
  if (before.role === 'tool' && saysCall(text.slice(before.bodyStart, header.endStart), header.rule)) return false;
  // The generation prompt ends the text, whoever spoke last.
  const atEnd = isPrompt(zone, header);
  if (atEnd && shape.special === true && header !== zone.next) return true;
  if (header.rule.adjacent === true && !adjacent) return false;
  if (header.rule.after !== undefined) return header.rule.after.includes(before.role);
  if (before.rule?.leads?.includes(header.role)) return true;
  if (atEnd && before.role !== 'assistant' && (before.role !== 'system' || adjacent)) return true;
  if (adjacent && before.role === 'user' && text.slice(before.bodyStart, header.endStart).trim() === '') return false;
  if (before.role === 'assistant' && header.role === 'assistant' && endsTurn(shape, text, before.bodyStart))
    return false;
  return (shape.follows?.[before.role] ?? FOLLOWS[before.role] ?? OTHER).includes(header.role);
}

/** The longest text of a call. */
const MAX_CALL = 4096;

const saysCall = (text: string, { answers }: HeaderRule): boolean =>
  answers !== undefined && new RegExp(`(?:${answers})\\s*$`).test(text.slice(-MAX_CALL));

/** A result whose header opens a tag must close it. */
export const isWrapped = (shape: Shape, { rule }: { rule: HeaderRule | null }): boolean =>
  rule?.role === 'tool' && rule.bare !== true && shape.resultEnd !== undefined;

/** Is the conversation legal if exactly these headers are borders? */
function isLegal(zone: Zone, headers: readonly Header[], all: ReadonlyMap<Header, number>): boolean {
  let before: ReadingNode = zone.first;
  let at = -1;
  const following = zone.next === null ? headers : [...headers, zone.next];
  for (const header of following) {
    const index = all.get(header) ?? all.size;
    if (!mayFollow(zone, before, header, index === at + 1)) return false;
    before = header;
    at = index;
  }
  return zone.next !== null || !isOpen(zone, before);
}

/** A result left open at the end of the text: it was cut, or its header is a quote. */
const isOpen = ({ shape, text }: Zone, last: ReadingNode): boolean =>
  isWrapped(shape, last) &&
  resultBefore(shape, text, endBefore(shape, text, text.length, last.bodyStart), last.bodyStart) === null;

/**
 * The rule: if the conversation is legal with every header as a border, that is the reading. Otherwise some header is
 * text that a user or a tool wrote, and only what all legal conversations share is certain. Text between two such
 * borders with several readings has no known turn. Words that also occur in prose (weak) are borders where that is
 * legal, and then inferred.
 */
export function readZone(zone: Zone): Reading {
  const sure = sureReading(zone);
  return sure.unknown.length === 0 || zone.shape.special === true ? sure : (likely(zone, sure) ?? sure);
}

/** Fills in what the strict reading left unknown with the most likely reading; its borders are inferred. */
function likely(zone: Zone, sure: Reading): Reading | null {
  const certain = new Set(sure.borders.filter(({ judged }) => !judged).map(({ header }) => header));
  const weighed = zone.headers
    .map((header) => ({ header, weight: certain.has(header) ? CERTAIN : weightOf(zone, header) }))
    .filter(({ weight }) => weight > PROSE_WEIGHT);
  if (weighed.length > MAX_HEADERS) return null;
  const taken = likelyBorders(zone, weighed, (before, header, adjacent) => mayFollow(zone, before, header, adjacent));
  if (taken === null) return null;
  const reading: Reading = { borders: [], unknown: [] };
  let doubt: Header | null = null;
  for (const [i, { header }] of weighed.entries()) {
    if (taken[i] === null) doubt ??= header;
    else if (taken[i]) {
      if (doubt !== null) reading.unknown.push({ start: doubt, until: header });
      doubt = null;
      reading.borders.push({ header, judged: !certain.has(header) });
    }
  }
  if (doubt !== null) reading.unknown.push({ start: doubt, until: null });
  // A turn that continues over words that may be a header is inferred.
  const stops = new Set([...reading.borders.map(({ header }) => header), ...reading.unknown.map(({ start }) => start)]);
  for (const { start, until } of sure.unknown) {
    for (const border of reading.borders)
      if (border.header.start >= start.start && (until === null || border.header.start < until.start))
        border.judged = true;
    if (stops.has(start)) continue;
    const open = reading.borders.findLast(({ header }) => header.start <= start.start);
    if (open !== undefined) open.judged = true;
    else reading.opensJudged = true;
  }
  return reading;
}

/** The weight of a header that every legal conversation has. */
const CERTAIN = 100;

function sureReading(zone: Zone): Reading {
  const all = new Map(zone.headers.map((header, index) => [header, index]));
  const hasWeak = zone.headers.some(({ rule }) => rule.weak === true);
  const sure = placedHeaders(
    zone,
    zone.headers.filter(({ rule }) => rule.weak !== true),
  );
  const isClean = isLegal(zone, sure, all);
  if (isClean && !hasWeak) {
    const last = zone.sampled ? lastSaid(zone, sure) : -1;
    if (mayBeQuoted(zone, sure[last]))
      return {
        borders: sure.slice(0, last).map((header) => ({ header, judged: false })),
        unknown: [{ start: itemAt(sure, last), until: null }],
      };
    return { borders: sure.map((header) => ({ header, judged: false })), unknown: [] };
  }
  const every = placedHeaders(zone, zone.headers);
  // Words that are nearly always a header, beside a conversation that is legal without them.
  if (
    isClean &&
    every.every(({ rule }) => rule.weak !== true || rule.weight !== undefined) &&
    isLegal(zone, every, all)
  )
    return { borders: every.map((header) => ({ header, judged: header.rule.weak === true })), unknown: [] };
  if (!isClean && hasWeak && isLegal(zone, every, all)) {
    // A border that every legal conversation needs is certain, whatever its word.
    const certain = new Set(shared(zone)?.borders.map(({ header }) => header));
    return { borders: every.map((header) => ({ header, judged: !certain.has(header) })), unknown: [] };
  }
  return shared(zone) ?? lost(zone);
}

/** The last header that is followed by text. */
const lastSaid = (zone: Zone, headers: readonly Header[]): number =>
  headers.length - (zone.shape.special === true && headers.length > 1 && isPrompt(zone, lastItem(headers)) ? 2 : 1);

/**
 * A reply that ends by quoting a header (a user's, or that of an untagged result) looks the same as a user's or tool's
 * last words.
 */
const mayBeQuoted = ({ shape }: Zone, last: Header | undefined): boolean =>
  last?.role === 'user' || (last?.role === 'tool' && !isWrapped(shape, last));

/** Leaves out words that are headers only after one role, if they follow another. */
function placedHeaders(zone: Zone, headers: readonly Header[]): Header[] {
  let before = zone.first.role;
  return headers.filter(({ role, rule }) => {
    if (rule.prose === true && rule.after?.includes(before) === false) return false;
    before = role;
    return true;
  });
}

/** Nothing is legal: everything after the first header is unknown. */
function lost({ headers }: Zone): Reading {
  const first = headers[0];
  return { borders: [], unknown: first === undefined ? [] : [{ start: first, until: null }] };
}

/** A text with more headers than this is not a conversation but a text made of role words. */
const MAX_HEADERS = 400;

/**
 * The borders that all legal conversations share. Headers are nodes, with an edge to each header that may be the next
 * border. A border is shared if no edge of any complete path skips it. A conversation may end with a user's words here,
 * though that alone is never clean.
 */
function shared(zone: Zone): Reading | null {
  const { headers, next } = zone;
  if (headers.length > MAX_HEADERS) return null;
  const nodes: ReadingNode[] = [zone.first, ...headers];
  const end = nodes.length;
  const targets = (from: number): number[] => {
    const found: number[] = [];
    for (let to = from + 1; to <= end; to++) {
      const target = to === end ? next : itemAt(headers, to - 1);
      if (target === null || mayFollow(zone, itemAt(nodes, from), target, to === from + 1)) found.push(to);
    }
    return found;
  };
  const edges = nodes.map((_, from) => targets(from));
  const reached = new Array<boolean>(end + 1).fill(false);
  reached[0] = true;
  for (const [from, tos] of edges.entries()) if (reached[from]) for (const to of tos) reached[to] = true;
  const leads = new Array<boolean>(end + 1).fill(false);
  leads[end] = true;
  for (let from = end - 1; from >= 0; from--) leads[from] = itemAt(edges, from).some((to) => leads[to]);
  if (!reached[end] || !leads[0]) return null;
  const reading: Reading = { borders: [], unknown: [] };
  let over = 0;
  let unknown: Header | null = null;
  for (let index = 0; index < end; index++) {
    if (!reached[index] || !leads[index]) continue;
    const header = headers[index - 1];
    if (header !== undefined && over <= index) {
      if (unknown !== null) reading.unknown.push({ start: unknown, until: header });
      unknown = null;
      reading.borders.push({ header, judged: false });
    } else if (header !== undefined) unknown ??= header;
    for (const to of itemAt(edges, index)) if (leads[to]) over = Math.max(over, to);
  }
  if (unknown !== null) reading.unknown.push({ start: unknown, until: null });
  return reading;
}
