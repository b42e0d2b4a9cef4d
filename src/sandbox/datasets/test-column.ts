// The column `test` of datasets whose test is a program: {code, asset}; asset holds files in base64.

import { z } from 'zod';
import { errorMessage } from '../../core/text/thrown.ts';
import { RequestError } from '../request-error.ts';
import { jsonColumn, type ProblemRow } from './dataset.ts';

/** Marks the place for the code. */
export const INSERT = '#<INSERT>';

const column = z.object({ code: z.string().optional(), asset: z.unknown().optional() });
const files = z.record(z.string(), z.string().nullable());

export interface TestProgram {
  code: string;
  /** Names → base64. */
  asset: Record<string, string>;
}

/** `asset` may also be JSON text; anything but an object counts as empty. @throws {RequestError} 500 if there is no code */
export function testProgram(row: ProblemRow): TestProgram {
  try {
    const { code, asset } = readTests(row);
    if (code === undefined) throw new Error('there is no code');
    return { code, asset };
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(500, '"test" of the problem is not {code, asset}', errorMessage(error));
  }
}

/** For classes whose test program never varies. */
export const testAsset = (row: ProblemRow): Record<string, string> => readTests(row).asset;

function readTests(row: ProblemRow): { code: string | undefined; asset: Record<string, string> } {
  const { code, asset } = column.parse(jsonColumn(row, 'test'));
  const given: unknown = typeof asset === 'string' ? JSON.parse(asset) : asset;
  const named = typeof given === 'object' && given !== null ? files.parse(given) : {};
  return {
    code,
    asset: Object.fromEntries(Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== null)),
  };
}

/** Whether `test` in a row of unknown class is of this kind, and its program. */
export function looksLikeTestProgram(row: ProblemRow): { code: string | undefined } | null {
  try {
    const test = column.parse(jsonColumn(row, 'test'));
    return test.code === undefined && test.asset === undefined ? null : { code: test.code };
  } catch {
    return null;
  }
}
