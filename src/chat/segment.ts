import type { ChatTurn } from './chat-turn.ts';
import { isMarked, segmentMarked } from './marked.ts';
import { segmentStripped } from './stripped.ts';

/**
 * The turns of a ChatML conversation, by its special tokens where they are kept, else by the role lines that are left.
 * The pieces of the turns, end to end, cover prompt + response exactly, whatever the strings are.
 */
export function segmentChat(prompt: string, response: string): ChatTurn[] {
  const text = prompt + response;
  if (text === '') return [];
  return isMarked(text) ? segmentMarked(text) : segmentStripped(text, prompt.length);
}
