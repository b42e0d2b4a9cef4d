import { itemAt, lastItem } from '../lists/at.ts';
import type { ReadingClass, Role } from '../rollout/rollout.ts';
import type { ChatTurn, TurnPiece } from './chat-turn.ts';
import { addPiece } from './chat-turn.ts';
import type { AskedText, Forms } from './forms.ts';
import { splitInlineResults } from './inline-results.ts';
import { isWrapped, type Reading, readZone } from './readings.ts';
import { endBefore, type Header, resultBefore, scanHeaders, withoutEmptyReplies } from './scan-headers.ts';
import { type ChatTemplate, type HeaderRule, type Shape, THINK_TAIL } from './template.ts';
import { TEMPLATES } from './templates/index.ts';
import { unmarkedTurns } from './unmarked.ts';
import { breakBetween, CLEAR, quotesBorder, voiceOf } from './voices.ts';

/** A conversation as read from its text. */
export interface SegmentedChat {
  turns: ChatTurn[];
  /** null if the text matches no known template. */
  template: ChatTemplate | null;
  /** With special tokens, any text can be split into turns. */
  class: ReadingClass;
}

/** The user says that there is no template: the prompt is one turn, and the whole response is the model's. */
export const PLAIN = 'plain';

/** User templates take precedence over built-in ones; a named template is used as it is. */
export interface TemplateChoice {
  own?: readonly ChatTemplate[];
  name?: string | null;
  /** Forms that the records beside this one repeat, asked for if no template is known. */
  forms?: (asked: AskedText) => Forms | null;
}

/**
 * The turns of a conversation, by its template's special tokens if they were kept, else by the remains. The pieces of
 * all turns, concatenated, cover prompt + response exactly, for any strings.
 */
export function segmentChat(prompt: string, response: string, choice: TemplateChoice = {}): SegmentedChat {
  if (prompt + response === '') return { turns: [], template: null, class: 'lost' };
  if (choice.name === PLAIN) return { turns: oneBlock(prompt, response, 'marked'), template: null, class: 'exact' };
  const text = prompt + response;
  const known = shapeOf(prompt, response, choice);
  if (known === null) {
    // The user names a template that the text does not match: user and text contradict each other.
    const turns =
      choice.name == null
        ? unmarkedTurns(prompt, response, choice.forms).flatMap((turn) => splitInlineResults(text, turn))
        : oneBlock(prompt, response);
    return { turns, template: null, class: 'lost' };
  }
  const { template, shape } = known;
  // An agent loop whose model said nothing writes the prompt a second time.
  const isRepeated = prompt !== '' && response.startsWith(prompt);
  const laid = isRepeated
    ? [...layTurns(shape, prompt, prompt.length), ...oneBlock('', response, 'unknown', prompt.length)]
    : givenTags(text, prompt, layTurns(shape, text, prompt.length));
  const turns = withSystem(
    shape,
    text,
    prompt.length,
    joinedTurns(shape, text, hidden(shape, text, prompt.length, withDoubt(shape, text, prompt.length, laid))),
  ).flatMap((turn) => splitInlineResults(text, turn));
  if (shape.judged === true) for (const turn of turns) if (turn.confidence === 'marked') turn.confidence = 'inferred';
  const certainty = shape === template.marked && shape.special ? 'exact' : template.class;
  // A reading with an inferred turn is not exact, whatever its template allows.
  const isExact = certainty !== 'exact' || turns.every(({ confidence }) => confidence === 'marked');
  return { turns, template, class: isExact ? certainty : 'inferred' };
}

/** The template that a text matches, and whether its special tokens were kept. */
function shapeOf(
  prompt: string,
  response: string,
  { own = [], name = null }: TemplateChoice,
): { template: ChatTemplate; shape: Shape } | null {
  const all = own.length === 0 ? TEMPLATES : [...own, ...TEMPLATES];
  const asked = name === null ? all : all.filter((template) => template.name === name);
  for (const template of asked)
    if (template.marked?.detects(prompt, response)) return { template, shape: template.marked };
  for (const template of asked)
    if (template.stripped?.detects(prompt, response)) return { template, shape: template.stripped };
  return null;
}

