import { say } from '../update/result.ts';
import { COMMAND_LINE, commandNamed } from './command-line.ts';
import type { PromptKind } from './kinds.ts';

/** `:step 12`, `:id b1946ac9`, `:57`. */
export const commandPrompt: PromptKind = {
  sign: ':',
  hint: (value) => commandNamed(value)?.help ?? COMMAND_LINE.map((command) => command.usage).join('  '),
  check: (value, state, world) => {
    const text = value.trim();
    if (text === '') return null;
    const command = commandNamed(text);
    if (command === null)
      return { message: `no command is called so: ${COMMAND_LINE.map(({ name }) => name).join(', ')}`, at: 0 };
    const rest = command.argument(text);
    const problem = command.check?.(rest, state, world) ?? null;
    return problem === null ? null : { message: problem, at: Math.max(0, value.length - rest.length) };
  },
  submit: (state, value, world) => {
    const command = commandNamed(value.trim());
    if (command === null) return state;
    return command.run(command.argument(value.trim()), state, world) ?? say(state, 'nothing to do');
  },
  complete: (value) => COMMAND_LINE.map(({ name }) => `${name} `).filter((name) => name.startsWith(value.trimStart())),
};
