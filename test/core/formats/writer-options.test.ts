import { describe } from 'vitest';
import { spellRecords } from './writer-options.ts';

describe('a record reads the same however its writer spells it', () => spellRecords(false));