/** Nothing separates the turns: the prompt is not trained on, and for the response it is unknown. */
function oneBlock(
  prompt: string,
  response: string,
  confidence: ChatTurn['confidence'] = 'unknown',
  from = 0,
): ChatTurn[] {
  const turns: ChatTurn[] = [];
  const add = (role: string, start: number, end: number): void => {
    if (end > start) turns.push({ role, confidence, pieces: [{ kind: 'text', start, end }] });
  };
  add('user', from, from + prompt.length);
  add('assistant', from + prompt.length, from + prompt.length + response.length);
  return turns;
}

/**
 * Reasoning tags at the end of the generation prompt: the template also writes them after the headers of later turns.
 */
function givenTags(text: string, prompt: string, turns: ChatTurn[]): ChatTurn[] {
  const tags = GENERATED.exec(prompt)?.[1] ?? '';
  if (tags === '') return turns;
  return turns.map((turn) => {
    const at = turn.pieces.findIndex(({ kind }) => kind === 'text');
    const body = turn.pieces[at];
    if (turn.role !== 'assistant' || body === undefined || body.start < prompt.length || at === 0) return turn;
    if (body.end - body.start < tags.length || !text.startsWith(tags, body.start)) return turn;
    const cut = body.start + tags.length;
    const given = { ...body, end: cut, isGiven: true as const };
    const rest = body.end > cut ? [{ ...body, start: cut }] : [];
    return { ...turn, pieces: [...turn.pieces.slice(0, at), given, ...rest, ...turn.pieces.slice(at + 1)] };
  });
}

/** The reasoning tags after the last header of a prompt. */
const GENERATED = /(<think>\s*(?:<\/think>\s*)?|<seed:think>|\[THINK\])$/;

/** The text before the first header: nothing, or tokens that begin a text. */
const BEGIN = /^\s*(?:(?:<[^<>\s]{1,40}>|\[[A-Za-z]{1,12}\]|\]~!b\[)\s*)*$/;

const TAIL = new RegExp(`^${THINK_TAIL}$`);

/** A turn and its start: the start of its header, or of its unknown text. */
interface PlacedHeader {
  role: string;
  rule: HeaderRule | null;
  confidence: ChatTurn['confidence'];
  /** The end of the previous turn's text, at which its markers begin. */
  endStart: number;
  resultEnd: number | null;
  start: number;
  bodyStart: number;
}

function layTurns(shape: Shape, text: string, boundary: number): ChatTurn[] {
  const prompt = text.slice(0, boundary);
  const asked = scanHeaders(shape, text, 0, boundary);
  const placed: PlacedHeader[] = [];
  const opening = asked[0];
  // If a text begins without a header, the text before the first one has the role that the template gives it.
  const startsWithHeader = opening !== undefined && BEGIN.test(text.slice(0, opening.start));
  const first: PlacedHeader = startsWithHeader
    ? { ...placedOf(opening, 'marked'), endStart: 0, start: 0 }
    : {
        role: boundary === 0 ? 'assistant' : (shape.before ?? 'user'),
        rule: null,
        confidence: shape.before === undefined && boundary > 0 ? 'inferred' : 'marked',
        endStart: 0,
        resultEnd: null,
        start: 0,
        bodyStart: 0,
      };
  const inPrompt = startsWithHeader ? asked.slice(1) : asked;
  const generation = generationOf(asked, prompt);
  placed.push(first);
  const isAlone = generation !== null && generation === opening && startsWithHeader;
  const between = generation === null || isAlone ? inPrompt : inPrompt.slice(0, -1);
  if (boundary > 0) {
    const next = isAlone ? null : generation;
    addHeader(
      placed,
      readZone({
        text: prompt,
        shape,
        first: first,
        headers: isAlone ? [] : between,
        next,
        sampled: false,
      }),
    );
    if (next !== null) placed.push(placedOf(next, 'marked'));
  }
  const scanned = scanHeaders(shape, text, boundary, text.length);
  const headers = shape.special === true ? scanned : withoutEmptyReplies(scanned, text, boundary);
  // The response is the model's from its start: after the generation prompt, or after a reply that the prompt begins.
  const again = headers[0]?.role === 'assistant' && headers[0].start === boundary ? headers.shift()! : null;
  const open = lastItem(placed);
  if (
    boundary < text.length &&
    boundary > 0 &&
    open.role !== 'assistant' &&
    again === null &&
    headers[0]?.start !== boundary
  ) {
    placed.push({
      role: 'assistant',
      rule: null,
      confidence: generation === null ? 'inferred' : 'marked',
      endStart: boundary,
      resultEnd: null,
      start: boundary,
      bodyStart: boundary,
    });
  } else if (again !== null && open.role !== 'assistant') placed.push(placedOf(again, 'marked'));
  const answering = lastItem(placed);
  const opened = placed.length;
  if (boundary === 0) {
    const begins =
      again ?? (headers[0] !== undefined && BEGIN.test(text.slice(0, headers[0].start)) ? headers.shift()! : null);
    if (begins !== null) placed[0] = { ...placedOf(begins, 'marked'), endStart: 0, start: 0 };
  }
  addHeader(
    placed,
    readZone({
      text,
      shape,
      first: boundary === 0 ? itemAt(placed, 0) : answering,
      headers,
      next: null,
      sampled: true,
    }),
  );
  const repeated = again !== null && open.role === 'assistant' && boundary > 0 ? again : null;
  return turnPieces(shape, text, placed, repeated, opened - 1);
}

