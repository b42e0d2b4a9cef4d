import type { CommandEntry, FlagEntry } from './command-tree.ts';

/** The manual in man(7) format. */
export function manualPage(version: string, description: string, commands: readonly CommandEntry[]): string {
  const program = commands.find(({ name }) => name === '')!;
  const lines = [
    `.TH ROLLOUT-VIEWER 1 "" "rollout-viewer ${version}"`,
    '.SH NAME',
    `rollout-viewer \\- ${roff(description)}`,
    '.SH SYNOPSIS',
    ...commands.flatMap(({ name, usage }) => [`.B rollout-viewer ${name}`.trimEnd(), roff(usage), '.br']),
    '.SH OPTIONS',
    ...program.flags.flatMap(option),
    '.SH COMMANDS',
    ...commands.filter((command) => command !== program).flatMap(section),
    '.SH EXIT STATUS',
    '0 = done. 1 = the answer is no: a drift, nothing matched. 2 = usage, or input that cannot be read.',
    '.SH FILES',
    '$XDG_CONFIG_HOME/rollout-viewer/config.yaml holds keys and settings. $XDG_STATE_HOME/rollout-viewer/ holds results, branches and labels, with a folder for each dump.',
    '.SH ENVIRONMENT',
    'NO_COLOR, EDITOR, PAGER, SANDBOX_FUSION_ENDPOINT, ROLLOUT_VIEWER_THEME, ROLLOUT_VIEWER_KEYS, ROLLOUT_VIEWER_API_KEY.',
  ];
  return `${lines.join('\n')}\n`;
}

const section = ({ name, description, flags }: CommandEntry): string[] => [
  `.SS ${name}`,
  roff(`${description}.`),
  ...flags.flatMap(option),
];

const option = ({ written, help }: FlagEntry): string[] => ['.TP', `.B ${roff(written)}`, roff(help)];

/** Escapes backslashes and hyphens, and keeps a line from starting with a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
