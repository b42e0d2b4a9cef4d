import { existsSync, realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { z } from 'zod';
import { parseLocator } from '../../core/dump/locator.ts';
import type { Printable } from '../../core/json/print.ts';
import { type JsonObject, objectIn } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import { type AgentAnswer, agentAnswer, bytesOf, ROOM_BYTES } from './answer.ts';
import { askProgram } from './ask-program.ts';
import { KeyValues } from './key-values.ts';
import { listedAnswer, rowAnswer, showAnswer } from './show-answer.ts';

export interface Served {
  /** The paths that the server was started with; agents see nothing else. */
  paths: readonly string[];
  /** Whether recorded tool calls may be run again. */
  allowsReplay: boolean;
  /** Command-line flags that say how records are read. */
  reading: readonly string[];
  /** Shows a rollout on a person's screen. */
  open(request: { locator: string; turn: number | null; quotes: readonly string[] }): Promise<Printable>;
}

export interface AgentTool {
  name: string;
  /** For people. */
  title: string;
  description: string;
  input: z.ZodRawShape;
  output: z.ZodRawShape;
  readOnly: boolean;
  answer(input: never, signal: AbortSignal): Promise<AgentAnswer>;
}

const FILTER =
  'An expression over score, step, sample, turns, tool_calls, tool_errors, ended, finding:NAME, tool.NAME, input, output, gts, label and any key of the records (the tool keys lists them); &&, ||, !, ==, <, ~ /pattern/i. Example: step == 3 && score < 0.5';
/** Values of what has few: an agent need not guess them. */
const WORDS = `Findings: ${CHECKS.join(', ')}. ${FACTS.flatMap(({ name, words }) => (words === undefined ? [] : [`${name}: ${words.join(', ')}`])).join('; ')}.`;
const LOCATOR = 'FILE:LINE as list and search give it; a person can paste it into rollout-viewer';
const filter = z.string().max(2000).optional().describe(FILTER);
const cursor = z.number().int().min(0).optional().describe('next_cursor of the answer before');
const locator = z.string().min(1).max(4000);

/** The tools for an agent: the verbs of the command line, a page at a time. */
export function mcpTools(served: Served): AgentTool[] {
  const { paths, reading } = served;
  const flags = (options: Record<string, string | number | undefined>): string[] =>
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const rows = (
    verb: string,
    options: Record<string, string | number | undefined>,
    from: number | undefined,
    shape: (row: JsonObject) => Printable,
    signal: AbortSignal,
    before: readonly string[] = [],
  ) => answerPage([verb, '--json', ...reading, ...flags(options), '--', ...before, ...paths], from ?? 0, shape, signal);

  const tools: AgentTool[] = [
    tool(
      'list',
      'List rollouts, one per row: locator, step, score, turns, tool calls, how it ended, and findings (of automatic checks, with their turns). Start here: a filter on step and score finds the failed ones. A missing or NaN score fails every comparison, so !(score >= 1) includes those too. Sort by score, or score:desc.',
      { filter, sort: z.string().max(200).optional().describe('score, step, turns, tool_errors … ; KEY:desc'), cursor },
      ({ filter: expression, sort, cursor: from }, signal) =>
        rows('ls', { filter: expression, sort }, from, listedAnswer, signal),
    ),
    tool(
      'keys',
      `The names that filter, sort and stats know in this dump: facts and keys of its records, each with how many of the rollouts read have it, and its range or some of its values. ${WORDS}`,
      { filter },
      async ({ filter: expression }, signal) => {
        const keys = new KeyValues();
        const asked = ['ls', '--json', ...reading, ...flags({ filter: expression, limit: KEYS_OF }), '--', ...paths];
        const { messages, status } = await askProgram(asked, (row) => keys.add(row), signal);
        if (status === 2) throw new Error(messages);
        return fittedRows(keys.rows(), { rollouts: keys.count, ...toldMessages(messages) });
      },
    ),
    tool(
      'show',
      'Show rollouts whole: every turn with role, text, whether it was trained on, tool calls and rewards; score, ground truth, loss mask, findings. Several locators share the room, so one alone shows more. Long texts show head and tail; ask for a turn alone (from_turn = to_turn) with more chars, or with offset.',
      {
        locators: z.array(locator).min(1).max(8).describe(LOCATOR),
        from_turn: z.number().int().min(0).optional(),
        to_turn: z.number().int().min(0).optional(),
        chars: z.number().int().min(100).max(16_000).optional().describe('of each text; default 1500'),
        offset: z.number().int().min(0).optional().describe('skips this many characters of the text of from_turn'),
      },
      async (
        { locators, from_turn: from = 0, to_turn: to = Number.MAX_SAFE_INTEGER, chars = 1500, offset = 0 },
        signal,
      ) => {
        for (const one of locators) checkInside(one, paths);
        const {
          rows: shown,
          messages,
          status,
        } = await askProgram(['show', '--json', ...reading, '--', ...locators], () => true, signal);
        if (status === 2) throw new Error(messages);
        const rollouts = offset === 0 ? shown : shown.map((one) => withOffset(one, from, offset));
        return agentAnswer(showAnswer(rollouts, { from, to, chars }), toldMessages(messages));
      },
    ),
    tool(
      'search',
      'Search the texts of all turns. Hits are named by locator and turn, with the words around them.',
      {
        pattern: z
          .string()
          .min(1)
          .max(1000)
          .describe('RE2; a capital letter makes case count; \\V before it = word for word'),
        role: z.string().max(60).optional().describe('only turns of this role: user, assistant, tool …'),
        filter,
        cursor,
      },
      ({ pattern, role, filter: expression, cursor: from }, signal) =>
        rows('grep', { role, filter: expression, context: 120 }, from, rowAnswer, signal, [pattern]),
    ),
    tool(
      'stats',
      'Sum up rollouts by step, or by another key: how many, mean score, means of turns, calls and lengths, how many have each finding.',
      {
        by: z
          .string()
          .max(200)
          .optional()
          .describe('step (default), stream, ended, fault, tool, or a key of the records (the tool keys lists them)'),
        filter,
        cursor,
      },
      ({ by, filter: expression, cursor: from }, signal) =>
        rows('stats', { by, filter: expression }, from, sumsAnswer, signal),
    ),
    tool(
      'findings',
      'Why rollouts failed, according to automatic checks: each finding with how many rollouts have it, and locators of examples with their message. One call for "what is wrong in step 3": filter step == 3 && score < 1.',
      { filter },
      async ({ filter: expression }, signal) => {
        const found = new Map<string, { rollouts: number; examples: Printable[] }>();
        let rollouts = 0;
        let without = 0;
        const { messages, status } = await askProgram(
          ['ls', '--json', ...reading, ...flags({ filter: expression }), '--', ...paths],
          (row) => {
            rollouts++;
            const own = (row.findings as JsonObject[]) ?? [];
            if (own.length === 0) without++;
            for (const check of new Set(own.map((one) => String(one.check)))) {
              const known = found.get(check) ?? { rollouts: 0, examples: [] };
              found.set(check, { ...known, rollouts: known.rollouts + 1 });
              const { turn, message } = own.find((one) => one.check === check)!;
              if (known.examples.length < EXAMPLES)
                known.examples.push(
                  rowAnswer({
                    locator: row.locator ?? null,
                    score: row.score ?? null,
                    turn: turn ?? null,
                    message: message ?? null,
                  }),
                );
            }
            // Only totals are kept, so a million rollouts take no memory.
            row.findings = row.extras = null;
            return true;
          },
          signal,
        );
        if (status === 2) throw new Error(messages);
        const sums = [...found].sort(([, a], [, b]) => b.rollouts - a.rollouts);
        return fittedRows(
          sums.map(([check, { rollouts: count, examples }]) => ({ check, rollouts: count, examples })),
          { rollouts, without_findings: without, ...toldMessages(messages) },
        );
      },
    ),
    tool(
      'triage',
      'Which rollouts to read, and why: findings, tool errors, gaps within a group, extremes, and a random fifth. For "where do I start?" in a large dump.',
      { filter, n: z.number().int().min(1).max(100).optional().describe('how many; default 20'), cursor },
      ({ filter: expression, n = 20, cursor: from }, signal) =>
        rows('triage', { filter: expression, n }, from, rowAnswer, signal),
    ),
    tool(
      'compare',
      'The mean score of each prompt in each step, the largest swing first: when each was learned or forgotten.',
      { filter, cursor },
      ({ filter: expression, cursor: from }, signal) => rows('matrix', { filter: expression }, from, rowAnswer, signal),
    ),
    tool(
      'labels',
      'What people and agents said of rollouts: labels and notes per rater, and how far raters agree.',
      { cursor },
      async ({ cursor: from }, signal) =>
        answerPage(['labels', '--json', ...reading, '--', itemAt(paths, 0)], from ?? 0, rowAnswer, signal),
    ),
    tool(
      'label',
      'Label a rollout under your name. The label is kept in the journal of this user beside those of others, never in the dump.',
      {
        locator: locator.describe(`${LOCATOR}; #tN behind it for the turn that shows it`),
        label: z.string().min(1).max(60).describe('a word: good, bad, hack …'),
        note: z.string().max(1000).optional(),
        rater: z.string().min(1).max(50).optional().describe('your name, kept as agent:NAME; default "agent"'),
      },
      async ({ locator: one, label, note, rater: name }, signal) => {
        // An agent must not label under a person's name.
        const rater = name === undefined || name === 'agent' ? 'agent' : `agent:${name.replace(/^agent:/, '')}`;
        checkInside(one, paths);
        const { messages, status } = await askProgram(
          ['label', ...reading, ...flags({ note, rater }), '--', one, label],
          () => true,
          signal,
        );
        if (status !== 0) throw new Error(messages);
        return agentAnswer({ locator: one, label, rater });
      },
      false,
    ),
    tool(
      'open',
      'Bring a rollout to the screen of the person who runs rollout-viewer --listen on this machine: point them at what you found. Quotes are highlighted; each must be in the text exactly once, else it is reported as broken.',
      {
        locator: locator.describe(LOCATOR),
        turn: z.number().int().min(0).optional(),
        quotes: z.array(z.string().min(1).max(2000)).max(20).optional(),
      },
      async ({ locator: one, turn, quotes = [] }) => {
        checkInside(one, paths);
        return agentAnswer(await served.open({ locator: one, turn: turn ?? null, quotes }));
      },
    ),
  ];
  if (served.allowsReplay)
    tools.push(
      tool(
        'replay',
        'Run the recorded tool calls of a rollout again in a sandbox, and say for each whether its result is the same: same, different, now_fails, now_succeeds, flaky.',
        {
          locator: locator.describe(LOCATOR),
          call: z.number().int().min(0).optional().describe('only this call, from 0'),
        },
        async ({ locator: one, call }, signal) => {
          checkInside(one, paths);
          return answerPage(
            ['replay', '--json', '--yes', ...reading, ...flags({ call }), '--', one],
            0,
            rowAnswer,
            signal,
          );
        },
        false,
      ),
    );
  return tools;
}

const EXAMPLES = 3;
/** Rollouts whose keys are listed. */
const KEYS_OF = 2000;

const TITLES: Readonly<Record<string, string>> = {
  list: 'List rollouts',
  keys: 'Keys of the records',
  show: 'Show rollouts whole',
  search: 'Search the texts of turns',
  stats: 'Sum up steps',
  findings: 'Why rollouts failed',
  triage: 'Which rollouts to read',
  compare: 'Prompts over steps',
  labels: 'Labels of people and agents',
  label: 'Label a rollout',
  open: 'Bring a rollout to the screen',
  replay: 'Run recorded tool calls again',
};

function tool<Shape extends z.ZodRawShape>(
  name: string,
  description: string,
  input: Shape,
  answer: (input: z.infer<z.ZodObject<Shape>>, signal: AbortSignal) => Promise<AgentAnswer>,
  readOnly = true,
): AgentTool {
  const output = OUTPUTS[name] ?? ROWS;
  const title = TITLES[name] ?? name;
  return { name, title, description, input, output, readOnly, answer: answer };
}

const NOTE = {
  note: z.string(),
  messages: z.string().optional().describe('messages of the program beside the answer'),
};
const ROW = z.looseObject({});
/** A page of rows. */
const ROWS = {
  ...NOTE,
  count: z.number().int().optional().describe('rows of this page'),
  total: z.number().int().nullable().optional().describe('rows of all pages; null: not counted'),
  total_at_least: z.number().int().optional(),
  next_cursor: z.number().int().nullable().optional().describe('asks for the next page; null: this was the last'),
  data: z.array(ROW),
};
const ONE = { ...NOTE, data: ROW };
const SUMS = { rollouts: z.number().int(), left_out: z.number().int().optional().describe('rows without room') };
const OUTPUTS: Readonly<Record<string, z.ZodRawShape>> = {
  show: { ...NOTE, data: z.array(ROW) },
  findings: { ...NOTE, ...SUMS, without_findings: z.number().int(), data: z.array(ROW) },
  keys: { ...NOTE, ...SUMS, data: z.array(ROW) },
  label: ONE,
  open: ONE,
};

/** The most time spent counting rows beyond a page. */
const COUNTING_MS = 5_000;

/** As many rows from the cursor on as fit into an answer, with their total number. */
async function answerPage(
  args: readonly string[],
  from: number,
  shape: (row: JsonObject) => Printable,
  signal: AbortSignal,
): Promise<AgentAnswer> {
  let seen = 0;
  let room = ROOM_BYTES;
  const shaped: Printable[] = [];
  const until = performance.now() + COUNTING_MS;
  const { hasMore, messages, status } = await askProgram(
    args,
    (row) => {
      seen++;
      // Rows that do not fit are counted, as long as time permits.
      if (room < 0) return performance.now() < until ? null : false;
      if (seen <= from) return null;
      const one = shape(row);
      room -= bytesOf(one);
      if (room >= 0) shaped.push(one);
      else if (shaped.length === 0) shaped.push({ too_long: true });
      return null;
    },
    signal,
  );
  const next = from + shaped.length;
  if (status === 2) throw new Error(messages);
  return agentAnswer(shaped, {
    count: shaped.length,
    ...(hasMore ? { total: null, total_at_least: seen } : { total: seen }),
    next_cursor: next < seen ? next : null,
    ...toldMessages(messages),
  });
}

/** As many rows as fit, with the number left out. */
function fittedRows(rows: readonly Printable[], beside: { [key: string]: Printable }): AgentAnswer {
  let room = ROOM_BYTES;
  const kept = rows.filter((row) => {
    room -= bytesOf(row);
    return room >= 0;
  });
  return agentAnswer(kept, {
    ...beside,
    ...(kept.length < rows.length ? { left_out: rows.length - kept.length } : {}),
  });
}

const toldMessages = (messages: string): { [key: string]: Printable } =>
  messages === '' ? {} : { messages: messages.slice(0, 600) };

/** Omits keys that are null in every dump without such facts. */
function sumsAnswer(row: JsonObject): Printable {
  const { facts, observed: _observed, ...rest } = row;
  const known = Object.entries(objectIn(facts)).filter(([, value]) => value !== null);
  return rowAnswer({ ...rest, facts: Object.fromEntries(known) });
}

function withOffset(rollout: JsonObject, turn: number, offset: number): JsonObject {
  const turns = (rollout.turns as JsonObject[] | undefined) ?? [];
  return {
    ...rollout,
    turns: turns.map((one) => (one.index === turn ? { ...one, text: String(one.text).slice(offset) } : one)),
  };
}

/** An agent can read what the server was started with, and no other file. @throws Error */
function checkInside(text: string, paths: readonly string[]): void {
  const { path } = parseLocator(text);
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw new Error(`${path}: no such file; list and search give locators that exist`);
  }
  // A path that this server still waits for holds nothing yet.
  const roots = paths.filter(existsSync).map((root) => realpathSync(resolve(root)));
  if (!roots.some((root) => real === root || real.startsWith(root + sep)))
    throw new Error(`${path}: not in what this server was started with`);
}
