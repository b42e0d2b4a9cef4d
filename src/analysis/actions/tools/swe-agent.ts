import type { CallAction } from '../action.ts';
import { readShell } from '../shell-words.ts';
import { textAt } from './arguments.ts';
import { editorAction } from './editor.ts';
import { noAction } from './not-programs.ts';
import type { KnownTool } from './tool.ts';

const WINDOW = new Set(
  'open goto scroll_up scroll_down edit create search_file search_dir find_file insert append'.split(' '),
);
const CONTROL = new Set('submit exit_cost exit_context exit_format exit_error exit_forfeit forfeit'.split(' '));

/** A line of SWE-agent's shell: one of its tools, or a command. */
function sweAgentAction(line: string): CallAction {
  const verb = /^\S+/.exec(line)?.[0] ?? '';
  if (verb === 'str_replace_editor') return editorOf(line) ?? shell(line);
  if (CONTROL.has(verb)) return noAction(`${verb} ends the rollout`);
  if (WINDOW.has(verb)) return windowOf(verb, line) ?? shell(line);
  return shell(line);
}

const shell = (command: string): CallAction => ({
  kind: 'shell',
  command,
  workdir: null,
  timeout: null,
  isInput: false,
});

/** The words of a single command without redirections; null if the text is more than that. */
function commandWords(line: string): string[] | null {
  const commands = readShell(line);
  const [only] = commands ?? [];
  if (only === undefined || commands?.length !== 1 || only.redirects.length > 0) return null;
  return only.words.map(({ text }) => text);
}

function editorOf(line: string): CallAction | null {
  const words = commandWords(line);
  const [, command, path] = words ?? [];
  if (words === null || command === undefined || path === undefined) return null;
  const args: Record<string, string | number[]> = { command, path };
  for (let i = 3; i < words.length; i++) {
    const flag = words[i] ?? '';
    if (!flag.startsWith('--')) continue;
    if (flag === '--view_range') {
      args.view_range = [Number(words[i + 1]), Number(words[i + 2])];
      i += 2;
    } else {
      args[flag.slice(2)] = words[i + 1] ?? '';
      i++;
    }
  }
  return editorAction(args, 'swe-agent');
}

function windowOf(verb: string, line: string): CallAction | null {
  // The text of an edit is not shell: it ends at a line by itself.
  const edit = /^(edit|insert) +([^\n]*)\n([\s\S]*?)\n?end_of_(?:edit|insert)\s*$/.exec(line);
  if (edit !== null) return { kind: 'window', verb, words: (edit[2] ?? '').trim().split(/\s+/), text: edit[3] ?? '' };
  const words = commandWords(line);
  return words === null ? null : { kind: 'window', verb, words: words.slice(1), text: null };
}

/** The calls in SWE-agent's trajectories: `action` is the line as it was run. */
export const SWE_AGENT: KnownTool = {
  agent: 'SWE-agent',
  names: [],
  read(args) {
    const line = textAt(args, 'action');
    return line === null || Object.keys(args).length !== 1 ? null : sweAgentAction(line.replace(/\n$/, ''));
  },
};
