import { nearestName } from '../../../core/text/nearest.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { commandOf } from '../keys/commands.ts';
import type { Data } from '../rows/data.ts';
import { isLocatorLine, locate } from '../rows/locate.ts';
import type { Action } from '../state/action.ts';
import type { PromptProblem } from '../state/prompt.ts';
import type { State } from '../state/state.ts';
import { COMMAND_LINE, callableNames, called, sampleNumbered, usageOf } from './command-line.ts';
import type { PromptKind } from './prompt-kind.ts';

/** The first word, its argument, and where that begins. */
function parts(value: string): { word: string; rest: string; at: number } {
  const [, before = '', word = '', gap = '', rest = ''] = /^(\s*)(\S*)(\s*)(.*?)\s*$/s.exec(value) ?? [];
  return { word, rest, at: before.length + word.length + gap.length };
}

const isWholeNumber = (text: string): boolean => /^\d+$/.test(text);

const failedAction = (text: string): Action => ({ type: 'say', text, kind: 'error' });

/** `:57`, `:step 12`, `:id b1946ac9`, `:3.jsonl:57#t4`, `:replay`. */
export const commandPrompt: PromptKind = {
  sign: ':',
  hint: (value) => {
    const { word } = parts(value);
    if (word === '') return `57, FILE:LINE#t4, ${COMMAND_LINE.map(usageOf).join(', ')}; Tab completes every command`;
    if (isWholeNumber(word)) return 'goes to the sample of that number in this step';
    if (isLocatorLine(value.trim())) return 'goes to that line and turn';
    const found = called(word);
    if (found === null) {
      const names = callableNames().filter((name) => name.startsWith(word));
      return names.length === 0 ? 'no command starts with this' : names.join('  ');
    }
    return found.kind === 'line'
      ? `${usageOf(found.command)}: ${found.command.help}`
      : `${found.id}: ${commandOf(found.id)!.title}`;
  },

  check: (value, state, data) => {
    const { word, rest, at } = parts(value);
    if (word === '') return null;
    if (isWholeNumber(value.trim())) {
      const place = sampleNumbered(Number(word), state);
      return typeof place === 'string' ? { message: place, at: at - word.length } : null;
    }
    const found = called(word);
    if (found === null || (isLocatorLine(value.trim()) && found.kind === 'key'))
      return checkLocator(value, state, data);
    if (found.kind === 'line') {
      const problem = found.command.check?.(rest, state, data) ?? null;
      return problem === null ? null : { message: problem, at };
    }
    if (rest !== '') return { message: 'nothing follows this command', at };
    const reason = commandOf(found.id)?.disabled?.(state, data) ?? null;
    return reason === null ? null : { message: reason, at: 0 };
  },

  submit: (value, state, data) => {
    const { word, rest } = parts(value);
    if (word === '') return null;
    const text = value.trim();
    if (isWholeNumber(text)) {
      const place = sampleNumbered(Number(text), state);
      return typeof place === 'string' ? failedAction(place) : { type: 'go', place, turn: null };
    }
    const found = called(word);
    if (found?.kind === 'line') return found.command.action(rest, state, data);
    if (found?.kind === 'key') return { type: 'command', id: found.id };
    const target = locate(text, state, data);
    return 'message' in target ? failedAction(target.message) : { type: 'go', ...target };
  },

  complete: (value, state, data) => {
    const { word, rest, at } = parts(value);
    const found = called(word);
    const isArgument = /\s/.test(value.trimStart());
    if (isArgument) {
      const choices = found?.kind === 'line' ? (found.command.complete?.(rest, state, data) ?? []) : [];
      return choices.filter((one) => one.startsWith(rest)).map((one) => value.slice(0, at) + one);
    }
    const start = value.trimStart();
    const names = callableNames().filter((name) => name.startsWith(start));
    const lines = COMMAND_LINE.map(({ name }) => name);
    const files =
      start === '' ? [] : data.dump.files.map((file) => `${file.path.slice(file.path.lastIndexOf('/') + 1)}:`);
    return [
      ...names.map((name) => (lines.includes(name) ? `${name} ` : name)),
      ...new Set(files.filter((name) => name.startsWith(start)).map(sanitiseLine)),
    ];
  },
};

function checkLocator(value: string, state: State, data: Data): PromptProblem | null {
  const text = value.trim();
  const before = value.length - value.trimStart().length;
  if (!isLocatorLine(text)) {
    const near = nearestName(parts(value).word, callableNames());
    const hint = near === null ? 'Tab completes their names, ? lists them' : `did you mean ${near}?`;
    return { message: `no such command; ${hint}`, at: before };
  }
  const target = locate(text, state, data);
  return 'message' in target ? { message: target.message, at: before + target.at } : null;
}