const placedOf = (
  { role, rule, endStart, resultEnd, start, bodyStart }: Header,
  confidence: PlacedHeader['confidence'],
): PlacedHeader => ({
  role,
  rule,
  confidence,
  endStart,
  resultEnd,
  start,
  bodyStart,
});

/** The assistant header at the end of the prompt, followed only by what templates put there. */
function generationOf(headers: readonly Header[], prompt: string): Header | null {
  const last = headers.at(-1);
  return last?.role === 'assistant' && TAIL.test(prompt.slice(last.bodyStart)) ? last : null;
}

/** The borders of a zone, and its unknown text, in text order. */
function addHeader(placed: PlacedHeader[], { borders, unknown, opensJudged }: Reading): void {
  const found = [
    ...borders.map(({ header, judged }) => ({ turn: placedOf(header, judged ? 'inferred' : 'marked'), judged })),
    ...unknown.map(({ start }) => ({
      turn: { ...placedOf(start, 'unknown'), role: 'unknown', bodyStart: start.start },
      judged: false,
    })),
  ].sort((a, b) => a.turn.start - b.turn.start);
  const open = lastItem(placed);
  if (opensJudged === true && open.confidence === 'marked') open.confidence = 'inferred';
  for (const { turn, judged } of found) {
    // A turn is as certain as the borders on both sides of it.
    const before = lastItem(placed);
    if (judged && before.confidence === 'marked') before.confidence = 'inferred';
    placed.push(turn);
  }
}

function turnPieces(
  shape: Shape,
  text: string,
  placed: readonly PlacedHeader[],
  repeated: Header | null,
  answering: number,
): ChatTurn[] {
  const turns: ChatTurn[] = [];
  for (const [i, here] of placed.entries()) {
    const next = placed[i + 1];
    const turn: ChatTurn = { role: here.role, confidence: here.confidence, pieces: [] };
    addPiece(turn, 'marker', here.start, here.bodyStart);
    const limit = next?.start ?? text.length;
    const end = Math.max(here.bodyStart, textEnd(shape, text, here, next, limit));
    if (repeated !== null && i === answering) {
      addPiece(turn, 'text', here.bodyStart, repeated.start);
      addPiece(turn, 'marker', repeated.start, repeated.bodyStart);
      addPiece(turn, 'text', Math.max(here.bodyStart, repeated.bodyStart), Math.max(repeated.bodyStart, end));
      addEnd(turn, Math.max(repeated.bodyStart, end), limit);
    } else {
      addPiece(turn, 'text', here.bodyStart, end);
      addEnd(turn, end, limit);
    }
    turns.push(turn);
  }
  return turns;
}

/** The piece after a turn's text, which may contain the token with which the model ended it. */
function addEnd(turn: ChatTurn, start: number, end: number): void {
  if (end > start) turn.pieces.push({ start, end, kind: 'marker', isEnd: true });
}

