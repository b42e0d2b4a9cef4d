import type { JsonObject, JsonValue } from '../json/value.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { given } from './given.ts';

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';
const isTextOrNone = (value: JsonValue | undefined): boolean => value === undefined || value === null || isText(value);

/**
 * Rows of Stanford Alpaca's data set: an instruction, its input, and the reply; with LLaMA-Factory's `system` and
 * `history` of earlier exchanges. A row with a score or a step is a trainer's, whatever its extras are called.
 */
export const alpaca: Format = messageFormat({
  name: 'alpaca',
  basis: 'documentation',
  mapping: { turns: 'system, history, instruction with input, output' },
  detects: ({ instruction, input, output, score, step }) =>
    isText(instruction) && isTextOrNone(input) && isText(output) && score === undefined && step === undefined,
  find(record) {
    const { instruction, input, output } = record;
    const asked = [
      { pointer: '/instruction', text: textOf(instruction) },
      { pointer: '/input', text: textOf(input) },
    ];
    const messages: FoundMessage[] = [
      ...(isText(record.system) && record.system !== '' ? [saidMessage('system', '/system', record.system)] : []),
      ...earlierTurns(record),
      { role: 'user', texts: asked.filter(({ text }) => text !== '') },
      saidMessage('assistant', '/output', textOf(output)),
    ];
    const known = new Set(['instruction', 'input', 'output', 'system', 'history']);
    return { known, messages, isUnsampled: true };
  },
});

const textOf = (value: JsonValue | undefined): string => (isText(value) ? value : '');

const saidMessage = (role: string, pointer: string, text: string): FoundMessage => ({
  role,
  texts: [{ pointer, text }],
});

/** Earlier pairs of question and answer; whether a trainer learns from them is its choice. */
const earlierTurns = ({ history }: JsonObject): FoundMessage[] =>
  (Array.isArray(history) ? history : []).flatMap((pair, at) => {
    if (!Array.isArray(pair)) return [];
    const place = `/history/${at}`;
    return [
      saidMessage('user', `${place}/0`, textOf(pair[0])),
      given(saidMessage('assistant', `${place}/1`, textOf(pair[1]))),
    ];
  });
