import { ExportTally } from '../../analysis/export/card.ts';
import { type ExportConversation, withWholeTurns } from '../../analysis/export/conversation.ts';
import { Contamination, Copies } from '../../analysis/export/copies.ts';
import type { AnswerPair, ExportFormat } from '../../analysis/export/format.ts';
import { type ExportLimit, firstLimit, LIMIT_NAMES } from '../../analysis/export/limits.ts';
import { TokenCheck, type TokenDifference } from '../../analysis/export/token-check.ts';
import type { DumpOptions } from '../../core/dump/dump.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { parseJson } from '../../core/json/parse.ts';
import type { Printable } from '../../core/json/print.ts';
import { reasonOf } from '../../core/text/problems.ts';
import type { ExportSource } from './export-source.ts';
import { say } from './output.ts';
import { selectRows } from './select-rows.ts';

/** Decides which rollouts are exported. */
export interface ScreenFlags {
  accept?: ExportLimit[];
  inferred?: boolean;
  /** false with --no-copies. */
  copies: boolean;
  against?: string[];
  perPrompt?: number;
  verified?: boolean;
  tokenizer?: string;
  pairs?: string;
}

/** How far --tokenizer compared the loader's tokens with the recorded ones. */
export interface ComparedTokens {
  compared: TokenCheck['compares'];
  rollouts: number;
  /** Rollouts without recorded ids, which cannot be compared. */
  without_ids: number;
  /** Written as exact text, because the template writes their parts otherwise. */
  as_text: number;
}

export type ExportRefusal = ExportLimit | TokenDifference['kind'] | 'changed' | 'gone';

/** Losses that change which tokens are trained. */
const MASK_LIMITS: readonly ExportLimit[] = [
  'masked_turns',
  'masked_results',
  'prompt_replies',
  'split_mask',
  'inferred',
];

/** Passes what the format can hold and the user wants, and counts the rest. */
export class ExportScreen {
  readonly tally = new ExportTally();
  readonly refused = new Map<ExportRefusal, { count: number; first: string }>();
  readonly #limits: readonly ExportLimit[];
  readonly #accepted: readonly ExportLimit[];
  readonly #copies: Copies | null;
  readonly #against: Contamination | null;
  readonly #tokens: TokenCheck | null;
  readonly #isMaskAccepted: boolean;
  readonly #compared = { rollouts: 0, without_ids: 0, as_text: 0 };
  readonly #asText = new Set<string>();
  readonly #perPrompt: number | null;
  readonly #isVerified: boolean;
  readonly #form: (one: ExportConversation) => ExportConversation;
  readonly #ofPrompt = new Map<string, number>();
  readonly #members: ReadonlyMap<string, { source: string }> | null;

  private constructor(
    format: ExportFormat,
    flags: ScreenFlags,
    source: ExportSource,
    against: Contamination | null,
    tokens: TokenCheck | null,
  ) {
    this.#accepted = [...(flags.accept ?? []), ...(flags.inferred === true ? (['inferred'] as const) : [])];
    // A pair of single turns has no results in what is trained.
    this.#limits = format.limits.filter((name) => !(name === 'masked_results' && flags.pairs === 'turn'));
    this.#copies = flags.copies ? null : new Copies();
    this.#against = against;
    this.#tokens = tokens;
    this.#isMaskAccepted = MASK_LIMITS.some((limit) => this.#accepted.includes(limit) && format.limits.includes(limit));
    this.#perPrompt = flags.perPrompt ?? null;
    this.#isVerified = flags.verified === true;
    this.#form = format.cutsText === true ? (one) => one : withWholeTurns;
    this.#members = source.set?.members ?? null;
  }

  /** @throws UsageError for an unreadable file of --against or --tokenizer */
  static async of(
    format: ExportFormat,
    flags: ScreenFlags,
    source: ExportSource,
    options: DumpOptions,
  ): Promise<ExportScreen> {
    let against: Contamination | null = null;
    if (flags.against !== undefined) {
      against = new Contamination();
      for (const path of flags.against) await addTexts(against, path, options);
    }
    let tokens: TokenCheck | null = null;
    if (flags.tokenizer !== undefined) {
      try {
        tokens = await TokenCheck.load(flags.tokenizer, typeof format.tokens === 'string' ? null : format.tokens);
      } catch (error) {
        throw new UsageError(`--tokenizer ${flags.tokenizer}: ${reasonOf(error)}`);
      }
    }
    return new ExportScreen(format, flags, source, against, tokens);
  }

  async *pass(source: ExportSource): AsyncGenerator<ExportConversation> {
    for await (const { conversation } of source.rows()) {
      const one = this.lets(conversation);
      if (one !== null) yield one;
    }
  }

