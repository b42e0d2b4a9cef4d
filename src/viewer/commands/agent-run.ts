import { writeFileSync } from 'node:fs';
import { Dump } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { printJson } from '../../core/json/print.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { HISTORY_RULES, type HistoryRule, type HistoryRules } from '../../engine/record/history-items.ts';
import type { EventSink } from '../../engine/record/rollout-recorder.ts';
import { agentBranch } from '../../replay/agents/agent-branch.ts';
import { type AgentOutcome, differenceText, runAgent } from '../../replay/agents/agent-run.ts';
import { branchUid } from '../../replay/index.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import type { WorldOptions } from '../../replay/worlds/replay-world.ts';
import { sideBySide } from '../present/side-by-side.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { refuseOthers } from './export-target.ts';
import { findRow } from './find-row.ts';
import { interruption } from './interruption.ts';
import { journalOf } from './journal-of.ts';
import { xml } from './junit.ts';
import { ANSWER_IS_NO, DONE, print, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import { selectRows } from './select-rows.ts';
import type { WorldFlags } from './world-flags.ts';
import { WorldImages, worldFor } from './world-options.ts';

const NOWHERE: EventSink = { append: () => {}, close: () => {} };

export interface AgentReplayFlags extends ReadingFlags {
  agent?: string;
  junit?: string;
  timeout?: number;
  exact?: string[] | true;
  filter?: string;
  json?: boolean;
}

interface Verdict {
  locator: string;
  word: 'same' | 'differs' | 'ended early' | 'unreadable';
  detail: string;
  /** The lines that a person reads below it. */
  lines: string[];
  turns: { turn: number; verdict: 'same' | 'differs' | 'not reached' }[];
  outcome: AgentOutcome | null;
}

/** Runs the agent on each rollout with all replies from the record, and no model. @returns the exit status */
export async function replayAgent(
  args: readonly string[],
  flags: AgentReplayFlags & { agent: string },
): Promise<number> {
  const rules = historyRules(flags.exact);
  if (flags.junit !== undefined) refuseOthers(flags.junit, '<?xml', '--junit', 'XML file');
  const verdicts: Verdict[] = [];
  const selected = selectRows(args, await dumpOptions(flags), filterOf(flags.filter));
  const stop = interruption();
  for await (const { row } of selected) {
    const verdict = await verdictOf(row, flags, rules, stop.signal);
    if (stop.signal.aborted) break;
    verdicts.push(verdict);
    const { locator, word, detail, lines, turns, outcome } = verdict;
    if (flags.json)
      await print(
        `${printJson({ locator, verdict: word, detail, turns: turns.map((one) => ({ ...one })), status: outcome?.status ?? null, difference: outcome?.difference ? { ...outcome.difference } : null })}\n`,
      );
    else await print(`${[sanitiseLine(`${locator}  ${word}: ${detail}`), ...lines].join('\n')}\n`);
  }
  stop.end();
  if (flags.junit !== undefined) writeJunit(flags.junit, verdicts);
  if (stop.signal.aborted) {
    say(`interrupted after ${plural(verdicts.length, 'rollout')}`);
    return ANSWER_IS_NO;
  }
  if (verdicts.length === 0) {
    say('no rollouts');
    return ANSWER_IS_NO;
  }
  const bad = verdicts.filter(({ word }) => word !== 'same').length;
  say(`${plural(verdicts.length, 'rollout')}: ${verdicts.length - bad} the same, ${bad} not`);
  return bad > 0 ? ANSWER_IS_NO : DONE;
}

async function verdictOf(
  row: DumpRecord,
  flags: AgentReplayFlags & { agent: string },
  rules: HistoryRules,
  signal: AbortSignal,
): Promise<Verdict> {
  const { locator, rollout } = row;
  const none = { locator, lines: [], turns: [], outcome: null };
  if (rollout === null) return { ...none, word: 'unreadable', detail: row.error ?? 'no rollout' };
  const outcome = await runAgent(
    { rollout, command: flags.agent, rules, liveFrom: null, world: null, open: () => NOWHERE },
    { say, signal, seconds: flags.timeout },
  );
  const { difference, asked, status } = outcome;
  const turns = outcome.turns.map((turn) => ({
    turn,
    verdict: asked.has(turn)
      ? ('same' as const)
      : difference?.turn === turn
        ? ('differs' as const)
        : ('not reached' as const),
  }));
  const common = { locator, turns, outcome };
  if (difference !== null)
    return {
      ...common,
      word: 'differs',
      detail: differenceText(difference),
      lines: sideBySide(difference.recorded, difference.fresh, width()),
    };
  const missing = turns.filter(({ verdict }) => verdict !== 'same');
  const ended = `the agent ended with status ${status}`;
  if (missing.length > 0)
    return {
      ...common,
      word: 'ended early',
      detail: `${turns.length - missing.length} of ${plural(turns.length, 'turn')} asked for; ${ended}`,
      lines: [],
    };
  return {
    ...common,
    word: 'same',
    detail: `${plural(turns.length, 'turn')} asked for; ${ended}`,
    lines: [],
  };
}

const width = (): number => Math.max(60, process.stdout.columns ?? 100);

/** @throws UsageError for an unknown name */
function historyRules(exact: string[] | true | undefined): HistoryRules {
  const off = exact === true ? HISTORY_RULES : (exact ?? []);
  const unknown = off.find((name) => !HISTORY_RULES.includes(name as HistoryRule));
  if (unknown !== undefined)
    throw new UsageError(`--exact: '${unknown}' is not a rule of --agent; the rules are ${HISTORY_RULES.join(', ')}`);
  return new Set(HISTORY_RULES.filter((name) => !off.includes(name)));
}

function writeJunit(path: string, verdicts: readonly Verdict[]): void {
  const cases = verdicts.map(({ locator, word, detail, lines }) => {
    const name = `  <testcase classname="rollout-viewer" name="${xml(locator)}"`;
    return word === 'same'
      ? `${name}/>`
      : `${name}>\n    <failure message="${xml(`${word}: ${detail}`)}">${xml(lines.join('\n'))}</failure>\n  </testcase>`;
  });
  const failures = verdicts.filter(({ word }) => word !== 'same').length;
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="replay --agent" tests="${verdicts.length}" failures="${failures}">\n${cases.join('\n')}\n</testsuite>\n`;
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new UsageError(`--junit ${path}: ${errorMessage(error)}`);
  }
}

export interface AgentForkFlags extends ReadingFlags, Omit<WorldFlags, 'tool'> {
  agent?: string;
  tool: Record<string, string>;
  turn?: number;
  modelUrl: string;
  n: number;
  out?: string;
  journal?: string;
  json?: boolean;
  timeout?: number | undefined;
}

/** Runs the agent up to a turn with recorded replies, and on with the live model. @returns the exit status */
export async function forkAgent(
  text: string,
  flags: AgentForkFlags & { agent: string },
  editedText: (rollout: Rollout, turn: number) => string | null,
): Promise<number> {
  const place = parseLocator(text);
  const turn = flags.turn ?? place.turn;
  if (turn === null) throw new UsageError(`${text}: it names no turn to continue from; give --turn N, or ${text}#tN`);
  const problem = modelUrlProblem(flags.modelUrl);
  if (problem !== null) throw new UsageError(problem);
  const dump = Dump.open([place.path], await dumpOptions(flags));
  const journal = await journalOf(place.path, flags.journal);
  const stop = interruption();
  const { signal } = stop;
  try {
    const row = await findRow(dump, { ...place, turn });
    const { rollout, locator } = row;
    if (rollout === null) throw new UsageError(`${locator}: ${row.error}`);
    const { agent: command, modelUrl, out } = flags;
    const world = flags.image === undefined ? null : await agentWorld(row, rollout, flags);
    const edited = editedText(rollout, turn);
    const fork = { row, rollout, command, turn, edited, modelUrl, world, journal, out };
    let parted = 0;
    const watch = { say, signal, seconds: flags.timeout };
    for (let branch = 1; branch <= flags.n && !signal.aborted; branch++) {
      const { outcome, path, words } = await agentBranch(fork, branchUid(recordKey(row.raw)), watch);
      const { difference, isLive, status } = outcome;
      if (!isLive) parted++;
      if (flags.json)
        await print(
          `${printJson({ event: 'branch', locator, branch, path, live: isLive, status, difference: difference === null ? null : { ...difference } })}\n`,
        );
      else
        await print(
          [
            sanitiseLine(`branch ${branch}: ${words}; ${path}`),
            ...(difference === null || isLive ? [] : sideBySide(difference.recorded, difference.fresh, width())),
          ]
            .join('\n')
            .concat('\n'),
        );
    }
    if (journal.problem !== null) say(journal.problem);
    if (signal.aborted) {
      say('interrupted');
      return ANSWER_IS_NO;
    }
    return parted === 0 ? DONE : parted === flags.n ? USAGE : ANSWER_IS_NO;
  } finally {
    stop.end();
    journal.close();
    dump.close();
  }
}

/** The world that an agent runs in. @throws UsageError */
async function agentWorld(row: DumpRecord, rollout: Rollout, flags: AgentForkFlags): Promise<WorldOptions> {
  if (flags.network !== true)
    throw new UsageError(
      '--image with --agent needs --network: the agent asks the recorder, which listens on this machine',
    );
  const options = worldFor(row, rollout, await new WorldImages(flags).of(row), flags);
  say(`the agent runs in ${options.image.name}, from ${options.plan.workdir.path}, each branch in a separate copy`);
  return options;
}
