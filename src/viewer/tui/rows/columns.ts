import { valueName } from '../../../analysis/query/fields.ts';
import type { Dump } from '../../../core/dump/dump.ts';
import { itemAt } from '../../../core/lists/at.ts';
import { isFact } from '../../../core/rollout/facts.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { scoreText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import {
  type Column,
  type ListShape,
  labelColumn,
  ownColumns,
  replayColumns,
  sortedColumn,
  valueColumn,
} from '../../present/list-columns.ts';
import type { ListChoice } from '../state/list.ts';
import { LABEL_KEY, REPLAY_KEYS } from './replay-values.ts';

/** Scores examined for their width, sampled across the dump. */
const SAMPLED_FILES = 40;
const SAMPLED_SCORES = 25;
const SAMPLED_TOOLS = 20;
const MAX_STEP = 10;
const MAX_SCORE = 9;

/** The width that columns need, from a sample of the dump. */
export function listShapeOf(dump: Dump): ListShape {
  const { files } = dump;
  let step = 0;
  let sample = 0;
  for (const file of files) {
    const number = file.stepOf(0);
    step = Math.max(step, number === null ? cellWidth(sanitiseLine(file.stem)) : String(number).length);
    sample = Math.max(sample, String(file.count).length);
  }
  let score = 0;
  let areLong = false;
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const measure = (text: string): boolean => {
    score = Math.max(score, text.length);
    return /\.\d{4}$/.test(text);
  };
  for (let i = 0; i < files.length; i += Math.ceil(files.length / SAMPLED_FILES)) {
    const file = itemAt(files, i);
    for (let record = 0; record < file.count; record += Math.ceil(file.count / SAMPLED_SCORES)) {
      const value = file.score(record);
      areLong = measure(scoreText(value)) || areLong;
      if (value != null && Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  let failedTool = 0;
  const names = new Set<string>();
  for (const { index, stream } of files) {
    for (const tool of index.columns.failedTools.slice(0, SAMPLED_TOOLS))
      failedTool = Math.max(failedTool, cellWidth(sanitiseLine(tool)));
    names.add(stream);
  }
  const streams = [...new Set(Array.from(names, sanitiseLine))];
  return {
    step: Math.min(MAX_STEP, step),
    sample,
    score: Math.min(MAX_SCORE, score),
    areLong,
    range: high >= low ? { low, high } : null,
    failedTool,
    streams,
  };
}

/** Facts shown as columns by default. */
const USUAL_FACTS = new Set(['turns', 'tool_calls']);

export interface KnownColumn {
  column: Column;
  /** Shown by default. */
  isShown: boolean;
  /** Finding its values requires a parse. */
  isValue: boolean;
  /** All rows have the same value: the stream deserves a column only if there are several. */
  isIdle: boolean;
}

/**
 * All columns available for this dump. @param isShownByReplay keys of replay results and labels, so that they get a column automatically
 */
export function allColumns(
  shape: ListShape,
  extras: Iterable<string>,
  isShownByReplay: ReadonlySet<string>,
): KnownColumn[] {
  const isUsual = ({ key }: Column): boolean => !isFact(key) || USUAL_FACTS.has(key);
  const own = ownColumns(shape);
  return [
    ...own.filter(isUsual).map((column) => ({
      column,
      isShown: true,
      isValue: false,
      isIdle: column.key === 'stream' && shape.streams.length < 2,
    })),
    ...[...replayColumns(REPLAY_KEYS), labelColumn(LABEL_KEY)].map((column) => ({
      column,
      isShown: isShownByReplay.has(column.key),
      isValue: false,
      isIdle: false,
    })),
    ...[...extras].map((path) => ({
      column: valueColumn(valueName(path)),
      isShown: false,
      isValue: true,
      isIdle: false,
    })),
    // There are many of these, and the record's own keys are used more often.
    ...own
      .filter((column) => !isUsual(column))
      .map((column) => ({ column, isShown: false, isValue: false, isIdle: false })),
  ];
}

/** The columns that the list shows if they fit. */
export function chosenColumns(all: readonly KnownColumn[], { columns, sort }: ListChoice): Column[] {
  const useful = all.filter(({ isIdle }) => !isIdle);
  const chosen =
    columns === null
      ? useful.filter(({ isShown }) => isShown).map(({ column }) => column)
      : useful
          .filter(({ column }) => columns.includes(column.key))
          // A chosen column stays as long as it fits.
          .map(({ column }) => ({ ...column, rank: Math.min(column.rank, 2) }));
  if (chosen.length === 0) chosen.push(...useful.slice(0, 3).map(({ column }) => column));
  if (sort === null) return wordsLast(chosen);
  const isThere = chosen.some(({ key }) => key === sort.key);
  const known = all.find(({ column }) => column.key === sort.key)?.column ?? valueColumn(sort.key);
  return wordsLast(
    (isThere ? chosen : [...chosen, known]).map((column) => (column.key === sort.key ? sortedColumn(column) : column)),
  );
}

/** Numbers are next to each other, findings after them. */
const wordsLast = (columns: readonly Column[]): Column[] => [
  ...columns.filter(({ key }) => key !== 'findings'),
  ...columns.filter(({ key }) => key === 'findings'),
];
