import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Agreement } from '../../analysis/agreement.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { exchange } from '../../core/http/client.ts';
import { modelUrlProblem } from '../../core/http/model-url.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { formatCount, plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { ChatCompletionsModel, type Model, ModelError } from '../../engine/index.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import { keepLabel, standingLabels } from '../../replay/journal/labels.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import { keptIn } from '../../replay/results.ts';
import { judgementIn } from '../judge/answer.ts';
import { questionOf, sizeOf } from '../judge/ask.ts';
import { type Half, halfAgreement, halfOf, humanLabel, judgeName, type TwoLabels } from '../judge/halves.ts';
import { type Rubric, readRubric } from '../judge/rubric.ts';
import { allowCost } from './allow-cost.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { interruption } from './interruption.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say } from './output.ts';
import { filterOf } from './query-options.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

export interface JudgeFlags extends ReadingFlags {
  rubric: string;
  modelUrl: string;
  model?: string;
  filter?: string;
  half?: string;
  limit?: number;
  concurrency: number;
  maxCharacters: number;
  yes?: boolean;
  again?: boolean;
  /** The former name of `again`. */
  anew?: boolean;
  json?: boolean;
  journal?: string;
}

/** labelled: kept; void: the answer is not grounded in the rollout; failed: no answer came. */
interface JudgedRollout {
  locator: string;
  status: 'labelled' | 'void' | 'failed';
  label: string | null;
  turn: number | null;
  quote: string | null;
  reason: string | null;
  half: Half;
  /** The label given by people, if they agree; null in the half that the rubric is tested on. */
  human: string | null;
}

/** Asks the judge, prints a line per rollout, and how far the judge agrees with people. @returns the exit status */
export async function judgeRollouts(args: readonly string[], flags: JudgeFlags): Promise<number> {
  const rubric = rubricOf(flags.rubric);
  const half = halfFlag(flags.half);
  const urlProblem = modelUrlProblem(flags.modelUrl);
  if (urlProblem !== null) throw new UsageError(urlProblem);
  const filter = filterOf(flags.filter);
  const options = await dumpOptions(flags);
  const journal = await journalOf(pathOfArgument(itemAt(args, 0)), flags.journal);
  const stop = interruption();
  try {
    const name = flags.model ?? (await firstModel(flags.modelUrl));
    const rater = judgeName(name);
    const isAgain = flags.again === true || flags.anew === true;
    const wanted = async function* () {
      let count = 0;
      for await (const { row } of selectRows(args, options, filter, keptIn([journal]))) {
        const record = recordKey(row.raw);
        if (row.rollout === null || (half !== null && halfOf(record) !== half)) continue;
        const known = standingLabels(journal, record).find((one) => one.rater === rater);
        if (known?.rubric === rubric.hash && !isAgain) continue;
        if (count++ >= (flags.limit ?? Number.POSITIVE_INFINITY)) return;
        yield row;
      }
    };
    const cost = await judgingCost(wanted(), rubric, flags.maxCharacters);
    if (cost.calls === 0) {
      say('nothing to judge: none of the requested rollouts is left');
      return ANSWER_IS_NO;
    }
    const tokens = formatCount(Math.ceil(cost.characters / 4));
    await allowCost(
      `${name}: ${plural(cost.calls, 'call')}, ${formatCount(cost.characters)} characters, about ${tokens} tokens`,
      flags.yes === true,
    );
    const model = new ChatCompletionsModel(name, {
      url: flags.modelUrl,
      apiKey: process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY,
    });
    const judged: JudgedRollout[] = [];
    const asked = { model, rater, rubric, journal, most: flags.maxCharacters, signal: stop.signal };
    for await (const one of several(wanted(), flags.concurrency, (row) => judgeOne(row, asked))) {
      judged.push(one);
      await print(flags.json ? `${printJson({ ...one })}\n` : `${judgementLine(one)}\n`);
      if (stop.signal.aborted) break;
    }
    const compared = await comparedIn(selectRows(args, options, filter, keptIn([journal])), journal, rater);
    await printAgreement(judged, compared, flags.json === true);
    if (journal.problem !== null) say(journal.problem);
    return judged.some(({ status }) => status === 'labelled') ? DONE : ANSWER_IS_NO;
  } finally {
    stop.end();
    journal.close();
  }
}

/** @throws UsageError */
function rubricOf(path: string): Rubric {
  try {
    return readRubric(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`--rubric ${path}: ${errorMessage(error)}`);
  }
}

function halfFlag(text: string | undefined): Half | null {
  if (text === undefined || text === 'tune' || text === 'test') return text ?? null;
  throw new UsageError(`--half ${text}: expected tune or test`);
}

const Listed = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** @throws UsageError */
async function firstModel(url: string): Promise<string> {
  const key = process.env.ROLLOUT_VIEWER_API_KEY ?? process.env.OPENAI_API_KEY;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  try {
    const { text } = await exchange({
      url: `${url.replace(/\/+$/, '')}/models`,
      method: 'GET',
      headers,
      timeoutMs: 10_000,
    });
    return itemAt(Listed.parse(JSON.parse(text)).data, 0).id;
  } catch (error) {
    const reason =
      error instanceof z.ZodError || error instanceof SyntaxError ? 'it lists no models' : errorMessage(error);
    throw new UsageError(`--model-url ${url}: ${reason}; give --model NAME`);
  }
}

