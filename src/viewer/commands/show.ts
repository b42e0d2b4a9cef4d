import { Command } from 'commander';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { mappingOf } from '../../core/dump/mapping.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { type TokenText, tokenTable } from '../../core/rollout/token-table.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import type { Label } from '../../replay/journal/labels.ts';
import { readableText } from '../present/readable.ts';
import { unpaused } from '../present/transcript/section.ts';
import { tokenBlocks } from '../present/transcript/token-view.ts';
import { unreadText } from '../present/unread-text.ts';
import { countOf } from './count.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, run, say } from './output.ts';
import { filterOf } from './query-options.ts';
import { recordJson } from './row-json.ts';
import { labelJson, labelsIn } from './row-labels.ts';
import { isLocator, pathOfArgument, selectRows } from './select-rows.ts';
import { tokenizerOf, tokenizerOption } from './tokenizer-option.ts';
import type { WrittenForm } from './written-form.ts';

interface ShowFlags extends ReadingFlags {
  filter?: string;
  limit?: number;
  plain?: boolean;
  json?: boolean;
  jsonl?: boolean;
  csv?: boolean;
  columns?: string;
  markdown?: boolean;
  html?: string;
  mapping?: boolean;
  tokens?: boolean;
  tokenizer?: string;
  compare?: boolean;
  redact?: boolean;
  journal?: string;
}

export const showCommand = (): Command =>
  withReading(
    new Command('show')
      .description('print whole rollouts as text, Markdown, CSV, JSON lines or an HTML page')
      .argument(
        '<rollouts...>',
        'FILE:LINE, FILE:LINE.PART or ARCHIVE/MEMBER as `ls` prints them, with #tN for one turn; or files and directories',
      )
      .option('--filter <expr>', 'only rollouts that match it')
      .option('--limit <n>', 'print at most this many', countOf)
      .option('--plain', 'the readable version (default)')
      .option('--json', 'one JSON object per rollout, with turns, spans, loss mask and rewards')
      .option('--jsonl', 'the records themselves, one per line: a dump again')
      .option('--csv', 'one line per rollout; text that a spreadsheet would read as a formula gets an apostrophe')
      .option('--columns <names>', 'the columns of --csv, as filters name them: score,turns,acc,findings,label …')
      .option('--markdown', 'a transcript to paste into an issue')
      .option('--html <file>', 'a self-contained page that runs nothing from the data; - for stdout')
      .option('--compare', 'with --html: two rollouts side by side, with differences marked by line and word')
      .option('--redact', 'mask secrets: keys of known forms, bearer tokens, values of KEY, TOKEN, SECRET')
      .option('--tokens', 'one line per token, turn borders first; with --json one object per token')
      .addOption(tokenizerOption())
      .option('--mapping', 'show which key became which field, and how the format was detected')
      .option('--journal <dir>', 'where to find labels'),
  ).action((args: string[], flags: ShowFlags) => run(() => show(args, flags)));

async function show(args: readonly string[], flags: ShowFlags): Promise<number> {
  const filter = filterOf(flags.filter);
  const options = await dumpOptions(flags, flags.tokenizer);
  const journal = await journalOf(pathOfArgument(itemAt(args, 0)), flags.journal);
  const labels = await labelsIn(journal);
  const kept = filter?.asksKept ? (await import('../../replay/results.ts')).keptIn([journal]) : undefined;
  const redact = flags.redact ? await (await import('../../core/text/redact.ts')).redactor() : null;
  const limit = flags.limit ?? Number.POSITIVE_INFINITY;
  const form = await shownForm(args, flags);
  const wants = { most: limit, isAlone: asksNoOthers(flags) };
  let shown = 0;
  try {
    for await (const { row: read, turn } of selectRows(args, options, filter, kept, undefined, undefined, wants)) {
      if (shown++ >= limit) break;
      const said = labels.of(read.raw);
      if (redact === null) {
        await form.row(read, said, turn);
        continue;
      }
      const { redactedRecord } = await import('../../core/dump/redacted-record.ts');
      const mask = async (text: string | null) => (text === null ? null : redact(text));
      const words = said.map(async (one) => ({ ...one, note: await mask(one.note), quote: await mask(one.quote) }));
      await form.row(await redactedRecord(read, redact), await Promise.all(words), turn);
    }
    await form.end();
  } finally {
    journal.close();
  }
  if (shown > 0) return DONE;
  say(filter === null ? 'no rollouts' : 'nothing matches --filter');
  return ANSWER_IS_NO;
}

