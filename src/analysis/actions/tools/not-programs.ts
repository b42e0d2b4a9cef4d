import type { JsonObject } from '../../../core/json/value.ts';
import type { NoAction } from '../action.ts';
import { textAt } from './arguments.ts';
import type { KnownTool } from './tool.ts';

/** Tools that do not run in a container. */
export const NOT_PROGRAMS: readonly KnownTool[] = [
  {
    agent: 'terminus',
    names: ['keystrokes', 'send_keys', 'tmux', 'bash_command'],
    read: (args) =>
      typeof args.keystrokes === 'string' || Array.isArray(args.keystrokes)
        ? {
            kind: 'none',
            reason: 'keystrokes into a terminal cannot be replayed: their effect depends on their timing',
            mayChange: true,
            code: null,
          }
        : null,
  },
];

/** A call that does nothing in a container, as far as is known. */
export const noAction = (reason: string): NoAction => ({ kind: 'none', reason, mayChange: false, code: null });

const READS = /^(?:read|view|get|list|search|find|open|grep|glob|fetch|web|browse|think|ask|finish|submit)/i;
const CHANGES =
  /python|jupyter|cell|notebook|repl|code|interpreter|exec|run|shell|terminal|bash|command|write|edit|replace|insert|patch|create|delete|remove|move|file|install|task|agent|computer/i;

/** A tool that is not known. */
export function unknownTool(name: string, args: JsonObject): NoAction {
  const code = /python|cell|notebook|code|interpreter|repl/i.test(name)
    ? textAt(args, 'code', 'source', 'script')
    : null;
  const writes = ['code', 'command', 'cmd', 'script', 'content', 'new_str', 'patch'].some((key) => key in args);
  return {
    ...noAction(`${name === '' ? 'a call without a name' : name} is not a known tool of a container`),
    mayChange: !READS.test(name) && (writes || CHANGES.test(name)),
    code,
  };
}