async function judgingCost(rows: AsyncIterable<DumpRecord>, rubric: Rubric, most: number) {
  const cost = { calls: 0, characters: 0 };
  for await (const { rollout } of rows) {
    cost.calls++;
    cost.characters += sizeOf(questionOf(rollout!, rubric, most));
  }
  return cost;
}

interface JudgeQuestion {
  model: Model;
  rater: string;
  rubric: Rubric;
  journal: Journal;
  most: number;
  signal: AbortSignal;
}

/** A judgement is a few words; reasoning may precede it. */
const MOST_TOKENS = 4096;

async function judgeOne(
  row: DumpRecord,
  { model, rater, rubric, journal, most, signal }: JudgeQuestion,
): Promise<JudgedRollout> {
  const { locator, rollout } = row;
  const record = recordKey(row.raw);
  const half = halfOf(record);
  const human = half === 'tune' ? humanLabel(standingLabels(journal, record)) : null;
  const none = { locator, label: null, turn: null, quote: null, half, human };
  try {
    const { text } = await model.generate({
      messages: questionOf(rollout!, rubric, most),
      tools: [],
      sampling: { temperature: 0 },
      maxNewTokens: MOST_TOKENS,
      inputIds: null,
      signal,
    });
    const found = judgementIn(text, rollout!, rubric);
    if (typeof found === 'string') return { ...none, status: 'void', reason: found };
    const { label, turn, quote, reason } = found;
    keepLabel(journal, { record, locator, rater }, { label, turn, quote, note: reason, rubric: rubric.hash });
    return { ...none, ...found, status: 'labelled' };
  } catch (error) {
    if (!(error instanceof ModelError) && !signal.aborted) throw error;
    return { ...none, status: 'failed', reason: errorMessage(error) };
  }
}

/** Results as they come, with a limited number in flight. */
async function* several<T, R>(items: AsyncIterable<T>, most: number, act: (item: T) => Promise<R>): AsyncGenerator<R> {
  const running = new Set<Promise<{ own: Promise<unknown>; result: R }>>();
  const settled = async (): Promise<R> => {
    const { own, result } = await Promise.race(running);
    running.delete(own as Promise<{ own: Promise<unknown>; result: R }>);
    return result;
  };
  for await (const item of items) {
    if (running.size >= most) yield await settled();
    const own: Promise<{ own: Promise<unknown>; result: R }> = act(item).then((result) => ({ own, result }));
    running.add(own);
  }
  while (running.size > 0) yield await settled();
}

/** Rollouts that both people and this judge labelled. */
async function comparedIn(
  rows: AsyncIterable<{ row: DumpRecord }>,
  journal: Journal,
  rater: string,
): Promise<TwoLabels[]> {
  const found: TwoLabels[] = [];
  for await (const { row } of rows) {
    const record = recordKey(row.raw);
    const labels = standingLabels(journal, record);
    const human = humanLabel(labels);
    const own = labels.find((one) => one.rater === rater)?.label ?? null;
    if (human !== null && own !== null) found.push({ record, human, judge: own });
  }
  return found;
}

function judgementLine({ locator, status, label, turn, quote, reason, half, human }: JudgedRollout): string {
  const said = status === 'labelled' ? `${label}: t${turn} "${(quote ?? '').slice(0, 120)}"` : `${status}: ${reason}`;
  // Disagreements in the test half must not be shown, or the rubric could be tuned to them.
  const other = half === 'tune' && human !== null && label !== null && human !== label ? `  people say ${human}` : '';
  return sanitiseLine(`${locator}: ${said}${other}`);
}

async function printAgreement(
  judged: readonly JudgedRollout[],
  compared: readonly TwoLabels[],
  isJson: boolean,
): Promise<void> {
  const of = (status: JudgedRollout['status']) => judged.filter((one) => one.status === status).length;
  const [tune, test] = [halfAgreement(compared, 'tune'), halfAgreement(compared, 'test')];
  if (isJson) {
    const json = (one: Agreement | null) => one && { ...one, raters: [...one.raters] };
    await print(
      `${printJson({ labelled: of('labelled'), void: of('void'), failed: of('failed'), agreement: { tune: json(tune), test: json(test) } })}\n`,
    );
    return;
  }
  say(`${of('labelled')} labelled, ${of('void')} void, ${of('failed')} failed`);
  if (tune === null && test === null) say('no rollout here has labels both of people and of the judge');
  for (const [name, one] of [
    ['the half to tune on', tune],
    ['the half to test on', test],
  ] as const)
    if (one !== null)
      say(
        `agreement with people on ${name}: kappa ${one.value === null ? 'not defined (one label alone)' : one.value.toFixed(3)}, the same in ${(one.observed * 100).toFixed(1)} % (${plural(one.units, 'rollout')})`,
      );
}
