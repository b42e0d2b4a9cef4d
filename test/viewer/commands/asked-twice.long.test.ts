import { describe } from 'vitest';
import { askTwice } from './asked-twice.ts';

describe('the same question to files of all eras has the same answer', () => askTwice(true));
