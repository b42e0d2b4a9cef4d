import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { random } from '../../../bench/support/random.ts';
import type { JsonValue } from '../../../src/core/json/value.ts';
import { filesBelow, lostOf, type Planted, planted } from '../../support/planted.ts';
import { sharedData } from '../../support/shared-data.ts';

interface Sample {
  name: string;
  file: string;
  text: string;
}

const ownSamples = readFileSync(join(import.meta.dirname, 'eras.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .flatMap((line): Sample[] => {
    const { name, files } = JSON.parse(line) as { name: string; files: Record<string, string> };
    const [[file, text] = ['', ''], ...others] = Object.entries(files);
    return others.length > 0 ? [] : [{ name, file: basename(file), text }];
  });

const sharedSamples = ['traces', 'formats']
  .map((folder) => join(sharedData, folder))
  .filter((folder) => existsSync(folder))
  .flatMap(filesBelow)
  .filter((path) => /\.(?:jsonl?|traj)$/.test(path) && !/\/(?:truth|keys)\.jsonl$/.test(path))
  .filter((path) => statSync(path).size < 3e6)
  .map((path): Sample => ({ name: path, file: basename(path), text: readFileSync(path, 'utf8') }));

const home = mkdtempSync(join(tmpdir(), 'planted-'));

/** A file with keys that nobody writes; null if it is not JSON. */
function withKeys({ text }: Sample, next: () => number, found: Planted[]): string | null {
  const share = Math.min(0.3, 2000 / text.length + 0.02);
  const grown = (value: string): string => JSON.stringify(planted(JSON.parse(value) as JsonValue, share, next, found));
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  for (const pieces of [[text], lines])
    try {
      found.length = 0;
      return `${pieces.map(grown).join('\n')}\n`;
    } catch {}
  return null;
}

async function lostIn(samples: readonly Sample[], seed: number): Promise<{ lost: string[]; count: number }> {
  const lost: string[] = [];
  let count = 0;
  for (const [at, sample] of samples.entries()) {
    const found: Planted[] = [];
    const text = withKeys(sample, random(seed * 1000 + at), found);
    if (text === null) continue;
    const folder = join(home, `${seed}-${at}`);
    mkdirSync(folder);
    writeFileSync(join(folder, sample.file), text);
    const missing = await lostOf(join(folder, sample.file), found);
    if (missing === null) continue;
    count += found.length;
    lost.push(...missing.map(({ path, key }) => `${sample.name}: ${path}.${key}`));
  }
  return { lost, count };
}

describe('a key that no reader knows, anywhere in a file, is shown or named', () => {
  test('in records by hand of all formats', async () => {
    const { lost, count } = await lostIn(ownSamples, 11);
    expect(lost).toEqual([]);
    expect(count).toBeGreaterThan(500);
  });

  test.skipIf(sharedSamples.length === 0)('in files of other writers (skipped without ../shared/data)', async () => {
    expect((await lostIn(sharedSamples, 12)).lost).toEqual([]);
  });
});
