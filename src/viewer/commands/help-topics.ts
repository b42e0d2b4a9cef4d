import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalPage } from './terminal-page.ts';

/** The text of `--help` alone: the most common uses, on one screen. */
export const SHORT_HELP = `A terminal viewer and debugger for the rollouts of LLM reinforcement learning

  rollout-viewer ./rollout_data                  opens a dump; ? lists the keys
  rollout-viewer node7:/runs/x/rollout_data      one on another machine
  rollout-viewer ls ./rollout_data --filter 'score < 0.5' --json
  rollout-viewer show rollout_data/3.jsonl:57    one rollout; #t4 for a turn
  rollout-viewer stats ./rollout_data --csv      means and findings of each step

  rollout-viewer help                            all commands and topics
  rollout-viewer help TOPIC                      a topic, a command, or flags
  rollout-viewer COMMAND --help                  every flag of a command
`;

/** Topics without a page: short lists that the pages would only repeat. */
const SHORT_TOPICS: Readonly<Record<string, { title: string; text: string }>> = {
  files: {
    title: 'Where the program keeps things',
    text: `$XDG_CONFIG_HOME/rollout-viewer/config.yaml     keys, formats, chat templates, error patterns
$XDG_STATE_HOME/rollout-viewer/                 results, branches and labels, a folder for each dump (--journal DIR)
$XDG_CACHE_HOME/rollout-viewer/                 copies of other machines' files, images of sandboxes, the compiled program; may be removed
A dump is only ever read.
`,
  },
  environment: {
    title: 'Environment variables',
    text: `NO_COLOR                        no colours; the loss mask is in the gutter all the same
COLUMNS, TERM, COLORTERM        the terminal
EDITOR, PAGER                   the programs that V opens
ROLLOUT_VIEWER_THEME            auto (by the terminal's background), dark, light, contrast
ROLLOUT_VIEWER_KEYS             the keys of another program: less, emacs, verl
SANDBOX_FUSION_ENDPOINT         the server on which calls run again
ROLLOUT_VIEWER_MODEL_URL        the model server of fork and rollout
ROLLOUT_VIEWER_API_KEY          its key; OPENAI_API_KEY if that is not set
ROLLOUT_VIEWER_USER_API_KEY     the key of the model that plays a user
ROLLOUT_VIEWER_QUEUE_PASSWORD   the password of the queue's Redis
`,
  },
};

/** The docs/ folder of this installation: beside the bundle's folder, or above the sources. Null if it was not installed. */
function docsFolder(): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const docs = join(folder, 'docs');
    if (existsSync(join(docs, 'vision.md'))) return docs;
    if (folder === dirname(folder)) return null;
  }
}

/** Topics by name with their titles, in the order of the docs/ index. */
export function topicTitles(): (readonly [name: string, title: string])[] {
  const docs = docsFolder();
  const pages = docs === null ? [] : readdirSync(docs).filter((name) => /^[a-z-]+\.md$/.test(name));
  const titles = pages.map((name) => [name.replace(/\.md$/, ''), pageTitle(join(docs ?? '', name))] as const);
  const order = docs === null ? '' : readFileSync(join(docs, 'README.md'), 'utf8');
  const place = ([name]: readonly [string, string]): number => {
    const at = order.indexOf(`(${name}.md)`);
    return at < 0 ? order.length : at;
  };
  titles.sort((a, b) => place(a) - place(b));
  return [...titles, ...Object.entries(SHORT_TOPICS).map(([name, { title }]) => [name, title] as const)];
}

/** The text of a topic for a terminal of this width; null for an unknown topic. `filter` finds `filters`. */
export function topicText(name: string, width: number): string | null {
  const short = SHORT_TOPICS[name];
  if (short !== undefined) return `${name}: ${short.title}\n\n${short.text}`;
  const docs = docsFolder();
  if (docs === null || !/^[a-z-]+$/.test(name)) return null;
  const page = [name, `${name}s`].map((stem) => join(docs, `${stem}.md`)).find((path) => existsSync(path));
  return page === undefined ? null : terminalPage(readFileSync(page, 'utf8'), width);
}

const pageTitle = (path: string): string => /^# (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
