import { InvalidArgumentError, Option } from 'commander';
import { RE2JS } from 're2js';
import type { DumpOptions } from '../dump/dump.ts';
import { isValidationStream } from '../dump/paths.ts';

/** `--validation GLOB`: streams whose rollouts are not trained on, beside those that are named so. */
export const validationOption = (): Option =>
  new Option('--validation <glob...>', 'streams that hold validation rollouts (always: val, valid, validation, val_…)');

/** `--poll SECONDS`; 0 = never. */
export const pollOption = (): Option =>
  new Option(
    '--poll <seconds>',
    'look every so many seconds, 0 for never (by itself only where the file system sends no events)',
  ).argParser((text: string) => {
    const seconds = Number(text);
    if (!(seconds >= 0) || text.trim() === '') throw new InvalidArgumentError(`"${text}" is no number of seconds.`);
    return seconds;
  });

/** `--notify EXPR`, as often as wanted. */
export const notifyOption = (): Option =>
  new Option(
    '--notify <expr>',
    "tell with a bell when it holds for a step that became complete: 'score<0.1', of score, tool_error_rate, truncation_rate (repeatable)",
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);

export function dumpOptions({ validation }: { validation?: string[] }): DumpOptions {
  const patterns = (validation ?? []).map(patternOf);
  return {
    isValidation: (stream) =>
      isValidationStream(stream) || patterns.some((pattern) => pattern.matcher(stream).matches()),
  };
}

/** `*` and `?` within a stream's name; the rest stands for itself. */
function patternOf(glob: string): RE2JS {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return RE2JS.compile(source);
}
