// `custom_extract_logic` is Python sent by the caller. Upstream runs it inside its server process; here it runs in
// the sandbox like any other program, and returns its blocks in a file, so its prints do not interfere.
import { z } from 'zod';
import { type RunCode, runCodeRequest } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import PROGRAM from './custom_extraction.py';
import type { CodeBlock } from './extraction.ts';

/** As custom_extraction.py names it. */
const RESULT = 'code-blocks.json';

/** @throws {RequestError} 500, with Python's message, when the logic fails */
export async function customBlocks(
  logic: string,
  completion: string,
  languages: Record<string, string>,
  run: RunCode,
  signal?: AbortSignal,
): Promise<CodeBlock[]> {
  const data = Buffer.from(JSON.stringify({ logic, completion, languages })).toString('base64');
  const request = runCodeRequest.check({
    code: PROGRAM,
    language: 'python',
    files: { 'extraction.json': data },
    fetch_files: [RESULT],
  });
  if (!request.ok) throw new TypeError('the extraction program is not a valid request');
  const answer = await run(request.value, signal);
  const blocks = answer.files[RESULT];
  if (answer.status !== 'Success' || blocks === undefined) {
    const said = answer.message || answer.run_result?.stderr?.trim() || answer.run_result?.status;
    throw new RequestError(500, `custom_extract_logic failed in the sandbox: ${said}`);
  }
  const read = handedOver.safeParse(parsedJson(Buffer.from(blocks, 'base64').toString()));
  if (read.success) return read.data;
  throw new RequestError(500, 'custom_extract_logic failed in the sandbox: it handed over no list of blocks');
}

/** The logic can write anything into the file. */
const handedOver = z.array(z.object({ priority: z.number(), language: z.string(), code: z.string() }));

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
