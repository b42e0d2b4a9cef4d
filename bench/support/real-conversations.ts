import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from './conversations.ts';

/** A conversation of real messages, of one file. */
export interface RealConversation {
  source: string;
  messages: Message[];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists of messages with a role and a text or calls, anywhere in a JSON value; the outermost of those that lie in each other. */
function* listsIn(value: unknown, depth = 0): Generator<Record<string, unknown>[]> {
  if (depth > 6) return;
  if (Array.isArray(value)) {
    if (value.length >= 2 && value.every((one) => isRecord(one) && typeof one.role === 'string' && 'content' in one)) {
      yield value as Record<string, unknown>[];
      return;
    }
    for (const one of value) yield* listsIn(one, depth + 1);
  } else if (isRecord(value)) {
    if (Array.isArray(value.prompt) && Array.isArray(value.completion)) {
      yield [...value.prompt, ...value.completion] as Record<string, unknown>[];
      return;
    }
    for (const one of Object.values(value)) yield* listsIn(one, depth + 1);
  }
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : '')).join('')
      : '';

/** A message as templates take it; null for one that none takes. */
function messageOf(given: Record<string, unknown>, calls: { n: number; names: string[] }): Message | null {
  const role = given.role === 'developer' ? 'system' : String(given.role);
  const content = textOf(given.content);
  if (role === 'tool') {
    const name = calls.names.shift() ?? 'tool';
    return { role, content, name, tool_call_id: String(calls.n - calls.names.length - 1) };
  }
  if (role !== 'assistant') return ['system', 'user'].includes(role) ? { role, content } : null;
  const asked = Array.isArray(given.tool_calls) ? given.tool_calls : [];
  const read = asked.flatMap((call) => {
    const one: unknown = typeof call === 'string' ? JSON.parse(call) : call;
    const fn = isRecord(one) && isRecord(one.function) ? one.function : one;
    if (!isRecord(fn) || typeof fn.name !== 'string') return [];
    let given: unknown = fn.arguments;
    if (typeof given === 'string') {
      try {
        given = JSON.parse(given);
      } catch {
        return [];
      }
    }
    return isRecord(given) ? [{ name: fn.name, given }] : [];
  });
  if (read.length !== asked.length) return null;
  if (read.length === 0) return { role, content };
  calls.names = read.map(({ name }) => name);
  return {
    role,
    content,
    tool_calls: read.map(({ name, given }) => ({
      id: String(calls.n++),
      type: 'function',
      function: { name, arguments: given },
    })),
  };
}

/** Files of JSON and JSON lines below a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesBelow(path);
    return /\.jsonl?$/.test(name) && statSync(path).size < 8_000_000 ? [path] : [];
  });
}

/** Conversations of files of real runs: none twice, each up to its last reply, at most `each` of a file. */
export function realConversations(folders: readonly string[], each: number): RealConversation[] {
  const seen = new Set<string>();
  const found: RealConversation[] = [];
  for (const path of folders.flatMap(filesBelow)) {
    const text = readFileSync(path, 'utf8');
    let values: unknown[];
    try {
      values = [JSON.parse(text)];
    } catch {
      values = text.split('\n').flatMap((line) => {
        try {
          return [JSON.parse(line) as unknown];
        } catch {
          return [];
        }
      });
    }
    let taken = 0;
    for (const list of listsIn(values)) {
      if (taken >= each) break;
      const messages = conversationOf(list);
      const key = JSON.stringify(messages);
      if (messages === null || seen.has(key)) continue;
      seen.add(key);
      taken++;
      found.push({ source: path, messages });
    }
  }
  return found;
}

function conversationOf(list: readonly Record<string, unknown>[]): Message[] | null {
  const calls = { n: 0, names: [] as string[] };
  const messages: Message[] = [];
  try {
    for (const one of list) {
      const message = messageOf(one, calls);
      // A text with another template's tokens is a rendered prompt, not what somebody said.
      if (message === null || /<\|im_(?:start|end)\|>/.test(message.content)) return null;
      messages.push(message);
    }
  } catch {
    return null;
  }
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  if (first < 1 || messages[first - 1]!.role !== 'user' || messages.length > 60) return null;
  return messages.slice(0, last + 1);
}
