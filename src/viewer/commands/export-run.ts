import { existsSync } from 'node:fs';
import manifest from '../../../package.json' with { type: 'json' };
import {
  type Balance,
  type BalanceRow,
  balancedRows,
  bucketOf,
  DEFAULT_BUCKETS,
} from '../../analysis/export/balance.ts';
import { cardMarkdown, type ExportTally } from '../../analysis/export/card.ts';
import type { ExportConversation } from '../../analysis/export/conversation.ts';
import { openRowFile } from '../../analysis/export/files/open-row-file.ts';
import { packOf } from '../../analysis/export/files/pack.ts';
import type { RowFile } from '../../analysis/export/files/row-file.ts';
import { WholeFile } from '../../analysis/export/files/whole-file.ts';
import type { ExportFormat, ExportRow, PromptGroup } from '../../analysis/export/format.ts';
import { passRate } from '../../analysis/export/formats/verl.ts';
import { ACCEPTABLE_LIMITS, type ExportLimit, LIMITS } from '../../analysis/export/limits.ts';
import type { PairRule } from '../../analysis/export/pairs.ts';
import { parsePassRange } from '../../analysis/export/pass-range.ts';
import { EXPORT_FORMATS } from '../../analysis/export/registry.ts';
import { parseSplit, type SplitPart, splitPart } from '../../analysis/export/split.ts';
import type { Query } from '../../analysis/query/query.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { errorCode } from '../../core/text/thrown.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { exportPairs, forkPairs } from './export-pairs.ts';
import { type ComparedTokens, type ExportRefusal, ExportScreen } from './export-screen.ts';
import { type ExportSource, exportSource } from './export-source.ts';
import { refuseSources } from './export-target.ts';
import { ANSWER_IS_NO, DONE, print, say } from './output.ts';
import { filterOf } from './query-options.ts';

export interface ExportFlags extends ReadingFlags {
  to: string;
  out: string;
  filter?: string;
  limit?: number;
  force?: boolean;
  drop?: boolean;
  accept?: ExportLimit[];
  inferred?: boolean;
  pairs: PairRule | 'fork';
  margin?: number;
  lengthMatched?: number;
  good?: string;
  pass?: string;
  hardest?: boolean;
  buckets?: number;
  balance?: Balance;
  perPrompt?: number;
  /** false with --no-copies. */
  copies: boolean;
  against?: string[];
  split?: string;
  seed: string;
  rescored?: boolean;
  redact?: boolean;
  verified?: boolean;
  tokenizer?: string;
  journal?: string;
  json?: boolean;
}

/** @throws UsageError */
export async function exportRollouts(args: readonly string[], flags: ExportFlags): Promise<number> {
  const format = EXPORT_FORMATS.find(({ name }) => name === flags.to);
  if (format === undefined) throw new UsageError(`--to ${flags.to}: unknown format`);
  const parts = flags.split === undefined ? null : asked('--split', () => parseSplit(flags.split ?? ''));
  const isPassing = flags.pass === undefined ? null : asked('--pass', () => parsePassRange(flags.pass ?? ''));
  const good = goodOf(flags.good);
  refuseMixed(format, flags, good.filter !== null);
  const options = await dumpOptions(flags);
  const source = await exportSource(args, options, {
    filter: filterOf(flags.filter),
    journal: flags.journal,
    isRedacted: flags.redact === true,
    isRescored: flags.rescored === true,
    good: good.filter,
  });
  const screen = await ExportScreen.of(format, flags, source, options);
  const out = new ExportFiles(format, flags, parts, screen.tally);
  const { against = [], tokenizer = [] } = flags;
  refuseSources(out.targets(), source.args, options, against.concat(tokenizer));
  try {
    if (format.takes === 'rollouts') {
      for await (const one of balanced(source, screen, flags)) await out.add(one, format.row(one));
    } else if (format.takes === 'labels') {
      for await (const one of balanced(source, screen, flags)) {
        const isGood =
          one.isGood ?? (one.score === null || !Number.isFinite(one.score) ? null : one.score >= good.score);
        if (isGood === null) screen.tally.drop('no_score');
        else await out.add(one, format.row(one, isGood));
      }
    } else if (format.takes === 'prompts') {
      const groups = await promptGroups(source, screen, isPassing, flags);
      let index = 0;
      for (const group of groups) await out.add(group.conversation, format.row(group, index++));
    } else {
      const rules = {
        rule: flags.pairs === 'fork' ? ('best' as const) : flags.pairs,
        margin: flags.margin ?? 0,
        lengthRatio: flags.lengthMatched ?? Number.POSITIVE_INFINITY,
        ...(good.filter === null ? {} : { why: `matches "${good.filter.text}", and the other does not` }),
      };
      const found = flags.pairs === 'fork' ? forkPairs(source, screen, flags) : exportPairs(source, screen, rules);
      for await (const pair of found) await out.add(pair.better, format.row(pair), pair.worse);
    }
    return await finish(screen, out, flags, source, format);
  } catch (error) {
    out.discard();
    if (error instanceof UsageError || errorCode(error) === undefined) throw error;
    throw new UsageError(`${flags.out}: ${reasonOf(error)}; nothing was written`);
  }
}

