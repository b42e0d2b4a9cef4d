import { Command } from 'commander';
import { FIELD_NAMES, FILTER_NAMES } from '../../analysis/query/fields.ts';
import { PLAIN } from '../../core/chat/segment.ts';
import { TEMPLATE_NAMES } from '../../core/chat/templates/index.ts';
import { FORMAT_NAMES } from '../../core/formats/registry.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { builtinRewards } from '../../engine/rewards/index.ts';
import { RULE_NAMES } from '../../replay/index.ts';
import { topicTitles } from './help-topics.ts';
import { viewOptions } from './view-options.ts';

/** The command line as data, the source of completions and the manual. */
export interface CommandEntry {
  /** '' for the program without a command. */
  name: string;
  description: string;
  usage: string;
  /** The words that its first argument may be; empty if it may be anything. */
  words: readonly string[];
  flags: readonly FlagEntry[];
}

export interface FlagEntry {
  /** `-n`, `--limit`: the short one first. */
  names: readonly string[];
  /** As in the help: `--limit <n>`. */
  written: string;
  help: string;
  value: FlagValue;
}

/** none: a switch; text: anything; else what to offer. */
export type FlagValue = 'none' | 'text' | Offer;

export interface Offer {
  words: readonly string[];
  /** Files and folders, too. */
  hasPaths?: boolean;
  /** A word may follow other words and signs: `score < 0.5 && turns`. */
  isExpression?: boolean;
}

const QUERY: Offer = {
  words: [...FIELD_NAMES, ...FILTER_NAMES, ...CHECKS.map((check) => `finding:${check}`)],
  isExpression: true,
};
const BACKENDS: Offer = { words: ['auto', 'bubblewrap', 'pyodide', 'unconfined'] };
const PATHS: Offer = { words: [], hasPaths: true };

/** Values to offer for flags without a list of choices. */
const OFFERED: Readonly<Record<string, Offer>> = {
  '--sort': { words: FIELD_NAMES.flatMap((field) => [field, `${field}:desc`]) },
  '--filter': QUERY,
  '--fail-on': QUERY,
  '--notify': { words: ['score', 'tool_error_rate', 'truncation_rate'], isExpression: true },
  '--by': { words: FIELD_NAMES },
  '--columns': { words: FIELD_NAMES },
  '--sandbox': BACKENDS,
  '--backend': BACKENDS,
  '--format': { words: FORMAT_NAMES },
  '--chat-template': { words: [...TEMPLATE_NAMES, PLAIN], hasPaths: true },
  '--reward': { words: [...builtinRewards().names, 'http'], hasPaths: true },
  '--exact': { words: ['all', ...RULE_NAMES] },
  '--verifier': { words: ['task'], hasPaths: true },
  '--queue': PATHS,
  '--tools': PATHS,
  '--tokenizer': PATHS,
  '--interaction-config': PATHS,
  '--out': PATHS,
};

const PATH = /<(?:.*(?:dir|file|folder|path|yaml|json).*)>/i;
/** `--api <chat|generate|completions>`. */
const CHOICES = /<([\w-]+(?:\|[\w-]+)+)>$/;

/** @param verbs loaders of all commands */
export async function commandTree(verbs: readonly (() => Promise<Command>)[]): Promise<CommandEntry[]> {
  const program = viewOptions(new Command('rollout-viewer')).description('open rollouts in the terminal UI');
  const commands = await Promise.all(verbs.map((load) => load()));
  const entries = commands.map((command) => entryOf(command, command.name()));
  return [entryOf(program, ''), ...entries, helpEntry(entries.map(({ name }) => name))];
}

const helpEntry = (verbs: readonly string[]): CommandEntry => ({
  name: 'help',
  description: 'all commands and topics; a topic, a command, or flags',
  usage: '[topic]',
  words: [...new Set([...topicTitles().map(([name]) => name), 'flags', 'topics', 'commands', ...verbs])],
  flags: [],
});

const entryOf = (command: Command, name: string): CommandEntry => ({
  name,
  description: command.description(),
  usage: command.usage(),
  words: command.registeredArguments[0]?.argChoices ?? [],
  flags: command.options
    .filter((option) => !option.hidden)
    .map((option) => ({
      names: [option.short, option.long].filter((flag) => flag !== undefined && flag !== null),
      written: option.flags,
      help: option.description,
      value: flagValue(option.flags, option.long ?? '', option.argChoices),
    })),
});

function flagValue(written: string, long: string, choices: readonly string[] | undefined): FlagValue {
  if (!/[<[]/.test(written)) return 'none';
  if (choices !== undefined) return { words: choices };
  return OFFERED[long] ?? choicesIn(written) ?? (PATH.test(written) ? PATHS : 'text');
}

function choicesIn(written: string): Offer | null {
  const words = CHOICES.exec(written)?.[1]?.split('|');
  return words === undefined ? null : { words };
}
