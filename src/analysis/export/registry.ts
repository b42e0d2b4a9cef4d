import type { ExportFormat } from './format.ts';
import { toAreal } from './formats/areal.ts';
import { toAxolotl } from './formats/axolotl.ts';
import { toLlamaFactory } from './formats/llama-factory.ts';
import { toMessages } from './formats/messages.ts';
import { toMsSwift } from './formats/ms-swift.ts';
import { toNemoRl } from './formats/nemo-rl.ts';
import { toOpenai, toOpenaiDpo } from './formats/openai.ts';
import { toPrimeRl } from './formats/prime-rl.ts';
import { toPrimeRlBatch } from './formats/prime-rl-batch.ts';
import { toSlime } from './formats/slime.ts';
import { toTrl, toTrlCompletion, toTrlDpo, toTrlKto } from './formats/trl.ts';
import { toPrompts, toVerl, toVerlRl } from './formats/verl.ts';

/** Every format that `export --to` knows, in the order of its help. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  toTrl,
  toTrlCompletion,
  toVerl,
  toOpenai,
  toLlamaFactory,
  toMsSwift,
  toAxolotl,
  toNemoRl,
  toPrimeRl,
  toMessages,
  toTrlDpo,
  toTrlKto,
  toOpenaiDpo,
  toPrompts,
  toVerlRl,
  toSlime,
  toAreal,
  toPrimeRlBatch,
];