/** `0.5`, or a filter that a rollout alone decides. @throws UsageError */
function goodOf(text: string | undefined): { score: number; filter: Query | null } {
  if (text === undefined) return { score: Number.MIN_VALUE, filter: null };
  const score = Number(text);
  if (text.trim() !== '' && !Number.isNaN(score)) return { score, filter: null };
  const filter = filterOf(text, '--good');
  if (filter === null || filter.asksGroups || filter.asksSignals || filter.asksRead)
    throw new UsageError(`--good "${text}": a score, or a filter about single rollouts`);
  return { score: Number.NaN, filter };
}

/** @throws UsageError for options that the format has no use for */
function refuseMixed({ name, takes, file }: ExportFormat, flags: ExportFlags, hasFilter: boolean): void {
  asked('--out', () => packOf(flags.out));
  if (/\.(?:gz|zst)$/.test(flags.out) && file !== 'jsonl' && file !== 'json')
    throw new UsageError(`--out ${flags.out}: ${name} writes ${file}, which its loader reads uncompressed`);
  if (flags.buckets !== undefined && flags.buckets < 2) throw new UsageError('--buckets: 2 or more');
  if (flags.balance !== undefined && takes === 'pairs')
    throw new UsageError(`--balance: ${name} takes pairs, which have no class`);
  if (flags.good !== undefined && (takes === 'rollouts' || takes === 'prompts'))
    throw new UsageError(`--good: ${name} takes no good and bad answers; --filter chooses rollouts`);
  if (takes === 'pairs' && flags.good !== undefined && (!hasFilter || flags.pairs === 'fork'))
    throw new UsageError('--good: pairs take a filter, and --pairs fork compares scores');
}

/** The rollouts that the screen accepts; with --balance, equally many of each class, which are read again once they are known. */
async function* balanced(
  source: ExportSource,
  screen: ExportScreen,
  { balance, buckets = DEFAULT_BUCKETS, seed }: ExportFlags,
): AsyncGenerator<ExportConversation> {
  if (balance === undefined) return yield* screen.pass(source);
  const scores = new Map<string, number[]>();
  const rows: BalanceRow[] = [];
  const sources = new Map<string, string>();
  for await (const one of screen.pass(source)) {
    const ofPrompt = scores.get(one.prompt) ?? [];
    scores.set(one.prompt, ofPrompt);
    if (one.score !== null && Number.isFinite(one.score)) ofPrompt.push(one.score);
    rows.push({ ...balanceRow(one), scores: ofPrompt });
    sources.set(one.locator, one.source);
  }
  const chosen = balancedRows(rows, balance, { buckets, seed });
  screen.tally.drop('--balance', rows.length - chosen.size);
  for (const { locator } of rows) if (!chosen.has(locator)) sources.delete(locator);
  for await (const { conversation } of source.rows(sources))
    if (chosen.has(conversation.locator)) yield screen.again(conversation);
}

const balanceRow = ({ locator, dataSource, messages }: ExportConversation) => ({
  locator,
  task: dataSource,
  chars: messages.reduce((sum, { text }) => sum + text.length, 0),
});