/** The end of a turn's text: before the template text that follows it, and before the closing tag of a result. */
function textEnd(
  shape: Shape,
  text: string,
  here: PlacedHeader,
  next: PlacedHeader | undefined,
  limit: number,
): number {
  if (here.confidence === 'unknown') return limit;
  // After a last turn that the model wrote, a newline is part of it unless an end token comes before.
  const endStart =
    next !== undefined
      ? next.endStart
      : here.role === 'assistant' && shape.special !== true
        ? limit
        : endBefore(shape, text, limit, here.bodyStart);
  if (!isWrapped(shape, here)) return endStart;
  return (next === undefined ? resultBefore(shape, text, endStart, here.bodyStart) : next.resultEnd) ?? endStart;
}

/**
 * The model may write a header in a response itself. A user turn there is certain only if the environment has a fixed
 * form (the same words twice), or if the model's end token comes before it.
 */
function withDoubt({ special }: Shape, text: string, boundary: number, turns: ChatTurn[]): ChatTurn[] {
  const hasEnds = turns.some(({ pieces }) => pieces.some(({ isEnd, start }) => isEnd === true && start < boundary));
  const isDoubtful = (turn: ChatTurn, i: number): boolean =>
    turn.role === 'user' &&
    turn.confidence === 'marked' &&
    itemAt(turn.pieces, 0).start >= boundary &&
    turns[i - 1]?.role === 'assistant' &&
    (special !== true || (hasEnds && itemAt(turns, i - 1).pieces.every(({ isEnd }) => isEnd !== true)));
  if (!turns.some(isDoubtful)) return turns;
  const said = new Map<string, number>();
  const wordsOf = (turn: ChatTurn): string =>
    turn.pieces
      .filter(({ kind }) => kind === 'text')
      .map(({ start, end }) => text.slice(start, end))
      .join('')
      .trim()
      .replace(/\d+/g, '0');
  for (const turn of turns)
    if (turn.role === 'user' && itemAt(turn.pieces, 0).start >= boundary)
      said.set(wordsOf(turn), (said.get(wordsOf(turn)) ?? 0) + 1);
  return turns.map((turn, i) =>
    isDoubtful(turn, i) && (said.get(wordsOf(turn)) ?? 0) < 2 ? { ...turn, confidence: 'inferred' } : turn,
  );
}

/**
 * Turns that may contain another one without a trace are unknown, unless one place divides them; the others are
 * inferred.
 */
function hidden({ hides }: Shape, text: string, boundary: number, turns: ChatTurn[]): ChatTurn[] {
  if (hides === undefined) return turns;
  const isQuoting = turns.some((turn) => quotesBorder(turnText(text, turn).replace(GIVEN_BY_GLM, '')));
  return turns.flatMap((turn, i): ChatTurn[] => {
    if (isQuoting) return [unknownTurn(turn)];
    if (turn.pieces.every(({ end }) => end <= boundary))
      return turns.some(({ role, pieces }) => role === 'assistant' && pieces.every(({ end }) => end < boundary))
        ? [unknownTurn(turn)]
        : givenByLines(text, turn);
    if (turn.role !== 'assistant') return [turn];
    if (turns[i + 1] !== undefined && turns[i + 1]?.role !== 'tool')
      return (
        dividedAt(turn, turnBody(turn), breakBetween(turnText(text, turn), 'assistant'), hides) ?? [unknownTurn(turn)]
      );
    return [turn.confidence === 'marked' ? { ...turn, confidence: 'inferred' } : turn];
  });
}

/** The model's words after a result are inferred, if a line break in it may separate two messages. */
function joinedTurns({ joins }: Shape, text: string, turns: ChatTurn[]): ChatTurn[] {
  if (joins !== true) return turns;
  return turns.map((turn, i) =>
    turn.role === 'assistant' &&
    turn.confidence === 'marked' &&
    turns[i - 1]?.role !== 'user' &&
    /[^\n]\n[^\n]/.test(turnText(text, turn))
      ? { ...turn, confidence: 'inferred' }
      : turn,
  );
}

const unknownTurn = (turn: ChatTurn): ChatTurn => ({ ...turn, role: 'unknown', confidence: 'unknown' });
const turnBody = (turn: ChatTurn): TurnPiece | undefined => turn.pieces.find(({ kind }) => kind === 'text');
const turnText = (text: string, turn: ChatTurn): string => {
  const body = turnBody(turn);
  return body === undefined ? '' : text.slice(body.start, body.end);
};

