import { addPiece, type ChatTurn } from './chat-turn.ts';
import { type AskedText, bordersByForms, type Forms, isOneText } from './forms.ts';
import { alternates, gluesIn, quotesBorder, voiceOf } from './voices.ts';

/**
 * Text without a template, or of one that leaves nothing between turns. The reading is heuristic: calls and results by
 * their JSON, an exchange by sentences that touch without a blank. No turn of it is certain.
 */
export function unmarkedTurns(
  prompt: string,
  response: string,
  formsOfDump?: (asked: AskedText) => Forms | null,
): ChatTurn[] {
  const text = prompt + response;
  if (quotesBorder(text.replaceAll(THOUGHT, '')))
    return [
      unmarkedTurn('user', 'unknown', 0, prompt.length),
      unmarkedTurn('assistant', 'unknown', prompt.length, text.length),
    ].filter(({ pieces }) => pieces.length > 0);
  const forms = formsOfDump?.({ prompt, response }) ?? null;
  const turns = [...givenTurns(prompt, forms), ...(response === '' ? [] : repliedTurns(text, prompt.length, forms))];
  return turns.filter(({ pieces }) => pieces.length > 0);
}

/** Reasoning that a model writes in tags. */
const THOUGHT = /<think>[\s\S]*?<\/think>/g;

const unmarkedTurn = (role: string, confidence: ChatTurn['confidence'], start: number, end: number): ChatTurn => {
  const turn: ChatTurn = { role, confidence, pieces: [] };
  addPiece(turn, 'text', start, end);
  return turn;
};