function asked<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${option}: ${reasonOf(error)}`);
  }
}

async function finish(
  screen: ExportScreen,
  out: ExportFiles,
  flags: ExportFlags,
  source: ExportSource,
  format: ExportFormat,
): Promise<number> {
  screen.lost(source);
  if (screen.refused.size > 0 && flags.drop !== true) {
    out.discard();
    for (const [limit, { count, first }] of screen.refused)
      say(`${flags.to} refuses ${refusalText(limit)} (${count} of them; the first is ${first})`);
    const names = ACCEPTABLE_LIMITS.filter((name) => screen.refused.has(name));
    say(
      `nothing was written; --drop leaves them out${names.length > 0 ? `, --accept ${names.join(' ')} writes them all the same` : ''}`,
    );
    return ANSWER_IS_NO;
  }
  if (screen.tally.rows === 0) {
    out.discard();
    for (const [reason, count] of screen.tally.dropped) say(`${count} left out: ${reason}`);
    const wanted = ACCEPTABLE_LIMITS.filter((name) => screen.tally.dropped.has(name));
    say(`no row is left to write${wanted.length > 0 ? `; --accept ${wanted.join(' ')} writes them all the same` : ''}`);
    return ANSWER_IS_NO;
  }
  const compared = screen.compared();
  const card = screen.tally.card({
    format: flags.to,
    command: ['rollout-viewer', 'export', ...process.argv.slice(3).filter((word) => word !== '--force')]
      .map(quotedWord)
      .join(' '),
    directory: process.cwd(),
    version: manifest.version,
    set: source.set?.name ?? null,
    filter: flags.filter ?? null,
    ...(flags.split === undefined ? {} : { split: flags.split, seed: flags.seed }),
    compared: compared === null ? null : { ...compared },
  });
  await out.commit(card);
  if (flags.json === true) await print(`${printJson(card)}\n`);
  else await print(summary(card, out.paths(), comparedText(format, compared)));
  return DONE;
}

/** Refusals that nobody can accept by name. */
const REFUSALS: Readonly<Record<Exclude<ExportRefusal, ExportLimit>, string>> = {
  ids: 'a rollout that would get other token ids from the template of --tokenizer',
  mask: 'a rollout that would be trained on other tokens than recorded',
  tokenizer: 'a rollout whose ids come from another tokenizer',
  changed: 'a rollout that changed on disk after it was added to the set',
  gone: 'a rollout that its dump no longer holds',
};

const isLimit = (refusal: ExportRefusal): refusal is ExportLimit => !(refusal in REFUSALS);

const refusalText = (refusal: ExportRefusal): string => (isLimit(refusal) ? LIMITS[refusal].says : REFUSALS[refusal]);

/** How far the tokens of the loader are known to be the recorded ones. */
function comparedText(format: ExportFormat, checked: ComparedTokens | null): string[] {
  if (format.tokens === 'recorded') return ['token ids and masks as recorded'];
  if (format.tokens === null)
    return checked === null ? [] : [`token ids not compared: ${format.name} has its own template`];
  if (checked === null) return ['token ids not compared: --tokenizer does that'];
  const { compared, rollouts, without_ids, as_text } = checked;
  return [
    `compared: ${compared} of ${rollouts} rollouts`,
    ...(without_ids > 0 ? [`no recorded ids: ${without_ids}`] : []),
    ...(as_text > 0 ? [`written as exact text, because the template writes their parts otherwise: ${as_text}`] : []),
  ];
}

function summary(card: { [key: string]: Printable }, paths: readonly string[], compared: readonly string[]): string {
  const left = Object.entries(card.dropped ?? {});
  const lines = [
    `${plural(Number(card.rows), 'row')}, ${plural(Number(card.prompts), 'prompt')}: ${paths.join(', ')}`,
    ...left.map(([reason, count]) => `left out: ${count} (${reason})`),
    ...Object.entries(card.accepted ?? {}).map(([limit, { rollouts }]) => `accepted: ${rollouts} (${limit})`),
    ...(Number(card.ids_left_out) > 0 ? [`ids left out, because the first one is a number: ${card.ids_left_out}`] : []),
    ...(Number(card.unverified_edits) > 0
      ? [`edited by a person and not verified: ${card.unverified_edits} (--verified leaves them out)`]
      : []),
    ...compared,
  ];
  return `${lines.join('\n')}\n`;
}

/** Only for the card: words that a POSIX shell needs no quotes for stay bare. */
const quotedWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The prompts in their original order, or the hardest first. */
async function promptGroups(
  source: ExportSource,
  screen: ExportScreen,
  isPassing: ((scores: readonly number[]) => boolean) | null,
  { hardest, buckets, balance, seed }: ExportFlags,
): Promise<PromptGroup[]> {
  const groups = new Map<string, PromptGroup>();
  for await (const one of screen.pass(source)) {
    // The same words with other tools or another ground truth are another task.
    const key = printJson([one.prompt, one.tools, one.groundTruth ?? null]);
    const found = groups.get(key) ?? {
      conversation: { ...one, messages: one.messages.slice(0, one.response) },
      rollouts: 0,
      scores: [],
    };
    found.rollouts++;
    if (one.score !== null && Number.isFinite(one.score)) found.scores.push(one.score);
    groups.set(key, found);
  }
  let chosen = [...groups.values()];
  const keep = (option: string, isKept: (group: PromptGroup) => boolean): void => {
    for (const group of chosen) if (!isKept(group)) screen.tally.drop(option, group.rollouts);
    chosen = chosen.filter(isKept);
  };
  if (isPassing !== null) keep('--pass', ({ scores }) => isPassing(scores));
  if (buckets !== undefined) for (const group of chosen) group.bucket = bucketOf(group.scores, buckets);
  if (balance !== undefined) {
    const rows = chosen.map(({ conversation, scores }) => ({ ...balanceRow(conversation), scores }));
    const kept = balancedRows(rows, balance, { buckets: buckets ?? DEFAULT_BUCKETS, seed });
    keep('--balance', ({ conversation }) => kept.has(conversation.locator));
  }
  const mean = ({ scores }: PromptGroup): number => scores.reduce((sum, score) => sum + score, 0) / scores.length;
  if (hardest === true)
    chosen.sort((a, b) => (passRate(a.scores) ?? 2) - (passRate(b.scores) ?? 2) || mean(a) - mean(b));
  return chosen;
}

/** The files of an export: one, or one for each part of the split. None is visible before `commit`. */
class ExportFiles {
  readonly #tally: ExportTally;
  readonly #files = new Map<string | null, RowFile>();
  readonly #cards: WholeFile[] = [];
  readonly #format: ExportFormat;
  readonly #flags: ExportFlags;
  readonly #parts: readonly SplitPart[] | null;
  #idType: 'string' | 'number' | null = null;

  /** @throws UsageError if a file exists and `--force` is not given */
  constructor(format: ExportFormat, flags: ExportFlags, parts: readonly SplitPart[] | null, tally: ExportTally) {
    this.#tally = tally;
    this.#format = format;
    this.#flags = flags;
    this.#parts = parts;
    const there = this.targets().find((path) => existsSync(path));
    if (there !== undefined && flags.force !== true)
      throw new UsageError(`${there} is there already; --force replaces it`);
  }

  /** The paths that it writes, cards too. */
  targets(): string[] {
    return [...this.paths(), ...this.#cardPaths()];
  }

  paths(): string[] {
    return (this.#parts?.map(({ name }) => name) ?? [null]).map((part) => this.#path(part));
  }

  #cardPaths(): string[] {
    return ['json', 'md'].map((ending) => `${this.#flags.out}.card.${ending}`);
  }

  #path(part: string | null): string {
    const { out } = this.#flags;
    if (part === null) return out;
    const dot = out.replace(/\.(?:gz|zst)$/, '').lastIndexOf('.');
    return dot > out.lastIndexOf('/') + 1 ? `${out.slice(0, dot)}.${part}${out.slice(dot)}` : `${out}.${part}`;
  }

  async add(one: ExportConversation, row: ExportRow, other?: ExportConversation): Promise<void> {
    if (this.#tally.rows >= (this.#flags.limit ?? Number.POSITIVE_INFINITY)) return this.#tally.drop('--limit');
    const part = this.#parts === null ? null : splitPart(this.#parts, one.prompt, this.#flags.seed);
    let file = this.#files.get(part);
    if (file === undefined) {
      file = await openRowFile(this.#format, this.#path(part));
      this.#files.set(part, file);
    }
    await file.add(this.#withAlikeIds(row));
    this.#tally.row(part);
    this.#tally.rollout(one, part);
    if (other !== undefined) this.#tally.rollout(other, part);
  }

  /** A column of a table has one type, the first row's; a text among numbers is left out, which is counted. */
  #withAlikeIds(row: ExportRow): ExportRow {
    const changed: ExportRow = {};
    for (const key of ['id', 'chosen_id', 'rejected_id']) {
      const id = row[key];
      if (typeof id !== 'string' && typeof id !== 'number') continue;
      this.#idType ??= typeof id === 'number' ? 'number' : 'string';
      if (typeof id === this.#idType) continue;
      if (this.#idType === 'number') this.#tally.idsLeftOut++;
      changed[key] = this.#idType === 'number' ? null : String(id);
    }
    return { ...row, ...changed };
  }

  async commit(card: { [key: string]: Printable }): Promise<void> {
    // A part without rows still becomes a file.
    for (const { name } of this.#parts ?? [])
      if (!this.#files.has(name)) this.#files.set(name, await openRowFile(this.#format, this.#path(name)));
    for (const file of this.#files.values()) await file.finish();
    const texts = [`${printJson(card, 1)}\n`, cardMarkdown(card)];
    for (const [at, path] of this.#cardPaths().entries()) {
      const file = new WholeFile(path);
      this.#cards.push(file);
      file.write(texts[at] ?? '');
      file.finish();
    }
    // A full disk has shown itself by now: what is left are renames.
    for (const file of [...this.#files.values(), ...this.#cards]) file.publish();
  }

  discard(): void {
    for (const file of [...this.#files.values(), ...this.#cards]) file.discard();
  }
}
