import { type JsonObject, objectIn } from '../json/value.ts';
import type { RecordedOutcome } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import type { FoundMessage, MessageCall, MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import { given } from './given.ts';
import { idOf, objectsOf } from './values.ts';

/** The line that Cline and Roo put above a result: `[read_file for 'a.ts'] Result:`. A command in it may have many lines. */
const HEADER = /^\[([a-z]\w*)(?: for '[\s\S]{0,8000}?'[^\]\n]{0,200})?\] Result:\n?/;
/** Calls to which the user answers in words, or nobody. */
const LAST_CALLS = ['attempt_completion', 'ask_followup_question', 'plan_mode_respond', 'new_task', 'switch_mode'];
const FAILED = /^The tool execution failed with the following error:/;
const DENIED = /^The user denied this operation\./;

/**
 * Calls that Cline and Roo ask for in the text, `<NAME><PARAMETER>VALUE</PARAMETER></NAME>`, and their results, which the next message of the
 * user holds below a header. A tag is a call if such a header says that it ran.
 */
export function layClineCalls(messages: readonly FoundMessage[]): FoundMessage[] {
  const results = messages.map((message) => (message.role === 'user' ? resultsOf(message) : null));
  if (!results.some((found) => found !== null)) return [...messages];
  return messages.flatMap((message, at) => {
    const own = results[at];
    if (own) return own.messages;
    if (message.role !== 'assistant' || message.calls !== undefined) return [message];
    const ran = results[at + 1]?.names ?? [];
    const texts = message.texts.flatMap(apartFromThought);
    const said = texts.filter(({ isThought }) => !isThought);
    const text = said.map((piece) => piece.text).join('\n');
    const calls =
      ran.length > 0
        ? callsIn(text, ran)
        : callsIn(
            text,
            LAST_CALLS.filter((name) => text.trimEnd().endsWith(`</${name}>`)),
          );
    return [{ ...message, texts, ...(calls.length > 0 ? { calls } : {}) }];
  });
}

/** A message of the user as results, and the rest; null if it has no result. */
function resultsOf(message: FoundMessage): { names: string[]; messages: FoundMessage[] } | null {
  const names: string[] = [];
  const found: FoundMessage[] = [];
  const rest: MessageText[] = [];
  let open: FoundMessage | null = null;
  for (const text of message.texts) {
    const [header, name] = HEADER.exec(text.text) ?? [];
    if (header !== undefined && name !== undefined) {
      names.push(name);
      open = { role: 'tool', trained: false, texts: [text] };
      found.push(open);
      noteOutcome(open, text.text.slice(header.length).trimStart());
    } else if (open === null || /^\s*<environment_details>/.test(text.text)) {
      open = null;
      rest.push(text);
    } else {
      if (open.texts.length === 1) noteOutcome(open, text.text);
      open.texts.push(text);
    }
  }
  if (names.length === 0) return null;
  return { names, messages: rest.length === 0 ? found : [...found, { ...message, texts: rest }] };
}

function noteOutcome(result: FoundMessage, text: string): void {
  const outcome: RecordedOutcome | null = FAILED.test(text)
    ? { isFailure: true, evidence: 'The tool execution failed' }
    : DENIED.test(text)
      ? { isFailure: true, evidence: 'The user denied this operation', kind: 'rejected' }
      : null;
  if (outcome !== null) result.outcome = outcome;
}

/** `<thinking>` at the beginning of a text is reasoning. */
function apartFromThought(piece: MessageText): MessageText[] {
  const [thought] = /^\s*<thinking>[\s\S]*?<\/thinking>\s*/.exec(piece.text) ?? [];
  if (thought === undefined || piece.isThought) return [piece];
  const { pointer, text } = piece;
  return [
    { pointer, text: thought, isThought: true, within: { text, start: 0 } },
    { pointer, text: text.slice(thought.length), within: { text, start: thought.length } },
  ];
}

/** The first call of each name in turn; with one name its end is the last one, because a file's content may hold the tag as well. */
function callsIn(text: string, names: readonly string[]): MessageCall[] {
  let from = 0;
  return names.flatMap((name) => {
    const [open, close] = [`<${name}>`, `</${name}>`];
    const start = text.indexOf(open, from);
    if (start === -1) return [];
    const end = names.length === 1 ? text.lastIndexOf(close) : text.indexOf(close, start);
    // Cline ends the stream behind the first call, at times before its last tag.
    const stop = end < start ? text.length : end;
    const body = text.slice(start + open.length, stop);
    from = stop;
    return [
      {
        id: null,
        name,
        arguments: parametersOf(body),
        raw: text.slice(start, Math.min(text.length, stop + close.length)),
      },
    ];
  });
}