/** How a system message begins. */
const INSTRUCTS = /^\s*(?:#+ |You are|You're|Your (?:task|role|job|name)|Act as|As an? |Use )/;
/** The schemas of tools, as one JSON list. */
const SCHEMAS = /\[\{"type": ?"function"/;

/** Separates system and user by the list of tools between them, or the place where two texts touch. */
function givenTurns(prompt: string, forms: Forms | null): ChatTurn[] {
  if (prompt === '') return [];
  const schemas = SCHEMAS.exec(prompt);
  const listEnd = schemas === null ? 0 : (jsonEnd(prompt, schemas.index) ?? 0);
  const cut = systemLength(prompt, schemas === null ? null : schemas.index, listEnd, forms);
  if (cut === null) return [unmarkedTurn('user', 'unknown', 0, prompt.length)];
  const user = unmarkedTurn('user', 'inferred', cut, prompt.length);
  return cut === 0 ? [user] : [unmarkedTurn('system', 'inferred', 0, cut), user];
}

/** Phi-4-mini's tags of tools; the last one ends the system text. */
const TOOL_TAG = /^[\s\S]*<\|\/tool(?:_call)?\|>(?=\S)/;

/** The length of the system text at the start of the prompt; null if unknown. */
function systemLength(prompt: string, listStart: number | null, listEnd: number, forms: Forms | null): number | null {
  const tools = TOOL_TAG.exec(prompt)?.[0].length;
  if (tools !== undefined) return tools;
  if (prompt.includes('<|')) return null;
  const [touching, ...more] = gluesIn(prompt, Math.max(1, listEnd));
  // The system text comes before the list of tools, and everything after it is the user's.
  if (listStart !== null && listStart > 0) return touching === undefined ? listEnd : null;
  if (more.length > 0) return null;
  if (touching !== undefined) return touching;
  if (listEnd === 0 && forms?.heads.some((head) => isOneText(prompt, head))) return 0;
  return INSTRUCTS.test(prompt.slice(listEnd)) ? null : listEnd;
}

/** Signs of a speaker other than the model, which this reading does not handle. */
const OTHER_VOICES =
  /(?:^|\n)[ \t]*(?:user|assistant|system|tool|human|observation|environment)[ \t]*(?::|\n)|<\/?(?:tool_response|tool_result|observation|obs|information|interpreter|result|output|function_results)>|```output|<\|\w|[\w)\]]\{"/i;

function repliedTurns(text: string, from: number, forms: Forms | null): ChatTurn[] {
  const borders = bordersByForms({ prompt: text.slice(0, from), response: text.slice(from) }, forms);
  if (borders !== null)
    return [from, ...borders].map((start, i) =>
      unmarkedTurn(i % 2 === 0 ? 'assistant' : 'user', 'inferred', start, borders[i] ?? text.length),
    );
  const called = turnsWithResults(text, from);
  if (called !== null) return called;
  const replies = spokenTurns(text, from, text.length);
  const isDialogue = replies.length > 1;
  if (!isDialogue && OTHER_VOICES.test(text.slice(from)))
    return [unmarkedTurn('assistant', 'unknown', from, text.length)];
  return replies[0]?.role === 'unknown' ? [unmarkedTurn('assistant', 'unknown', from, text.length)] : replies;
}

/** A reply, or replies and words of the user between them; unknown if texts touch that do not speak like those. */
function spokenTurns(text: string, from: number, to: number): ChatTurn[] {
  const schemas = SCHEMAS.exec(text.slice(from, to));
  if (schemas === null)
    return exchangeTurns(text, from, to, 'assistant') ?? [unmarkedTurn('unknown', 'unknown', from, to)];
  // Mistral writes the tools before the user's last message.
  const list = from + schemas.index;
  const listEnd = jsonEnd(text, list);
  const before = exchangeTurns(text, from, list, 'assistant');
  const after = listEnd === null || listEnd > to ? null : exchangeTurns(text, listEnd, to, 'user');
  return before?.at(-1)?.role === 'assistant' && after !== null && listEnd !== null
    ? [...before, unmarkedTurn('system', 'inferred', list, listEnd), ...after]
    : [unmarkedTurn('unknown', 'unknown', from, to)];
}

/** Texts that touch, by turns of assistant and user; null if they do not speak like those. */
function exchangeTurns(text: string, from: number, to: number, first: 'assistant' | 'user'): ChatTurn[] | null {
  const cuts = [from, ...gluesIn(text.slice(0, to), from), to];
  const pieces = cuts.slice(1).map((end, i) => ({ start: cuts[i] ?? from, end }));
  const said = pieces.map(({ start, end }) => text.slice(start, end));
  if (pieces.length > 1 && !alternates(said, first)) return null;
  const other = first === 'assistant' ? 'user' : 'assistant';
  return pieces.map(({ start, end }, i) => unmarkedTurn(i % 2 === 0 ? first : other, 'inferred', start, end));
}

/** A call in the forms that survive stripping: a JSON list, a tag, or a known name with an id and arguments. */
const callPattern = (known: ReadonlySet<string>): RegExp => {
  const names = [...known]
    .sort((a, b) => b.length - a.length)
    .map((name) => `${name.length < 4 ? '(?<![\\p{L}_])' : ''}${name.replaceAll('.', '\\.')}`);
  return new RegExp(
    `\\[\\{"name": ?"[\\w.-]+", ?"arguments": ?|(?:${names.join('|')})([A-Za-z0-9]{9})?(?=\\{["}])|<\\|tool_call\\|>`,
    'gu',
  );
};

/**
 * Calls and the results after them; null if the text has none whose result can be separated from the reply after it.
 */
function turnsWithResults(text: string, from: number): ChatTurn[] | null {
  const known = promptNames(text.slice(0, from));
  if (known.size === 0) return null;
  const calls = callPattern(known);
  const turns: ChatTurn[] = [];
  let start = from;
  for (let call = callFrom(text, from, calls); call !== null; call = callFrom(text, start, calls)) {
    const results: ChatTurn[] = [];
    const { end, isKnown } = resultsEnd(text, call, calls, results);
    // Fewer results than calls: the calls were made one by one, and most were answered with nothing.
    const [first = call.end, ...more] = results.length < call.ends.length ? call.ends : [call.end];
    turns.push(...saidTurns(text, start, call.start, first));
    for (const [i, stop] of more.entries())
      turns.push(unmarkedTurn('assistant', 'inferred', i === 0 ? first : (more[i - 1] ?? first), stop));
    turns.push(...results);
    if (!isKnown) {
      // The end of a result in words is unknown.
      if (end < text.length) turns.push(unmarkedTurn('unknown', 'unknown', end, text.length));
      return turns;
    }
    start = end;
  }
  if (turns.length === 0) return null;
  return [...turns, ...saidTurns(text, start, text.length, text.length)];
}

/** Adds the results of a call. @returns where they end, as far as that is known */
function resultsEnd(
  text: string,
  call: CallPlace,
  calls: RegExp,
  turns: ChatTurn[],
): { end: number; isKnown: boolean } {
  let end = call.end;
  for (let results = 0; results < call.count; results++) {
    const result = resultFrom(text, end, call.ids, calls);
    if (result === null) {
      const isNext = results === 0 || [...call.ids].some((id) => text.startsWith(id, end));
      if (!isNext) return { end, isKnown: true };
      const words = wordsEnd(text, end, call.ids, calls) ?? end;
      if (words === end) return { end, isKnown: false };
      // Words without ids may be the results of several calls.
      const isAlone = call.count - results === 1 || call.ids.size > 0;
      turns.push(
        isAlone ? unmarkedTurn('tool', 'inferred', end, words) : unmarkedTurn('unknown', 'unknown', end, words),
      );
      return { end: words, isKnown: true };
    }
    turns.push(unmarkedTurn('tool', 'inferred', result.start, result.end));
    end = result.end;
  }
  return { end, isKnown: true };
}

/** A number, or the value that a notebook prints. */
const NUMBER = /^(?:Out\[\d+\]: )?-?\d+(?:\.\d+)?(?=[\p{L}\\])/u;
const NOTEBOOK = /^Out\[\d+\]: (?=[[({])/;

/** Words of one who calls a tool next. */
const PLANS = /\b(?:let['’]s|let me(?! know)|we (?:can|should|need to|have to|will)|I (?:need to|should))\b/i;

/** The end of a result in words: a value, or where the reply touches it, or the next call; null if unknown. */
function wordsEnd(text: string, at: number, ids: ReadonlySet<string>, calls: RegExp): number | null {
  const start = at + ([...ids].find((id) => text.startsWith(id, at))?.length ?? 0);
  // An id without a result.
  if (start > at && callFrom(text, start, calls)?.start === start) return start;
  const next = callFrom(text, start, calls)?.start ?? null;
  const until = next ?? text.length;
  const words = text.slice(start, Math.min(until, start + MAX_RESULT));
  if (words.length < until - start || words === '') return null;
  const number = NUMBER.exec(words);
  if (number !== null) return start + number[0].length;
  const printed = NOTEBOOK.exec(words);
  const value = printed === null ? null : bracketsEnd(words, printed[0].length);
  if (value !== null) return start + value;
  const [touching, ...more] = gluesIn(text.slice(0, until), start);
  if (touching === undefined) return voiceOf(words) < 1 && !PLANS.test(words) ? next : null;
  const pieces = [touching, ...more, until];
  const rest = pieces.slice(1).map((end, i) => text.slice(pieces[i], end));
  const [reply = ''] = rest;
  const isReply = voiceOf(reply) > -1 && voiceOf(text.slice(start, touching)) < 2;
  return isReply && (rest.length === 1 || alternates(rest)) ? touching : null;
}

/** The text before a call, and the call with the last of it. */
function saidTurns(text: string, start: number, call: number, end: number): ChatTurn[] {
  const before = start < call ? spokenTurns(text, start, call) : [];
  const last = before.at(-1);
  if (call >= end) return before;
  if (last?.role !== 'assistant') return [...before, unmarkedTurn('assistant', 'inferred', call, end)];
  return [...before.slice(0, -1), unmarkedTurn('assistant', 'inferred', last.pieces[0]?.start ?? start, end)];
}

/** A text with more calls that are never closed has none. */
const MAX_OPEN = 50;

interface CallPlace {
  start: number;
  end: number;
  /** The end of each call that touches the next one. */
  ends: readonly number[];
  ids: ReadonlySet<string>;
  count: number;
}

/** The next call of a tool named in the prompt, with those that directly follow. */
function callFrom(text: string, from: number, calls: RegExp): CallPlace | null {
  calls.lastIndex = from;
  let open = 0;
  for (let match = calls.exec(text); match !== null; match = calls.exec(text)) {
    const place = callAt(text, match);
    if (place === null) {
      if (open++ > MAX_OPEN) return null;
      calls.lastIndex = match.index + 1;
      continue;
    }
    const ids = new Set(place.ids);
    let { end, count } = place;
    const ends = [end];
    for (;;) {
      calls.lastIndex = end;
      const next = calls.exec(text);
      const more = next !== null && next.index === end ? callAt(text, next) : null;
      if (more === null) return { start: match.index, end, ends, ids, count };
      for (const id of more.ids) ids.add(id);
      end = more.end;
      ends.push(end);
      count += more.count;
    }
  }
  return null;
}

function callAt(text: string, match: RegExpExecArray): Omit<CallPlace, 'ends'> | null {
  const start = match.index;
  if (match[0] === '<|tool_call|>') {
    const close = text.indexOf('<|/tool_call|>', start);
    return close === -1 ? null : { start, end: close + '<|/tool_call|>'.length, ids: new Set(), count: 1 };
  }
  if (match[0].startsWith('[')) {
    const end = jsonEnd(text, start);
    if (end === null) return null;
    const raw = text.slice(start, end);
    const ids = [...raw.matchAll(/"id": ?"(\w+)"/g)].map(([, id]) => id!);
    return { start, end, ids: new Set(ids), count: raw.match(/"arguments": ?/g)?.length ?? 1 };
  }
  const end = jsonEnd(text, start + match[0].length);
  return end === null ? null : { start, end, ids: new Set(match[1] === undefined ? [] : [match[1]]), count: 1 };
}

/** A result at this place: a JSON value, or words closed by the call's id. */
function resultFrom(
  text: string,
  at: number,
  ids: ReadonlySet<string>,
  calls: RegExp,
): { start: number; end: number } | null {
  const close = /^\{"content": ?[\s\S]*?, ?"call_id": ?"(\w+)"\}/.exec(text.slice(at, at + MAX_RESULT));
  if (close !== null && ids.has(close[1] ?? '')) return { start: at, end: at + close[0].length };
  const id = [...ids].find((one) => text.startsWith(one, at));
  const tag = text.startsWith('<|tool_response|>', at) ? '<|tool_response|>'.length : 0;
  const start = at + (id?.length ?? 0) + tag;
  const end =
    jsonEnd(text, start) ??
    (id === undefined ? null : nextId(text.slice(0, callFrom(text, start, calls)?.start), start, ids, id));
  return end === null ? null : { start: at, end };
}

/** The id of the next result, which ends one in words. */
function nextId(text: string, start: number, ids: ReadonlySet<string>, own: string): number | null {
  const places = [...ids]
    .filter((id) => id !== own)
    .map((id) => text.indexOf(id, start))
    .filter((at) => at > start);
  return places.length === 0 ? null : Math.min(...places);
}

const MAX_RESULT = 1 << 16;
const MAX_VALUE = 1 << 18;

const promptNames = (prompt: string): Set<string> =>
  new Set([...prompt.matchAll(/"name": ?"([\w.-]{1,64})"/g)].map(([, name]) => name!));

/** How a value in JSON or Python begins; words in brackets begin otherwise. */
const VALUE = /(?:\{\s*["'}\d]|\[\s*(?:["'{[\](\d-]|true\b|false\b|null\b|True\b|False\b|None\b)|")/y;

/** The end of the value that begins here, an object, a list or a string; null if missing or unclosed. */
function jsonEnd(text: string, start: number): number | null {
  VALUE.lastIndex = start;
  return VALUE.test(text) ? bracketsEnd(text, start) : null;
}

/** The end of a value in brackets or quotes; null if it is never closed. */
function bracketsEnd(text: string, start: number): number | null {
  let depth = 0;
  let inString = false;
  const limit = Math.min(text.length, start + MAX_VALUE);
  for (let at = start; at < limit; at++) {
    const char = text[at] ?? '';
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') {
        inString = false;
        if (depth === 0) return at + 1;
      }
    } else if (char === '"') inString = true;
    else if ('{[('.includes(char)) depth++;
    else if ('}])'.includes(char)) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}