/** Reasoning before a reply, and what the template says of tools. */
const GIVEN_BY_GLM = /^\s*<think>[\s\S]*?<\/think>|^[\s\S]*\n<\/tool_call>\n(?=\S)/;
/** The end of what GLM's template says of tools. */
const TOOLS_SAID = /^[\s\S]*\n<\/tool_call>\n(?=\S)/;
/** How a system text begins. */
const INSTRUCTS = /^\s*(?:You are(?! given\b)|You're|Your (?:task|role|job|name)|Act as|As an? |Use )/;

/** A prompt whose system and user text have one line break between them. */
function givenByLines(text: string, turn: ChatTurn): ChatTurn[] {
  const unknown: ChatTurn = { ...turn, confidence: 'unknown' };
  const body = turnBody(turn);
  const said = turnText(text, turn);
  if (body === undefined || turn.role !== 'user') return [unknown];
  const tools = TOOLS_SAID.exec(said)?.[0].length ?? 0;
  const rest = said.slice(tools);
  const lead = /^\n*/.exec(rest)?.[0].length ?? 0;
  const isInstructed = INSTRUCTS.test(rest);
  const at = breakBetween(rest.slice(lead), 'system');
  if (at === null) {
    if (isInstructed || /[^\n]\n[^\n]/.test(rest)) return [unknown];
    return tools === 0
      ? [{ ...turn, confidence: 'inferred' }]
      : (dividedAt(turn, body, tools - 1, 'user', 'system') ?? [unknown]);
  }
  // A task in paragraphs has such places itself.
  if (!isInstructed && voiceOf(rest.slice(lead + at)) > -CLEAR) return [unknown];
  return dividedAt(turn, body, tools + lead + at, 'user', 'system') ?? [unknown];
}

/** A turn in two, at a line break in its text. */
function dividedAt(
  turn: ChatTurn,
  body: TurnPiece | undefined,
  at: number | null,
  role: Role,
  first: Role = turn.role,
): ChatTurn[] | null {
  if (body === undefined || at === null) return null;
  const cut = body.start + at;
  const before: ChatTurn = {
    role: first,
    confidence: 'inferred',
    pieces: [...turn.pieces.filter(({ end }) => end <= body.start), { ...body, end: cut }],
  };
  const after: ChatTurn = { role, confidence: 'inferred', pieces: [] };
  addPiece(after, 'marker', cut, cut + 1);
  addPiece(after, 'text', cut + 1, body.end);
  after.pieces.push(...turn.pieces.filter(({ start }) => start >= body.end));
  return [before, after];
}

/**
 * How model instructions begin that a template wrote into a user turn, up to the empty line after them. Behind further
 * empty lines they may go on. "You are given" begins a task.
 */
const INSTRUCTIONS =
  /^(?:You are(?! (?:given|asked|provided|presented|to)\b)|You're|Your (?:role|job|name)|Act as|As an? )[^\n]*(?:\n[^\n]+)*\n\n(?=\S)(?![\s\S]*\n\s*\n\S)/;

/** Splits the system text from the user's, if the template put it there; inferred from how it begins. */
function withSystem({ systemIn }: Shape, text: string, boundary: number, turns: ChatTurn[]): ChatTurn[] {
  if (systemIn === undefined) return turns;
  const ofUser = (turn: ChatTurn): boolean => turn.role === 'user' && turn.pieces.every(({ end }) => end <= boundary);
  const at = systemIn === 'first' ? turns.findIndex(ofUser) : turns.findLastIndex(ofUser);
  const turn = turns[at];
  const body = turn?.pieces.find(({ kind }) => kind === 'text');
  if (turn === undefined || body === undefined) return turns;
  const length = INSTRUCTIONS.exec(text.slice(body.start, body.end))?.[0].length;
  if (length === undefined) return turns;
  const cut = body.start + length;
  const system: ChatTurn = {
    role: 'system',
    confidence: 'inferred',
    pieces: turn.pieces.filter(({ end }) => end <= body.start),
  };
  addPiece(system, 'text', body.start, cut - 2);
  addPiece(system, 'marker', cut - 2, cut);
  const user: ChatTurn = {
    role: 'user',
    confidence: 'inferred',
    pieces: [{ ...body, start: cut }, ...turn.pieces.filter(({ start }) => start >= body.end)],
  };
  return [...turns.slice(0, at), system, user, ...turns.slice(at + 1)];
}
