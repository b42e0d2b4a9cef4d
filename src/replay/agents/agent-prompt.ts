import type { Rollout } from '../../core/rollout/rollout.ts';
import { modelTurns } from '../../engine/record/recorded-replies.ts';

/** The last message of the user before the first reply: agents put notes on the environment before it. */
export function promptOf(rollout: Rollout): string {
  const first = modelTurns(rollout)[0]?.index ?? rollout.turns.length;
  const isAsked = (before: number) =>
    rollout.turns.findLast(({ role, index, context = 0 }) => role === 'user' && context === 0 && index < before)?.text;
  return isAsked(first) ?? isAsked(rollout.turns.length) ?? '';
}

/** How an agent writes a prompt inside other text, and back. */
const WRITTEN: readonly { write: (text: string) => string; read: (text: string) => string }[] = [
  { write: (text) => text, read: (text) => text },
  { write: (text) => text.replaceAll('"', '\\"'), read: (text) => text.replaceAll('\\"', '"') },
  { write: (text) => JSON.stringify(text).slice(1, -1), read: unescapedJson },
];

function unescapedJson(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/**
 * The prompt that an agent got, if it puts its prompt into a text of its own, such as quotation marks or a task's template. That text is
 * known once the agent was given what it made of its prompt: then it is there twice. null if it is not.
 */
export function promptWithin(recorded: string, asked: string): string | null {
  if (recorded === '') return null;
  for (const { write, read } of WRITTEN) {
    const told = write(recorded);
    const at = asked.indexOf(told);
    if (at === -1 || asked.length === told.length) continue;
    const [before, after] = [asked.slice(0, at), asked.slice(at + told.length)];
    const isTwice =
      recorded.length >= before.length + after.length && recorded.startsWith(before) && recorded.endsWith(after);
    if (!isTwice) continue;
    const inner = recorded.slice(before.length, recorded.length - after.length);
    if (write(read(inner)) === inner) return read(inner);
  }
  return null;
}
