import { fieldNamed } from '../../analysis/query/fields.ts';
import { Subject } from '../../analysis/query/subject.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { addExtraNames } from '../../core/rollout/extra-names.ts';
import { FACTS } from '../../core/rollout/facts.ts';
import type { Label } from '../../replay/journal/labels.ts';
import { labelWords } from '../present/label-text.ts';
import { csvCell } from '../present/text-table.ts';
import { print } from './output.ts';
import type { WrittenForm } from './written-form.ts';

/** Rows searched for the records' own keys. */
const LOOKED_AT = 200;

const USUAL = [
  'locator',
  'stream',
  'step',
  'sample',
  'score',
  ...FACTS.map(({ name }) => name),
  'bytes',
  'findings',
  'label',
  'note',
];

/** @throws UsageError for an impossible name */
export function csvForm(columns: string | undefined): WrittenForm {
  const names = columns?.split(',').map((name) => name.trim());
  const wrong = names?.find((name) => !/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name));
  if (wrong !== undefined) throw new UsageError(`--columns: "${wrong}" is not a name; write score,turns,acc`);
  let waiting: [DumpRecord, readonly Label[]][] = [];
  let head: readonly string[] | null = null;
  const write = async (row: DumpRecord, labels: readonly Label[]) => {
    const subject = Subject.read(row);
    await print(`${head!.map((name) => csvCell(csvCellOf(name, subject, labels))).join(',')}\n`);
  };
  const begin = async () => {
    const extras = new Set<string>();
    for (const [{ rollout }] of waiting) if (rollout !== null) addExtraNames(rollout.extras, extras);
    head = names ?? [...USUAL, ...[...extras].filter((name) => !USUAL.includes(name))];
    await print(`${head.map(csvCell).join(',')}\n`);
    for (const [row, labels] of waiting) await write(row, labels);
    waiting = [];
  };
  return {
    async row(row, labels) {
      if (head !== null) return write(row, labels);
      waiting.push([row, labels]);
      if (waiting.length === LOOKED_AT) await begin();
    },
    async end() {
      if (head === null && waiting.length > 0) await begin();
    },
  };
}

function csvCellOf(name: string, subject: Subject<DumpRecord>, labels: readonly Label[]): string {
  const { record } = subject;
  if (name === 'locator') return record.locator;
  if (name === 'label') return labelWords(labels);
  if (name === 'note')
    return labels.flatMap(({ rater, note }) => (note === null ? [] : [`${rater}: ${note}`])).join('; ');
  if (name === 'findings') return [...new Set(record.findings.map(({ check }) => check))].join(' ');
  const value: JsonValue | undefined = subject.value(fieldNamed(name));
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : printJson(value);
}
