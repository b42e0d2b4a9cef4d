import { Command } from 'commander';
import { Dump } from '../../core/dump/dump.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { keepLabel, standingLabels } from '../../replay/journal/labels.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import { labelText } from '../present/label-text.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { findRow } from './find-row.ts';
import { journalOf } from './journal-of.ts';
import { DONE, print, run, say, USAGE } from './output.ts';
import { raterOf, shortWord } from './rater.ts';

interface LabelFlags extends ReadingFlags {
  note?: string;
  rater?: string;
  remove?: boolean;
  journal?: string;
}

export const labelCommand = (): Command =>
  withReading(
    new Command('label')
      .description('give a rollout a label or a note, kept in the journal for each rater, never in the dump')
      .argument('<locator>', 'FILE:LINE as `ls` prints it, with #tN for the turn that shows it')
      .argument('[label]', "a word: good, bad, hack …; a rater's latest label counts")
      .option('--note <text>', 'a line of text; an empty one removes the note')
      .option('--rater <name>', 'the rater (default: the name of this user)')
      .option('--remove', 'remove label and note; the history keeps them')
      .option('--journal <dir>', 'where labels are kept; several people may share it'),
  ).action((locator: string, label: string | undefined, flags: LabelFlags) =>
    run(() => setLabel(locator, label, flags)),
  );

async function setLabel(text: string, label: string | undefined, flags: LabelFlags): Promise<number> {
  if (flags.remove === true && (label !== undefined || flags.note !== undefined))
    throw new UsageError('--remove goes neither with a label nor with --note');
  if (label === undefined && flags.note === undefined && flags.remove !== true)
    throw new UsageError('nothing to say of it: give a label, --note TEXT, or --remove');
  const rater = raterOf(flags.rater);
  const place = parseLocator(text);
  const change = flags.remove
    ? { label: null, note: null }
    : {
        ...(label === undefined ? {} : { label: shortWord('the label', label), turn: place.turn }),
        ...(flags.note === undefined ? {} : { note: flags.note.trim() === '' ? null : oneLineOf(flags.note) }),
      };
  const dump = Dump.open([place.path], await dumpOptions(flags));
  const journal = await journalOf(place.path, flags.journal);
  try {
    const row = await findRow(dump, place);
    const record = recordKey(row.raw);
    keepLabel(journal, { record, locator: row.locator, rater }, change);
    const mine = standingLabels(journal, record).find((one) => one.rater === rater);
    await print(`${row.locator}: ${mine === undefined ? `${rater} says nothing` : labelText(mine)}\n`);
    if (journal.problem !== null) say(journal.problem);
    return journal.problem?.startsWith('nothing is kept') ? USAGE : DONE;
  } finally {
    journal.close();
    dump.close();
  }
}

const oneLineOf = (text: string): string => text.trim().replace(/\s*[\n\r\u2028\u2029]+\s*/g, ' ');
