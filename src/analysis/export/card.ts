import { hashOf } from '../../core/json/fingerprint.ts';
import type { Printable } from '../../core/json/print.ts';
import { formatPercent, plural } from '../../core/text/numbers.ts';
import type { ExportConversation } from './conversation.ts';
import { type ExportLimit, LIMITS } from './limits.ts';

/** Counts what goes into an export, for the card beside it. */
export class ExportTally {
  rows = 0;
  inferred = 0;
  /** Ids that are texts although the first one is a number. */
  idsLeftOut = 0;
  #edits = 0;
  #unverified = 0;
  readonly dropped = new Map<string, number>();
  readonly accepted = new Map<ExportLimit, number>();
  readonly parts = new Map<string, { rows: number; prompts: Set<string> }>();
  readonly #sources = new Map<string, { rollouts: number; hash: string }>();
  readonly #licenses = new Map<string, number>();
  readonly #prompts = new Set<string>();
  readonly #tokens: number[] = [];
  #trained = 0;
  #response = 0;
  #chars = 0;

  /** @param rollouts left out for one reason; `--limit` counts rows */
  drop(reason: string, rollouts = 1): void {
    if (rollouts > 0) this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + rollouts);
  }

  accept(limit: ExportLimit): void {
    this.accepted.set(limit, (this.accepted.get(limit) ?? 0) + 1);
  }

  row(part: string | null): void {
    this.rows++;
    if (part === null) return;
    const found = this.parts.get(part) ?? { rows: 0, prompts: new Set<string>() };
    found.rows++;
    this.parts.set(part, found);
  }

  rollout(one: ExportConversation, part: string | null): void {
    const path = one.locator.replace(/:\d+(?:\.\d+)?$/, '');
    const { rollouts, hash } = this.#sources.get(path) ?? { rollouts: 0, hash: '' };
    const next = hashOf(hash + one.source);
    this.#sources.set(path, { rollouts: rollouts + 1, hash: next });
    const license = one.license ?? 'not recorded';
    this.#licenses.set(license, (this.#licenses.get(license) ?? 0) + 1);
    this.#prompts.add(one.prompt);
    if (part !== null) this.parts.get(part)?.prompts.add(one.prompt);
    if (one.isInferred) this.inferred++;
    if (one.edit !== null) this.#edits++;
    if (one.edit === 'unverified') this.#unverified++;
    this.#chars += one.messages.reduce((sum, { text }) => sum + text.length, 0);
    if (one.tokens?.promptIds == null) return;
    this.#tokens.push(one.tokens.promptIds.length + one.tokens.responseIds.length);
    this.#response += one.tokens.responseIds.length;
    this.#trained += one.tokens.mask.reduce((sum, bit) => sum + bit, 0);
  }

  /** The card as JSON. @param made how the export was made: format, command, filter, versions */
  card(made: { [key: string]: Printable }): { [key: string]: Printable } {
    const sorted = this.#tokens.sort((a, b) => a - b);
    const quantile = (share: number): number | null => sorted[Math.floor((sorted.length - 1) * share)] ?? null;
    return {
      ...made,
      rows: this.rows,
      prompts: this.#prompts.size,
      parts: Object.fromEntries(
        [...this.parts].map(([name, part]) => [name, { rows: part.rows, prompts: part.prompts.size }]),
      ),
      sources: [...this.#sources].map(([path, { rollouts, hash }]) => ({ path, rollouts, hash })),
      licenses: Object.fromEntries(this.#licenses),
      dropped: Object.fromEntries(this.dropped),
      accepted: Object.fromEntries(
        [...this.accepted].map(([limit, count]) => [limit, { rollouts: count, says: LIMITS[limit].says }]),
      ),
      inferred_masks: this.inferred,
      ids_left_out: this.idsLeftOut,
      edits: this.#edits,
      unverified_edits: this.#unverified,
      chars: this.#chars,
      tokens:
        sorted.length === 0
          ? null
          : {
              rollouts: sorted.length,
              min: sorted[0] ?? null,
              median: quantile(0.5),
              p95: quantile(0.95),
              max: sorted.at(-1) ?? null,
              trained_share: this.#response === 0 ? null : this.#trained / this.#response,
            },
    };
  }
}

/** The same card for people. */
export function cardMarkdown(card: { [key: string]: Printable }): string {
  const tokens = Object.fromEntries(entries(card.tokens));
  const rows = plural(Number(card.rows), 'row');
  return [
    '# How this file was made',
    '```',
    typeof card.command === 'string' ? card.command : '',
    '```',
    `In \`${cell(card.directory)}\`, with rollout-viewer ${cell(card.version)}. The same command writes the same bytes as long as its sources stay as they are.`,
    '',
    `- ${rows} for \`${cell(card.format)}\`, ${plural(Number(card.prompts), 'prompt')}, ${plural(Number(card.chars), 'character')}`,
    ...(card.set == null ? [] : [`- from the set ${cell(card.set)}`]),
    ...(card.filter == null ? [] : [`- chosen by the filter \`${cell(card.filter)}\``]),
    ...(card.split == null ? [] : [`- split ${cell(card.split)}, seed ${cell(card.seed)}; no prompt is in two parts`]),
    ...(card.tokens === null
      ? ['- no token ids were recorded']
      : [
          `- recorded tokens of ${plural(Number(tokens.rollouts), 'rollout')}: ${tokens.min} to ${tokens.max}, median ${tokens.median}, 95 % of them up to ${tokens.p95}`,
          ...(tokens.trained_share == null
            ? []
            : [`- ${formatPercent(Number(tokens.trained_share))} of the tokens of the responses are trained`]),
        ]),
    card.compared == null
      ? '- without a tokenizer: the tokens that the loader makes were not compared'
      : `- compared with the tokens that the loader makes: ${entries(card.compared).map(words).join(', ')}`,
    ...(Number(card.inferred_masks) > 0 ? [`- masks inferred from roles: ${card.inferred_masks}`] : []),
    ...(Number(card.ids_left_out) > 0
      ? [`- ids left out, because the first one is a number: ${card.ids_left_out}`]
      : []),
    ...(Number(card.edits) > 0
      ? [`- edited by a person: ${card.edits}, of them not verified: ${card.unverified_edits}`]
      : []),
    '',
    ...table(['left out because of', 'how many'], entries(card.dropped)),
    ...table(
      ['accepted in spite of', 'rollouts'],
      entries(card.accepted).map(([name, one]) => [name, Object.fromEntries(entries(one)).rollouts]),
    ),
    ...table(
      ['part', 'rows', 'prompts'],
      entries(card.parts).map(([name, part]) => [name, ...entries(part).map(([, count]) => count)]),
    ),
    ...table(['licence', 'rollouts'], entries(card.licenses)),
    ...table(
      ['source', 'rollouts', 'hash'],
      entries(card.sources).map(([, source]) => entries(source).map(([, value]) => value)),
    ),
  ].join('\n');
}

const entries = (value: Printable): [string, Printable][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

const words = ([key, value]: [string, Printable]): string => `${key.replaceAll('_', ' ')} ${cell(value)}`;

/** Nothing for a table without rows. */
const table = (titles: readonly string[], rows: readonly (readonly Printable[])[]): string[] =>
  rows.length === 0
    ? []
    : [titles, titles.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).concat('');

const cell = (value: Printable): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/[|\n\r`]/g, ' ');
