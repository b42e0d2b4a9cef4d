import type { Part } from '../rollout/rollout.ts';
import { type ParsedCall, parseHermesCalls } from './hermes.ts';

export interface AssistantText {
  /** Cover the text exactly, in order. */
  parts: Part[];
  calls: ParsedCall[];
  /** A `<think>` without its end. */
  unclosedThink: boolean;
}

/**
 * Tells reasoning and calls apart in a model's turn. A `<think>` without its end reaches to the first `<tool_call>`
 * or to the end of the turn; a `</think>` without its start (the template wrote the start) ends reasoning that began with the turn.
 */
export function readAssistantText(text: string): AssistantText {
  const calls = parseHermesCalls(text);
  const thoughts: { start: number; end: number }[] = [];
  let unclosedThink = false;
  let at = 0;
  const firstEnd = text.indexOf('</think>');
  const firstStart = text.indexOf('<think>');
  if (firstEnd !== -1 && (firstStart === -1 || firstEnd < firstStart)) {
    at = firstEnd + '</think>'.length;
    thoughts.push({ start: 0, end: at });
  }
  for (let start = text.indexOf('<think>', at); start !== -1; start = text.indexOf('<think>', at)) {
    const close = text.indexOf('</think>', start);
    if (close === -1) {
      unclosedThink = true;
      const call = calls.find((candidate) => candidate.start > start);
      thoughts.push({ start, end: call?.start ?? text.length });
      break;
    }
    at = close + '</think>'.length;
    thoughts.push({ start, end: at });
  }
  return { parts: layParts(text.length, thoughts, calls), calls, unclosedThink };
}

/** Cuts the text at every thought and call; a call inside a thought interrupts it. */
function layParts(length: number, thoughts: { start: number; end: number }[], calls: ParsedCall[]): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let thought = 0;
  const fill = (to: number) => {
    while (at < to) {
      while (thought < thoughts.length && thoughts[thought]!.end <= at) thought++;
      const current = thoughts[thought];
      const isInside = current !== undefined && current.start <= at;
      const end = Math.min(to, current === undefined ? to : isInside ? current.end : current.start);
      parts.push({ kind: isInside ? 'think' : 'text', start: at, end });
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
