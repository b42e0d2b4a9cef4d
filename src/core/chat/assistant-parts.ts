import { itemAt } from '../lists/at.ts';
import type { Part } from '../rollout/rollout.ts';
import type { ParsedCall } from './calls/call.ts';
import { type ReadCallsOptions, readCalls } from './calls/read-calls.ts';

export interface AssistantText {
  /** Cover the text exactly, in order. */
  parts: Part[];
  calls: ParsedCall[];
}

interface Thought {
  start: number;
  end: number;
  open?: true;
}

/** The tags of reasoning, in all templates. A header of harmony's analysis channel is one as well. */
const TAGS: readonly { open: string; close: string; header?: RegExp }[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { open: '<|channel>thought', close: '<channel|>' },
];

/**
 * Separates reasoning and calls in a model's turn. Unclosed reasoning extends to the first call or to the end of the
 * turn. A closing tag without an opening one (the template wrote it) ends reasoning that began with the turn.
 */
export function readAssistantText(text: string, options: ReadCallsOptions = {}): AssistantText {
  const calls = readCalls(text, options);
  const thoughts = [...harmonyThoughts(text, options), ...TAGS.flatMap((tag) => thoughtsOf(text, tag, calls))];
  thoughts.sort((a, b) => a.start - b.start);
  return { parts: layParts(text.length, thoughts, calls), calls };
}

function thoughtsOf(text: string, { open, close }: (typeof TAGS)[number], calls: readonly ParsedCall[]): Thought[] {
  const firstEnd = text.indexOf(close);
  if (firstEnd === -1 && !text.includes(open)) return [];
  const thoughts: Thought[] = [];
  let at = 0;
  const firstStart = openingTag(text, open, 0);
  if (firstEnd !== -1 && (firstStart === -1 || firstEnd < firstStart)) {
    at = firstEnd + close.length;
    thoughts.push({ start: 0, end: at });
  }
  for (let start = openingTag(text, open, at); start !== -1; start = openingTag(text, open, at)) {
    const end = text.indexOf(close, start);
    if (end === -1) {
      const call = calls.find((candidate) => candidate.start > start);
      thoughts.push({ start, end: call?.start ?? text.length, open: true });
      break;
    }
    at = end + close.length;
    thoughts.push({ start, end: at });
  }
  return thoughts;
}

/** The next opening tag that begins a line, or follows a tag; a tag mentioned in prose does not count. */
function openingTag(text: string, tag: string, from: number): number {
  for (let at = text.indexOf(tag, from); at !== -1; at = text.indexOf(tag, at + 1)) {
    let before = at;
    while (before > 0 && (text[before - 1] === ' ' || text[before - 1] === '\t')) before--;
    if (before === 0 || /[\n>\]]/.test(text.charAt(before - 1))) return at;
  }
  return -1;
}

/**
 * gpt-oss: a message on the channel `analysis` is reasoning, up to its end token, or to the next channel if tokens were
 * stripped.
 */
function harmonyThoughts(text: string, { names }: ReadCallsOptions): Thought[] {
  if (names?.includes('harmony') !== true) return [];
  const thoughts: Thought[] = [];
  for (const match of text.matchAll(
    /<\|channel\|>analysis<\|message\|>[\s\S]*?(?:<\|end\|>(?:<\|start\|>assistant)?|$)|(?:^|assistant)analysis[\s\S]*?(?:assistant(?=commentary|final| to=)|$)/g,
  ))
    thoughts.push({ start: match.index, end: match.index + match[0].length });
  return thoughts;
}

/** Splits the text at every thought and call; a call inside a thought interrupts it. */
function layParts(length: number, thoughts: Thought[], calls: ParsedCall[]): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let thought = 0;
  const fill = (to: number) => {
    while (at < to) {
      while (thought < thoughts.length && itemAt(thoughts, thought).end <= at) thought++;
      const current = thoughts[thought];
      const isInside = current !== undefined && current.start <= at;
      const end = Math.min(to, current === undefined ? to : isInside ? current.end : current.start);
      const kind = isInside ? 'think' : 'text';
      parts.push({ kind, start: at, end, ...(isInside && current.open && { open: true }) });
      at = end;
    }
  };
  for (const [index, call] of calls.entries()) {
    fill(call.start);
    parts.push({ kind: 'call', start: call.start, end: call.end, call: index });
    at = call.end;
  }
  fill(length);
  return parts;
}