function parametersOf(body: string): JsonObject {
  const found: JsonObject = {};
  for (let at = 0; ; ) {
    const open = /<([a-z]\w*)>/.exec(body.slice(at));
    const name = open?.[1];
    if (open === null || name === undefined) return found;
    const start = at + open.index + open[0].length;
    // A value that holds its own tag ends at the last one, if no other parameter comes between.
    const close = `</${name}>`;
    const first = body.indexOf(close, start);
    const end = /^(?:content|diff)$/.test(name) ? body.lastIndexOf(close) : first;
    const stop = end < start ? body.length : end;
    found[name] = body.slice(start, stop).replace(/^\n|\n$/g, '');
    at = Math.min(body.length, stop + close.length);
  }
}

/** The number of messages that Roo left as they were behind a summary of the assistant's. */
const KEPT = 3;

const borderOf = (message: JsonObject): string | null =>
  message.isSummary === true
    ? idOf(message.condenseId)
    : message.isTruncationMarker === true
      ? idOf(message.truncationId)
      : null;

const hiddenBy = ({ condenseParent, truncationParent }: JsonObject): string[] =>
  [condenseParent, truncationParent].filter((name) => typeof name === 'string');

/**
 * Roo hides messages that a summary replaced, or that did not fit, and keeps them in the file: each such border begins a compacted history.
 * @param read the messages of one entry of the list
 */
export function layCondensed(
  list: readonly JsonObject[],
  read: (message: JsonObject, at: number) => FoundMessage[],
): FoundMessage[] {
  let context = 0;
  const hidden = new Set(list.flatMap(hiddenBy));
  const messages: FoundMessage[] = [];
  const say = (found: FoundMessage[]) => {
    for (const one of found) messages.push(context > 0 ? { ...one, context } : one);
  };
  for (let at = 0; at < list.length; at++) {
    const message = objectIn(list[at]);
    const border = borderOf(message);
    if (border === null || !hidden.has(border)) {
      say(read(message, at));
      continue;
    }
    // A summary in the user's role replaces all that was before; the others follow the first message.
    const isWhole = message.isSummary === true && message.role === 'user';
    const next = list.slice(at + 1, at + 1 + (message.isSummary === true && !isWhole ? KEPT : 0));
    const until = next.findIndex((one) => borderOf(one) !== null);
    const kept = (until === -1 ? next : next.slice(0, until)).flatMap((one, i) => read(one, at + 1 + i));
    say(kept);
    context++;
    const [first] = list;
    if (!isWhole && first !== undefined && hiddenBy(first).length === 0) say(read(first, 0).map(given));
    say(read(message, at).map(given));
    say(kept.map(given));
    at += until === -1 ? next.length : until;
  }
  return messages;
}

/** The histories that `layCondensed` numbered, each behind the message before it. */
export const condensedContexts = (messages: readonly FoundMessage[]): Context[] => [
  { kind: 'main', name: null, after: null },
  ...messages.flatMap(({ context = 0 }, at): Context[] =>
    context > (messages[at - 1]?.context ?? 0)
      ? [{ kind: 'compaction', name: null, after: at === 0 ? null : at - 1 }]
      : [],
  ),
];

/** An item of reasoning among the messages, without text of its own if the provider encrypted it. */
export const isReasoningItem = (message: JsonObject): boolean =>
  message.type === 'reasoning' &&
  (typeof message.encrypted_content === 'string' || Array.isArray(message.summary)) &&
  objectsOf(message.content).length === 0;

/** The texts of the items of reasoning, by the reply that follows them. */
export function thoughtsBefore(list: readonly JsonObject[], at: string): Map<JsonObject, MessageText[]> {
  const found = new Map<JsonObject, MessageText[]>();
  let open: MessageText[] = [];
  for (const [i, message] of list.entries())
    if (isReasoningItem(message))
      open.push(
        ...objectsOf(message.summary)
          .map((part, k) => ({ pointer: `${at}/${i}/summary/${k}/text`, text: contentText(part), isThought: true }))
          .filter(({ text }) => text !== ''),
      );
    else {
      if (open.length > 0) found.set(message, open);
      open = [];
    }
  return found;
}
