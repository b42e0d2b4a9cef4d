import type { JsonObject } from '../json/value.ts';
import { engineDump } from './engine-dump.ts';
import type { Format } from './format.ts';
import { tunixTokens, tunixTrajectory } from './tunix.ts';
import { verl } from './verl.ts';

/** All formats, the most particular first. */
export const FORMATS: readonly Format[] = [engineDump, verl, tunixTrajectory, tunixTokens];

/** The format that knows the record, or undefined. */
export const formatOf = (record: JsonObject): Format | undefined => FORMATS.find((format) => format.detects(record));

/** The keys that a line's tail may be searched for before any record of the file was parsed. */
export const QUICK_KEYS = verl.quickKeys;
