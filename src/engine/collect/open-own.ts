import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import type { JsonObject } from '../../core/json/value.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import type { OwnUse } from '../common/own-use.ts';
import type { Interaction } from '../interactions/interaction.ts';
import { loadInteractions } from '../interactions/load-interactions.ts';
import { readTools, type StartedTools, startTools } from '../own/load-tools.ts';
import { OwnCode } from '../own/own-code.ts';
import type { OwnEntry } from '../own/own-files.ts';
import { OwnInteraction } from '../own/own-interaction.ts';
import { ownReward } from '../own/own-reward.ts';
import { ownUsesOf } from '../own/own-tool.ts';
import { isRewardFile } from '../own/reward-file.ts';
import type { RewardRouter } from '../rewards/index.ts';
import { McpEntryTool } from '../tools/mcp-entry.ts';
import { type Guest, toolClassNames, toolKind } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { STATE_DIRECTORY } from './run-state.ts';
import type { Settings } from './settings.ts';

export interface OwnParts {
  code: OwnCode;
  tools: readonly Tool[];
  /** Simulated users by name. */
  users: ReadonlyMap<string, Interaction>;
  /** A file that scores every task, whatever its data source, or null. */
  rewards: RewardRouter | null;
  /** Saves the code's output beside the dump. */
  keepLog(out: string): void;
  close(): void;
}

interface OpenOptions {
  say: (message: string) => void;
  allowOwn?: ((uses: readonly OwnUse[], files: readonly OwnEntry[]) => Promise<void>) | undefined;
  /** The user's code folder, whatever path the settings use for it. */
  root?: string | undefined;
  runCode?: Run | undefined;
  /** The settings came with someone else's run. */
  guest?: Guest | undefined;
  signal?: AbortSignal | undefined;
}

/** Reads the tool file, asks permission for code that runs with the user's rights, and starts it. @throws Error naming the file, the line and what to do */
export async function openOwn(settings: Settings, options: OpenOptions): Promise<OwnParts> {
  const { say, allowOwn, root, runCode, guest, signal } = options;
  const log = new OwnLog(say);
  const { python, python_path: pythonPath, tools: toolFile, reward: path, reward_kwargs: kwargs } = settings;
  const code = new OwnCode({ python, pythonPath, root, log: (text) => log.write(text) });
  const rewardFile = isRewardFile(path) ? code.fileOf(path) : null;
  const reward =
    rewardFile === null
      ? null
      : ownReward({
          path: rewardFile,
          functionName: settings.function,
          python,
          pythonPath,
          kwargs,
          log: (text) => log.write(text),
        });
  let servers: StartedTools | null = null;
  const close = () => {
    void servers?.close();
    code.close();
    reward?.close();
  };
  try {
    const classes = classesOf(settings.tool_class ?? []);
    const read = toolFile === undefined ? [] : await readTools(toolFile, { run: runCode, own: code, classes, guest });
    const programs = read.flatMap((tool) => (tool instanceof McpEntryTool ? tool.uses : []));
    const users = await readUsers(settings.interaction_config, code, guest !== undefined);
    const ownUsers = [...users.values()].filter((user) => user instanceof OwnInteraction);
    await allowOwn?.([...ownUsesOf(read), ...programs, ...ownUsers.map(({ use }) => use)], code.files);
    const started = toolFile === undefined ? null : await startTools(read, toolFile, signal);
    servers = started;
    const tools = started?.tools ?? [];
    for (const user of ownUsers) await user.load(signal);
    await reward?.start(signal);
    const rewards = reward === null ? null : { for: () => ({ name: path!, fn: reward.fn }) };
    return { code, tools, users, rewards, keepLog: (out) => log.keepIn(join(out, STATE_DIRECTORY, 'own.log')), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** @throws Error for what is not CLASS=KIND */
function classesOf(texts: readonly string[]): Map<string, string> {
  return new Map(
    texts.map((text) => {
      const [, name, kind] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      if (!name || !kind) throw new Error(`--tool-class ${text}: expected CLASS=KIND`);
      if (!toolKind(kind)) throw new Error(`--tool-class ${text}: unknown kind; known: ${toolClassNames().join(', ')}`);
      return [name, kind] as const;
    }),
  );
}

async function readUsers(path: string | undefined, code: OwnCode, isGuest: boolean): Promise<Map<string, Interaction>> {
  if (path === undefined) return new Map();
  return loadInteractions(path, {
    isGuest,
    own: (className, name, config) => {
      const own = code.find(className, dirname(path));
      return own === null ? null : new OwnInteraction(own, name, config as JsonObject, path);
    },
  });
}

/** Bytes kept of the printed output, including the part before there is a place for it. */
const MOST = 16e6;
const MOST_WAITING = 64_000;

/** A tool may print one line per call or a million: the output goes to a file of bounded size, announced once. */
class OwnLog {
  readonly #say: (message: string) => void;
  #path: string | null = null;
  #waiting = '';
  #written = 0;

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  write(text: string): void {
    if (this.#path === null) {
      this.#waiting = (this.#waiting + text).slice(-MOST_WAITING);
      return;
    }
    if (this.#written >= MOST) return;
    if (this.#written === 0) this.#say(`what your own code prints is in ${this.#path}`);
    this.#written += text.length;
    const end = this.#written >= MOST ? '\n(the rest is not kept)\n' : '';
    try {
      appendFileSync(this.#path, text + end);
    } catch {
      // The dump itself reports a full disk.
      this.#written = MOST;
    }
  }

  keepIn(path: string): void {
    ensureFolder(dirname(path));
    this.#path = path;
    const waiting = this.#waiting;
    this.#waiting = '';
    if (waiting !== '') this.write(waiting);
  }
}
