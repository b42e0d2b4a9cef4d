import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { random } from './random.ts';

export interface DumpPlan {
  steps: number;
  /** Lines of each step. */
  samples: number;
  /** The mean size of a line, in kB. */
  kb: number;
  /** Rollouts of one prompt. */
  group?: number;
  seed?: number;
}

const WORDS =
  'the train leaves at noon so we add both sides and carry one then halve what is left before rounding 个 数'.split(
    ' ',
  );
const LINES = [
  'total = 0',
  'for x in values:',
  '    total += x * 3',
  'print(total)',
  'import math',
  'print(math.sqrt(total))',
];

/** Writes a dump in verl's layout without special tokens: STEP.jsonl, conversations with tool calls. The same plan gives the same bytes. */
export function makeDump(out: string, { steps, samples, kb, group = 8, seed = 7 }: DumpPlan): void {
  mkdirSync(out, { recursive: true });
  const next = random(seed);
  const text = (bytes: number, words: readonly string[], between: string): string => {
    const parts: string[] = [];
    for (let size = 0; size < bytes; size += parts.at(-1)!.length + 1)
      parts.push(words[Math.floor(next() * words.length)]!);
    return parts.join(between);
  };
  for (let step = 1; step <= steps; step++) {
    const fd = openSync(join(out, `${step}.jsonl`), 'w');
    let prompt = '';
    for (let sample = 0; sample < samples; sample++) {
      if (sample % group === 0) prompt = text(120, WORDS, ' ');
      // Sizes differ as real ones do: most are short, some are long.
      const bytes = kb * 1024 * (0.3 + 1.4 * next() ** 2 * 1.5);
      const calls = bytes < 1024 ? 0 : 1 + Math.floor(next() * 4);
      let output = '';
      for (let call = 0; call < calls; call++) {
        const code = text(80, LINES, '\n');
        output += `<think>\n${text((bytes * 0.6) / calls, WORDS, ' ')}\n</think>\n<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;
        output += `user\n<tool_response>\n${text((bytes * 0.3) / calls, WORDS, ' ')}\n</tool_response>\nassistant\n`;
      }
      output += `${text(calls === 0 ? bytes * 0.8 : 60, WORDS, ' ')}\n#### ${Math.floor(next() * 1000)}`;
      const input = `system\nYou are a helpful assistant.\nuser\n${prompt}\nassistant\n`;
      const score = next() < 0.4 ? 1 : 0;
      const record = { input, output, gts: '42', score, step, acc: score === 1, num_turns: 2 + 2 * calls };
      writeSync(fd, `${JSON.stringify(record)}\n`);
    }
    closeSync(fd);
  }
}
