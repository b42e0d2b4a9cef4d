import { basename } from 'node:path';
import { Command } from 'commander';
import { type Agreement, agreementOf, pairwise } from '../../analysis/agreement.ts';
import { layWhole } from '../../analysis/facts/fact-rows.ts';
import { Subject } from '../../analysis/query/subject.ts';
import { type LabelledRollout, labelsReport } from '../../analysis/report/labels.ts';
import { Dump, type Place } from '../../core/dump/dump.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import { LABELS, type Label, reportedLabels, standingLabels } from '../../replay/journal/labels.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import { keptIn } from '../../replay/results.ts';
import { labelText } from '../present/label-text.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { printReport } from './print-report.ts';
import { filterOf } from './query-options.ts';
import { labelJson } from './row-labels.ts';

interface LabelsFlags extends ReadingFlags {
  filter?: string;
  json?: boolean;
  journal?: string;
}

export const labelsCommand = (): Command =>
  withReading(
    new Command('labels')
      .description('list the labels of all raters, and how far they agree')
      .argument('<path>', 'a directory or a file of a dump')
      .option('--filter <expr>', "only rollouts that match it: 'label == hack && score > 0.5'")
      .option('--journal <dir>', 'where labels are kept; several people may share it')
      .option('--json', 'one JSON object per rollout, then one with the agreement'),
  ).action((path: string, flags: LabelsFlags) => run(() => labels(path, flags)));

interface Labelled extends LabelledRollout {
  labels: readonly Label[];
  json: { [key: string]: Printable };
}

async function labels(path: string, flags: LabelsFlags): Promise<number> {
  const filter = filterOf(flags.filter);
  const dump = Dump.open([path], await dumpOptions(flags));
  for (const notice of dump.notices) say(notice);
  const journal = await journalOf(path, flags.journal);
  try {
    const kept = keptIn([journal]);
    await layWhole(dump, filter);
    const rows = (await labelled(dump, journal)).filter(
      ({ place }) => filter === null || filter.accepts(Subject.of(place, kept)),
    );
    if (rows.length === 0) {
      if (dump.hasRefused || dump.files.every(({ state }) => state === 'failed')) return USAGE;
      say(filter === null ? 'nothing is labelled here' : 'nothing that is labelled matches --filter');
      return ANSWER_IS_NO;
    }
    const ratings = rows.flatMap(({ place, labels: said }, i) =>
      said.flatMap(({ rater, label }) => (label === null ? [] : [{ unit: String(i), rater, label, place }])),
    );
    const whole = agreementOf(ratings);
    const pairs = whole !== null && whole.raters.length > 2 ? pairwise(ratings) : [];
    await printReport(
      labelsReport(rows, ({ json }) => json),
      flags,
    );
    for (const line of flags.json
      ? [printJson({ agreement: agreementJson(whole), pairs: pairs.map(agreementJson) })]
      : ['', ...agreementLines(whole, pairs, ratings.length)])
      await print(`${line}\n`);
    return DONE;
  } finally {
    journal.close();
    dump.close();
  }
}

/**
 * The rollouts that have labels, in dump order. An entry names the place of its record at the time: if the record is still there, the dump
 * need not be read.
 */
async function labelled(dump: Dump, journal: Journal): Promise<Labelled[]> {
  const entries = journal.records(LABELS);
  const wanted = new Set(entries.map(({ record }) => record));
  const found = new Map<string, Place>();
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    if (file.error !== null) say(`${file.path}: ${file.error}`);
  }
  const keyAt = ({ file, record }: Place) => recordKey(file.raw(record) ?? '');
  for (const { record, locator } of entries) {
    const numbered = /^(.*?):(\d+)(?:\.(\d+))?$/s.exec(locator);
    if (numbered === null) continue;
    for (const file of dump.files.filter((one) => basename(one.path) === basename(numbered[1] ?? ''))) {
      const at = file.recordAt({ line: Number(numbered[2]), part: Number(numbered[3] ?? 0), member: '' });
      if (at !== -1 && keyAt({ file, record: at }) === record) found.set(record, { file, record: at });
    }
  }
  if (found.size < wanted.size)
    for (const file of dump.files)
      for (let at = 0; at < file.count && found.size < wanted.size; at++) {
        const key = keyAt({ file, record: at });
        if (wanted.has(key) && !found.has(key)) found.set(key, { file, record: at });
      }
  const gone = wanted.size - found.size;
  if (gone > 0)
    say(
      `${plural(gone, 'record')} that ${gone === 1 ? 'was' : 'were'} labelled ${gone === 1 ? 'is' : 'are'} no longer in this dump`,
    );
  const rows = [...found].map(([record, place]) =>
    labelledAt(place, standingLabels(journal, record), reportedLabels(journal, record)),
  );
  const order = new Map(dump.files.map((file, i) => [file, i]));
  return rows
    .filter((row) => row.labels.length + row.reported.length > 0)
    .sort((a, b) => order.get(a.place.file)! - order.get(b.place.file)! || a.place.record - b.place.record);
}

function labelledAt(
  place: Place,
  labels: readonly Label[],
  reported: readonly { by: string; labels: readonly Label[] }[],
): Labelled {
  const { file, record } = place;
  return {
    place,
    score: file.score(record) ?? file.read(record).rollout?.score ?? null,
    labels,
    reported: reported.flatMap(({ by, labels: theirs }) => theirs.map((one) => `${by} says ${labelText(one)}`)),
    json: {
      ...{ step: file.stepOf(record), sample: record + 1, labels: labels.map(labelJson) },
      reported: reported.map(({ by, labels: theirs }) => ({ by, labels: theirs.map(labelJson) })),
    },
  };
}

const agreementJson = (one: Agreement | null): Printable => one && { ...one, raters: [...one.raters] };

function agreementLines(whole: Agreement | null, pairs: readonly Agreement[], count: number): string[] {
  if (whole === null) return [`${plural(count, 'label')}; no rollout has labels of two raters`];
  return [whole, ...pairs].map(({ measure, raters, units, observed, value }) => {
    const name = measure === 'kappa' ? "Cohen's kappa" : "Krippendorff's alpha";
    const said = value === null ? 'not defined: there is one label alone' : value.toFixed(3);
    return sanitiseLine(
      `${raters.join(', ')}: ${name} ${said}, the same in ${(observed * 100).toFixed(1)} % (${plural(units, 'rollout')})`,
    );
  });
}
