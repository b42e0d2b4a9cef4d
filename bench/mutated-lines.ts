import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseLine } from '../src/dump/parse-line.ts';
import { MONO } from '../src/present/theme.ts';
import { rawBlocks, transcriptSections } from '../src/present/transcript/blocks.ts';
import { Layout } from '../src/present/transcript/layout.ts';
import { rawTextBlocks } from '../src/present/transcript/raw-view.ts';
import { renderTranscript } from '../src/present/transcript/render.ts';
import { inSections, type Section } from '../src/present/transcript/section.ts';
import type { Rollout } from '../src/rollout/rollout.ts';
import { cellWidth } from '../src/text/graphemes.ts';
import { root } from './support/measure.ts';
import { random } from './support/random.ts';

const LINES = Number(process.env.LINES ?? 100_000);
const CONTEXT = { validation: false };
const SGR = /\x1b\[[\d;]*m/g;

/** What makes trouble in a terminal, in JSON, or to a reader of templates. */
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

/** Lines of the fixtures, changed at random and laid out: nothing throws or hangs, no line is too wide, spans cover their texts. */
export async function run(): Promise<void> {
  const lines = samples();
  const next = random(11);
  const found = { crash: 0, hang: 0, wide: 0, gap: 0 };
  const first = new Map<string, string>();
  const note = (kind: keyof typeof found, line: string, says: string) => {
    found[kind]++;
    if (!first.has(kind)) first.set(kind, `${says}: ${line.slice(0, 300)}`);
  };
  for (let i = 0; i < LINES; i++) {
    const line = mutated(lines[i % lines.length]!, next);
    const width = 20 + Math.floor(next() * 140);
    const start = process.cpuUsage();
    try {
      const { rollout, error } = parseLine(line, CONTEXT);
      if (error?.startsWith('not readable as')) throw new Error(error);
      const wide = widest(shown(rollout, error ?? '', line, next() < 0.2), width);
      if (wide > width) note('wide', line, `${wide} of ${width} cells`);
      if (rollout !== null && hasGap(rollout)) note('gap', line, 'spans do not cover a text');
    } catch (error) {
      note('crash', line, String(error));
    }
    const { user } = process.cpuUsage(start);
    if (user > 100_000) note('hang', line, `${user / 1000} ms`);
  }
  const { crash, hang, wide, gap } = found;
  console.log(
    `${LINES} changed lines: ${crash} threw, ${hang} took over 100 ms, ${wide} were too wide, ${gap} had gaps (goal: 0)`,
  );
  for (const [kind, says] of first) console.log(`  ${kind}: ${says}`);
}

function samples(): string[] {
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
  return [...lines, ...findings].filter((line) => line !== '' && line.length < 20_000);
}

function mutated(line: string, next: () => number): string {
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

function shown(rollout: Rollout | null, error: string, line: string, isRaw: boolean): Iterable<Section | null> {
  if (rollout === null) return inSections(rawBlocks(error, line));
  return isRaw ? inSections(rawTextBlocks(rollout)) : transcriptSections(rollout, new Map());
}

function widest(sections: Iterable<Section | null>, width: number): number {
  const layout = new Layout(sections, width);
  let most = 0;
  for (const line of renderTranscript(layout, 0, Math.min(layout.rows, 400), MONO, { turn: 0 }))
    most = Math.max(most, cellWidth(line.replace(SGR, '')));
  return most;
}

function hasGap({ spans, texts, turns }: Rollout): boolean {
  const ends = new Map<string, number>();
  for (const { field, start, end } of spans) {
    if (start !== (ends.get(field) ?? 0)) return true;
    ends.set(field, end);
  }
  if ([...ends].some(([field, end]) => texts[field]?.length !== end)) return true;
  return turns.some(
    ({ parts, text }) => parts.reduce((at, part) => (part.start === at ? part.end : -1), 0) !== text.length,
  );
}
