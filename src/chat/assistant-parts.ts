import type { Part } from '../rollout/rollout.ts';
import { type ParsedCall, parseHermesCalls } from './hermes.ts';

export interface AssistantText {
  /** Cover the text exactly, in order. */
  parts: Part[];
  calls: ParsedCall[];
  /** A `<think>` without its end. */
  unclosedThink: boolean;
}

interface Thought {
  start: number;
  end: number;
  open?: true;
}

/**
 * Tells reasoning and calls apart in a model's turn. A `<think>` without its end reaches to the first `<tool_call>`
 * or to the end of the turn; a `</think>` without its start (the template wrote the start) ends reasoning that began with the turn.
 */
export function readAssistantText(text: string): AssistantText {
  const calls = parseHermesCalls(text);
  const thoughts: Thought[] = [];
  let unclosedThink = false;
  let at = 0;
  const firstEnd = text.indexOf('</think>');
  const firstStart = openingTag(text, 0);
  if (firstEnd !== -1 && (firstStart === -1 || firstEnd < firstStart)) {
    at = firstEnd + '</think>'.length;
    thoughts.push({ start: 0, end: at });
  }
  for (let start = openingTag(text, at); start !== -1; start = openingTag(text, at)) {
    const close = text.indexOf('</think>', start);
    if (close === -1) {
      unclosedThink = true;
      const call = calls.find((candidate) => candidate.start > start);
      thoughts.push({ start, end: call?.start ?? text.length, open: true });
      break;
    }
    at = close + '</think>'.length;
    thoughts.push({ start, end: at });
  }
  return { parts: layParts(text.length, thoughts, calls), calls, unclosedThink };
}

/** Where the next `<think>` begins a line, or follows a tag; one that is named in prose is no tag. */
function openingTag(text: string, from: number): number {
  for (let at = text.indexOf('<think>', from); at !== -1; at = text.indexOf('<think>', at + 1)) {
    let before = at;
    while (before > 0 && (text[before - 1] === ' ' || text[before - 1] === '\t')) before--;
    if (before === 0 || text[before - 1] === '\n' || text[before - 1] === '>') return at;
  }
  return -1;
}

/** Cuts the text at every thought and call; a call inside a thought interrupts it. */
function layParts(length: number, thoughts: Thought[], calls: ParsedCall[]): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let thought = 0;
  const fill = (to: number) => {
    while (at < to) {
      while (thought < thoughts.length && thoughts[thought]!.end <= at) thought++;
      const current = thoughts[thought];
      const isInside = current !== undefined && current.start <= at;
      const end = Math.min(to, current === undefined ? to : isInside ? current.end : current.start);
      parts.push({
        kind: isInside ? 'think' : 'text',
        start: at,
        end,
        ...(isInside && current.open && { open: true }),
      });
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