  /** A rollout in the form that is exported; null if it is not, which is counted. */
  lets(read: ExportConversation): ExportConversation | null {
    const one = this.#form(read);
    const member = this.#members?.get(one.locator);
    if (member !== undefined && member.source !== one.source) return this.#refuse('changed', one);
    if (this.#isVerified && one.edit === 'unverified') return this.#leaveOut('edited and not verified');
    const limit = firstLimit(
      one,
      this.#limits.filter((name) => !this.#accepted.includes(name)),
    );
    if (limit !== null) return this.#refuse(limit, one);
    const found = this.#against?.of(one) ?? null;
    if (found !== null) return this.#leaveOut(`${found} of --against`);
    const written = this.#asLoaded(one);
    if (written === null) return null;
    const copy = this.#copies?.seen(one) ?? null;
    if (copy !== null) return this.#leaveOut(`${copy} copy`);
    if (this.#perPrompt !== null) {
      const before = this.#ofPrompt.get(one.prompt) ?? 0;
      this.#ofPrompt.set(one.prompt, before + 1);
      if (before >= this.#perPrompt) return this.#leaveOut('--per-prompt');
    }
    for (const name of LIMIT_NAMES)
      if (this.#accepted.includes(name) && this.#limits.includes(name) && firstLimit(one, [name]) !== null)
        this.tally.accept(name);
    return written;
  }

  /** The form of a rollout that `lets` let pass, when it is read again. */
  again = (one: ExportConversation): ExportConversation =>
    this.#asText.has(one.locator) ? asTextConversation(one) : this.#form(one);

  /** Both answers of a pair in one form that loses nothing; null if no form gives the recorded tokens. */
  alike(pair: AnswerPair): AnswerPair | null {
    if (pair.better.isRecorded === pair.worse.isRecorded) return pair;
    const isText = pair.better.isTextWhole && pair.worse.isTextWhole;
    const form = isText ? asTextConversation : (one: ExportConversation) => one;
    const [better, worse] = [form(pair.better), form(pair.worse)];
    for (const one of [better, worse]) if (this.#difference(one) !== null) return this.#refuse('ids', one);
    return { ...pair, better, worse };
  }

  /** Counts what a set names and its dump no longer holds, and records that hold no rollout. */
  lost({ missing, unread }: ExportSource): void {
    for (const locator of missing) this.#refuse('gone', { locator });
    for (const _ of unread) this.tally.drop('no_rollout');
  }

  /** null without --tokenizer. */
  compared(): ComparedTokens | null {
    return this.#tokens === null ? null : { compared: this.#tokens.compares, ...this.#compared };
  }

  #difference(one: ExportConversation): TokenDifference | null {
    return this.#tokens?.difference(one, this.#isMaskAccepted) ?? null;
  }

  /** Its parts if the template gives the recorded tokens from them, else its exact text if that does. */
  #asLoaded(one: ExportConversation): ExportConversation | null {
    const other = this.#difference(one);
    if (other === null) {
      if (this.#tokens !== null) this.#compared[one.tokens?.promptIds == null ? 'without_ids' : 'rollouts']++;
      return one;
    }
    if (
      one.isRecorded &&
      one.isTextWhole &&
      other.kind !== 'tokenizer' &&
      this.#difference(asTextConversation(one)) === null
    ) {
      this.#asText.add(one.locator);
      this.#compared.rollouts++;
      this.#compared.as_text++;
      return asTextConversation(one);
    }
    if (!this.refused.has(other.kind)) say(`${one.locator}: ${other.says}`);
    return this.#refuse(other.kind, one);
  }

  #leaveOut(reason: string): null {
    this.tally.drop(reason);
    return null;
  }

  #refuse(limit: ExportRefusal, one: Pick<ExportConversation, 'locator'>): null {
    const found = this.refused.get(limit) ?? { count: 0, first: one.locator };
    this.refused.set(limit, { ...found, count: found.count + 1 });
    this.tally.drop(limit);
    return null;
  }
}

/** The tools are in the system text then. */
const asTextConversation = (one: ExportConversation): ExportConversation =>
  withWholeTurns({ ...one, isRecorded: false, tools: null });

/** Adds the texts of an evaluation: all strings of each record of whatever file a dump may be; a line that is not JSON is a text. @throws UsageError */
async function addTexts(against: Contamination, path: string, options: DumpOptions): Promise<void> {
  for await (const { row } of selectRows([path], options)) {
    const texts: string[] = [];
    try {
      strings(parseJson(row.raw), (one) => texts.push(one));
    } catch {
      texts.push(row.raw);
    }
    against.add(...texts);
  }
  if (against.isEmpty) throw new UsageError(`--against ${path}: it holds no texts`);
}

function strings(value: Printable, visit: (text: string) => void): void {
  const open: Printable[] = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one === 'string') visit(one);
    else if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) open.push(inner ?? null);
  }
}
