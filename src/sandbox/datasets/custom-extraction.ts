// `custom_extract_logic` is Python sent by the caller. Upstream runs it inside its own server process; here it runs in
// the sandbox like any other program, and hands its blocks over in a file, so that what it prints does not matter.
import { z } from 'zod';
import { type RunCode, runCodeRequest } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import type { CodeBlock } from './extraction.ts';

const RESULT = 'code-blocks.json';

/** The names that upstream gives to the logic: completion, CodeBlock, submit_code_blocks and two extractors. */
const PROGRAM = `
import json, re, sys
class CodeBlock:
    def __init__(self, priority, language, code):
        self.priority, self.language, self.code = int(priority), str(language), str(code)
_blocks = []
def _submit(blocks):
    for block in blocks:
        if not isinstance(block, CodeBlock):
            raise TypeError('submit_code_blocks takes a list of CodeBlock')
        _blocks.append(vars(block))
def _make(items):
    return [CodeBlock(item['priority'], item['language'], item['code']) for item in items]
_data = json.load(open('extraction.json', encoding='utf-8'))
def extract_fenced_code(completion):
    found = re.findall(r'\`\`\`([^\\n]*)\\n(.*?)\\n\\s*\`\`\`', completion, re.DOTALL)
    return [CodeBlock(30, _data['languages'].get(word.strip(), ''), code) for word, code in found]
def extract_heuristic_code(completion, language=''):
    lines = '\\n'.join(line for line in completion.split('\\n') if line.strip()) + '\\n'
    if language == 'python':
        pattern = r'(?:^(?:import|from|#)[^\\n]+\\n)*^(?:def|class) [^\\n]+\\n(?:\\s+[^\\n]+\\n)+'
        codes = re.findall(pattern, lines, re.M)
    elif language == 'sql':
        codes = re.findall(r'^\\s*(?:select|with\\s[^\\n]+as)[^;]*', lines, re.M | re.I)
    else:
        codes = [lines] if language == 'bash' else []
    return [CodeBlock(10, language, code) for code in codes]
exec(_data['logic'], {'CodeBlock': CodeBlock, 'completion': _data['completion'], 'submit_code_blocks': _submit,
     'extract_fenced_code': extract_fenced_code, 'extract_heuristic_code': extract_heuristic_code})
json.dump(_blocks, open('${RESULT}', 'w', encoding='utf-8'))
`;

/** @throws {RequestError} 500, with what Python said, when the logic fails */
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
  const read = handedOver.safeParse(parsed(Buffer.from(blocks, 'base64').toString()));
  if (read.success) return read.data;
  throw new RequestError(500, 'custom_extract_logic failed in the sandbox: it handed over no list of blocks');
}

/** The logic can write into the file what it likes. */
const handedOver = z.array(z.object({ priority: z.number(), language: z.string(), code: z.string() }));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
