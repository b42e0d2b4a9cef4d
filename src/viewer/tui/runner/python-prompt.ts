import { createInterface } from 'node:readline';
import { sanitise } from '../../../core/text/sanitise.ts';
import { errorMessage } from '../../../core/text/thrown.ts';
import type { CallSession } from '../../../replay/call-session.ts';

/** The terminal, or a replacement for it. */
export interface PythonLines {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** Reads Python at the state before a call, line by line, until the end of input or ^D. */
export async function promptAt(
  session: CallSession,
  { input, output }: PythonLines,
  signal?: AbortSignal,
): Promise<void> {
  const write = (text: string) =>
    output.write(text === '' || text.endsWith('\n') ? sanitise(text) : `${sanitise(text)}\n`);
  const { before } = session;
  const ran =
    before.length === 0 ? 'nothing runs before it' : `after call ${before.map(({ call }) => call).join(', ')}`;
  write(`The state before the call, ${ran}. Each line runs all of it again, and nothing is kept.`);
  write('%call shows the code of the call, %run runs it here; ^D leaves.');
  const isTerminal = (input as NodeJS.ReadStream).isTTY === true;
  const reader = createInterface({ input, output: isTerminal ? output : undefined, terminal: isTerminal });
  let block: string[] = [];
  let running: AbortController | null = null;
  const ask = () => {
    reader.setPrompt(block.length === 0 ? '>>> ' : '... ');
    if (isTerminal) reader.prompt();
  };
  reader.on('SIGINT', () => {
    if (running !== null) running.abort(new Error('interrupted'));
    else {
      block = [];
      output.write('\n');
      ask();
    }
  });
  const end = () => reader.close();
  signal?.addEventListener('abort', end, { once: true });
  const run = async (code: string) => {
    running = new AbortController();
    try {
      const { stdout, display, stderr } = await session.run(code, running.signal);
      for (const text of [stdout, display, stderr]) write(text);
    } catch (error) {
      write(errorMessage(error));
    } finally {
      running = null;
    }
  };
  ask();
  for await (const line of reader) {
    block.push(line);
    if (!isWhole(block)) {
      ask();
      continue;
    }
    const code = block.join('\n');
    block = [];
    const word = code.trim();
    if (word === '%call') write(session.code);
    else if (word !== '') await run(word === '%run' ? session.code : code);
    ask();
  }
  if (block.length > 0) await run(block.join('\n'));
  signal?.removeEventListener('abort', end);
  if (isTerminal) output.write('\n');
}

/** A line that opens a block or a bracket waits for more; an empty line ends a block. */
export function isWhole(lines: readonly string[]): boolean {
  const last = lines.at(-1) ?? '';
  if (lines.length > 1 && last.trim() === '') return true;
  const bare = lines.map((line) => line.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|#.*$/g, ''));
  let depth = 0;
  for (const c of bare.join('\n')) depth += '([{'.includes(c) ? 1 : ')]}'.includes(c) ? -1 : 0;
  if (depth > 0 || /\\\s*$/.test(last)) return false;
  return !bare.some((line) => /:\s*$/.test(line)) && !/^\s*@/.test(bare[0] ?? '');
}
