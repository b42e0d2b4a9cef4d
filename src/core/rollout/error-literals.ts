import { literalsOf } from '../text/pattern-literals.ts';
import { ERROR_CAUSES } from './error-causes.ts';
import { ERROR_PATTERNS } from './error-patterns.ts';

// The build writes these values in place of this module: reading a hundred patterns takes 30 ms of each start.

/** The literals of each cause's pattern. */
export const CAUSE_LITERALS = ERROR_CAUSES.map(({ pattern }) => literalsOf(pattern));

/** The literals of each known pattern. */
export const KNOWN_LITERALS = ERROR_PATTERNS.map(({ pattern }) => literalsOf(pattern));
