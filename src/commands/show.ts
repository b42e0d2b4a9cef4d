import { Command } from 'commander';
import { groupOfRecord } from '../analysis/group-of-record.ts';
import { Dump } from '../dump/dump.ts';
import type { DumpRecord } from '../dump/dump-file.ts';
import { parseLocator } from '../dump/locator.ts';
import { mappingOf } from '../dump/mapping.ts';
import { printJson } from '../json/print.ts';
import { markdownText, readableText } from '../present/readable.ts';
import { tokenBlocks } from '../present/transcript/token-view.ts';
import { shownAdvantages } from '../rollout/advantage.ts';
import { type TokenText, tokenTable } from '../rollout/token-table.ts';
import { sanitise, sanitiseLine } from '../text/sanitise.ts';
import { dumpOptions, withReading } from './dump-options.ts';
import { findRow } from './find-row.ts';
import { DONE, print, run } from './output.ts';
import { recordJson } from './row-json.ts';
import { tokenizerOf, tokenizerOption } from './tokenizer-option.ts';

interface ShowOptions {
  plain?: boolean;
  json?: boolean;
  markdown?: boolean;
  mapping?: boolean;
  tokens?: boolean;
  tokenizer?: string;
  format?: string;
  map?: string;
  validation?: string[];
}

export const showCommand = (): Command =>
  withReading(
    new Command('show')
      .description('print rollouts whole')
      .argument(
        '<locators...>',
        'FILE:LINE, FILE:LINE.PART, ARCHIVE/MEMBER or FILE as `ls` prints them; #tN behind it for one turn',
      )
      .option('--plain', 'the readable version (default)')
      .option('--json', 'one JSON object a rollout, with turns, spans, loss mask and rewards')
      .option('--tokens', 'a line a token, turn borders first; with --json an object a token')
      .addOption(tokenizerOption())
      .option('--mapping', 'which key of the record became what, and what its format was read from')
      .option('--markdown', 'a transcript to paste into an issue'),
  ).action((locators: string[], options: ShowOptions) => run(() => show(locators, options)));

async function show(locators: readonly string[], options: ShowOptions): Promise<number> {
  const places = locators.map(parseLocator);
  const dumps = new Map<string, Dump>();
  const tokenizer = await tokenizerOf(options.tokenizer);
  try {
    for (const [i, place] of places.entries()) {
      let dump = dumps.get(place.path);
      if (dump === undefined) {
        dump = Dump.open([place.path], await dumpOptions(options));
        dumps.set(place.path, dump);
      }
      const row = await findRow(dump, place);
      if (options.mapping) {
        await print(mappingText(row));
        continue;
      }
      if (options.tokens) {
        await print(tokensText(row, tokenizer, options.json === true));
        continue;
      }
      if (options.json) {
        await print(`${printJson(jsonOf(row))}\n`);
        continue;
      }
      const heading = places.length > 1 && !options.markdown ? `${i > 0 ? '\n' : ''}==> ${locators[i]} <==\n\n` : '';
      await print(heading + (options.markdown ? markdownText(row, place.turn) : readableText(row, place.turn)));
    }
  } finally {
    for (const dump of dumps.values()) dump.close();
  }
  return DONE;
}

/** `word: places`, a line each, behind the format and its basis. */
function mappingText(row: DumpRecord): string {
  const mapping = mappingOf(row);
  if (mapping === null) return `${sanitiseLine(`${row.locator}: ${row.error ?? ''}`)}\n`;
  const rows = mapping.places.map(([word, place]) => `  ${word}: ${place}`);
  return sanitise(`${[`${row.locator}: ${mapping.format} (${mapping.basis})`, ...rows].join('\n')}\n`);
}

/** Every token of the record. */
function tokensText(row: DumpRecord, tokenizer: TokenText | null, asJson: boolean): string {
  const { rollout } = row;
  if (rollout === null) return `${sanitiseLine(`${row.locator}: ${row.error ?? ''}`)}\n`;
  if (!asJson)
    return [...tokenBlocks(rollout, tokenizer)]
      .map(({ text, trained }) => `${SIGN[String(trained)]} ${text}\n`)
      .join('');
  const table = tokenTable(rollout, tokenizer);
  if (table === null) return '';
  return table.rows
    .map(({ index, id, text, trained, values }) => {
      const numbers = Object.fromEntries(table.columns.map((name, i) => [name, values[i] ?? null]));
      return `${printJson({ index, id: id < 0 ? null : id, text, trained, from: table.from, values: numbers })}\n`;
    })
    .join('');
}

/** The gutter of the screen, in letters that a pipe keeps. */
const SIGN: Readonly<Record<string, string>> = { true: '▌', false: ' ', null: '╎' };

/** The advantage is relative to the other rollouts of the group, which are looked up in the file. */
function jsonOf(row: DumpRecord) {
  if (row.rollout === null) return recordJson(row, null, null);
  const { key, members } = groupOfRecord(row);
  const advantages = shownAdvantages(members.map(({ score }) => score));
  return recordJson(row, key, advantages[members.findIndex(({ record }) => record === row.record)] ?? null);
}
