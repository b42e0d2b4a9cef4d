import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files of a dump in a new directory; values are records, or lines as they are. */
export type DumpFiles = Record<string, readonly (object | string)[]>;

/** Writes a dump into a temporary directory. */
export function writeDump(files: DumpFiles): { dir: string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  const dir = join(root, 'rollout_data');
  for (const [name, records] of Object.entries(files)) {
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    const lines = records.map((record) => (typeof record === 'string' ? record : JSON.stringify(record)));
    writeFileSync(path, `${lines.join('\n')}\n`);
    // A dump that was finished long ago: a step of this moment would be drawn as arriving.
    utimesSync(path, new Date(0), new Date(0));
  }
  return { dir, remove: () => rmSync(root, { recursive: true, force: true }) };
}

const CALL = (code: string): string =>
  `<tool_call>\n${JSON.stringify({ name: 'code_interpreter', arguments: { code } })}\n</tool_call>`;

const SYSTEM = 'You solve problems step by step. Run Python with the tool where it helps.';

/** A rollout that asks a tool once and answers, as verl dumps it without special tokens. */
export function toolRollout(step: number, number: number, score: number): object {
  return {
    input: `system\n${SYSTEM}\nuser\nProblem ${step}-${number}: John earns $100 and spends ${number}. What is left?\nassistant\n`,
    output:
      `<think>\nFirst I compute 100 - ${number}.\n</think>\n${CALL(`left = 100 - ${number}\nprint(left)`)}\n` +
      `user\n<tool_response>\n${100 - number}\n</tool_response>\nassistant\n` +
      `John has $${100 - number} left.\n#### ${100 - number}`,
    gts: String(100 - number),
    score,
    step,
  };
}

/** `steps` files of `samples` rollouts each, groups of four. */
export function smallRun(steps: number, samples: number): DumpFiles {
  const files: Record<string, object[]> = {};
  for (let step = 1; step <= steps; step++) {
    files[`${step}.jsonl`] = Array.from({ length: samples }, (_, i) =>
      toolRollout(step, 1 + Math.floor(i / 4), (i + step) % 3 === 0 ? 1 : 0),
    );
  }
  return files;
}