/** The printed form holds nothing of other records, such as the group of a rollout. */
const asksNoOthers = ({ json, csv, html, tokens }: ShowFlags): boolean =>
  tokens === true || (json !== true && csv !== true && html === undefined);

/** @throws UsageError if two are requested */
async function shownForm(args: readonly string[], flags: ShowFlags): Promise<WrittenForm> {
  const asked = (['plain', 'jsonl', 'csv', 'markdown', 'html', 'mapping', 'tokens'] as const).filter(
    (name) => flags[name],
  );
  const [name = flags.json ? 'json' : 'plain', second] = asked;
  if (second !== undefined || (flags.json === true && asked.length > 0 && name !== 'tokens'))
    throw new UsageError(`--${name} and --${second ?? 'json'}: one form at a time`);
  if (flags.columns !== undefined && name !== 'csv') throw new UsageError('--columns goes with --csv');
  if (name === 'csv') return (await import('./show-csv.ts')).csvForm(flags.columns);
  if (flags.compare === true && (name !== 'html' || args.length !== 2 || !args.every(isLocator)))
    throw new UsageError('--compare takes two rollouts, FILE:LINE each, and --html FILE');
  if (name === 'html')
    return (await import('./show-html.ts')).htmlForm(flags.html!, pageTitle(args, flags), flags.compare === true);
  if (name === 'json') return jsonForm();
  const tokenizer = name === 'tokens' ? await tokenizerOf(flags.tokenizer) : null;
  if (name === 'jsonl') return textForm(({ raw }) => `${raw.trim().replace(/\r?\n/g, ' ')}\n`);
  if (name === 'mapping') return textForm(mappingText);
  if (name === 'tokens') return textForm((row) => tokensText(row, tokenizer, flags.json === true));
  if (name === 'markdown') {
    const { markdownText } = await import('../present/markdown.ts');
    return textForm((row, labels, turn, at) => (at > 0 ? '\n' : '') + markdownText(row, turn, labels));
  }
  // A single rollout has no heading above it.
  const isOne = args.length === 1 && isLocator(itemAt(args, 0));
  return textForm((row, labels, turn, at) => {
    const heading = isOne
      ? ''
      : `${at > 0 ? '\n' : ''}==> ${sanitiseLine(row.locator)}${turn === null ? '' : `#t${turn}`} <==\n\n`;
    return heading + readableText(row, turn, labels);
  });
}

const pageTitle = (args: readonly string[], { filter }: ShowFlags): string =>
  [args.join(' '), ...(filter === undefined ? [] : [filter])].join(': ');

function textForm(
  text: (row: DumpRecord, labels: readonly Label[], turn: number | null, at: number) => string,
): WrittenForm {
  let at = 0;
  return {
    async row(row, labels, turn) {
      await print(text(row, labels, turn, at++));
    },
    async end() {},
  };
}

async function jsonForm(): Promise<WrittenForm> {
  const { GroupPlaces } = await import('../../analysis/group-places.ts');
  const groups = new GroupPlaces();
  return textForm((row, labels) => {
    const { key, advantage } = groups.of(row);
    return `${printJson({ ...recordJson(row, key, advantage), labels: labels.map(labelJson) })}\n`;
  });
}

/** `word: places`, one per line, after the format and its basis. */
function mappingText(row: DumpRecord): string {
  const mapping = mappingOf(row);
  if (mapping === null) return `${sanitiseLine(`${row.locator}: ${row.error ?? ''}`)}\n`;
  const rows = mapping.places.map(([word, place]) => `  ${word}: ${place}`);
  for (const one of mapping.unread ?? []) rows.push(`  not shown: ${unreadText(one)}`);
  return sanitise(`${[`${row.locator}: ${mapping.format} (${mapping.basis})`, ...rows].join('\n')}\n`);
}

/** Every token of the record. */
function tokensText(row: DumpRecord, tokenizer: TokenText | null, asJson: boolean): string {
  const { rollout } = row;
  if (rollout === null) return `${sanitiseLine(`${row.locator}: ${row.error ?? ''}`)}\n`;
  if (!asJson)
    return [...unpaused(tokenBlocks(rollout, tokenizer))]
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

/** The screen's gutter, in characters that survive a pipe. */
const SIGN: Readonly<Record<string, string>> = { true: '▌', false: ' ', null: '╎' };
