import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printJson } from '../../src/core/json/print.ts';
import { sampleRecords } from './variants.ts';

/** A longer line says no more, and takes longer. */
const LONGEST = 20_000;

/** Texts that make trouble in a terminal, in JSON, or for a reader of templates. */
const HOSTILE = [
  ...[
    '\u200d',
    '👩‍👩‍👧‍👦',
    '\\ud83d',
    '\\ud83d漢',
    '漢字',
    'e\u0301\u0301\u0301',
    '\\u001b[31m',
    '\\u0000',
    '\\t',
    '\\n',
    '\u202e',
  ],
  ...[
    '<tool_call>',
    '</tool_call>',
    '<think>',
    '</think>',
    '\\nassistant\\n',
    '<|im_start|>user\\n',
    '<tool_response>',
  ],
  ...['"', '\\', '{', '}', '[', ']', ',', ':', 'null', 'NaN', '-1e999', '123456789012345678901', 'true'],
];

/** Lines of the fixtures, of records in which checks find something, and of every writer whose files are at hand. */
export async function sampleLines(root: string): Promise<string[]> {
  const files = ['rollout_data/train', 'rollout_data/val', 'tau-airline', 'verl-gsm8k'].flatMap((folder) =>
    readdirSync(join(root, 'fixtures', folder), { recursive: true })
      .filter((name) => String(name).endsWith('.jsonl'))
      .map((name) => join(root, 'fixtures', folder, String(name))),
  );
  const findings = readdirSync(join(root, 'fixtures/findings')).flatMap((name) =>
    (JSON.parse(readFileSync(join(root, 'fixtures/findings', name), 'utf8')) as { record?: object }[]).flatMap(
      ({ record }) => (record === undefined ? [] : [JSON.stringify(record)]),
    ),
  );
  const lines = files.flatMap((path) => readFileSync(path, 'utf8').split('\n').slice(0, 20));
  const records = (await sampleRecords(root)).map((record) => printJson(record));
  return [...lines, ...findings, ...records].filter((line) => line !== '' && line.length < LONGEST);
}

/** A line with one to four changes. */
export function mutated(line: string, next: () => number): string {
  let out = line;
  for (let i = 0; i < 1 + next() * 4; i++) {
    const at = Math.floor(next() * out.length);
    const kind = next();
    if (kind < 0.6) out = out.slice(0, at) + HOSTILE[Math.floor(next() * HOSTILE.length)]! + out.slice(at);
    else if (kind < 0.8) out = out.slice(0, at) + out.slice(at + Math.floor(next() * 40));
    else if (kind < 0.95)
      out = out.slice(0, at) + out.slice(Math.floor(next() * out.length)).slice(0, 200) + out.slice(at);
    else out = out.slice(0, at);
  }
  return out;
}
