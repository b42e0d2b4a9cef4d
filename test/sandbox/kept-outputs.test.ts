import { expect, test } from 'vitest';
import { KeptOutputs } from '../../src/sandbox/datasets/kept-outputs.ts';
import type { RunCodeResponse } from '../../src/sandbox/protocol.ts';

const MB = 1024 * 1024;
const answer = (stdout: string): RunCodeResponse => ({
  status: 'Success',
  message: '',
  compile_result: null,
  run_result: { status: 'Finished', execution_time: 1, return_code: 0, stdout, stderr: '' },
  executor_pod_name: null,
  files: {},
});
const long = answer('é'.repeat(8 * MB));
const lengthOf = ({ run_result }: RunCodeResponse) => run_result!.stdout!.length;

test('a submission keeps its outputs up to a limit, then their beginnings, with a word', () => {
  const { keep } = new KeptOutputs().open();
  for (let n = 0; n < 4; n++) expect(lengthOf(keep(long))).toBe(8 * MB);
  expect(keep(long).run_result?.stdout).toMatch(
    /^é{10000}\n\[output cut: the first 10000 of 8388608 characters are shown, because the outputs of all cases are too long\]\n$/,
  );
  // Short ones are shown whatever came before.
  expect(keep(answer('42\n'))).toEqual(answer('42\n'));
});

test('submissions share one room, and give theirs back', () => {
  const outputs = new KeptOutputs();
  const open = Array.from({ length: 8 }, () => outputs.open());
  for (const { keep } of open) for (let n = 0; n < 4; n++) expect(lengthOf(keep(long))).toBe(8 * MB);
  const late = outputs.open();
  expect(lengthOf(late.keep(long))).toBeLessThan(11_000);
  for (const { close } of open) close();
  expect(lengthOf(late.keep(long))).toBe(8 * MB);
});
