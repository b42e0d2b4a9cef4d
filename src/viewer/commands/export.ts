import { Command, InvalidArgumentError, Option } from 'commander';
import { BALANCES } from '../../analysis/export/balance.ts';
import { ACCEPTABLE_LIMITS } from '../../analysis/export/limits.ts';
import { PAIR_RULES } from '../../analysis/export/pairs.ts';
import { EXPORT_FORMATS } from '../../analysis/export/registry.ts';
import { countOf } from './count.ts';
import { withReading } from './dump-options.ts';
import type { ExportFlags } from './export-run.ts';
import { run } from './output.ts';

const numberOption = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) throw new TypeError(`"${text}" is no number`);
  return value;
};

const FORMAT_NAMES = EXPORT_FORMATS.map(({ name }) => name);

/** Batches that a trainer loads and no other program can write, and why. */
const REFUSED_FORMATS = new Map([
  [
    'verl-batch',
    'verl reads a batch (rollout.skip_dump_dir) only as a pickle of its own DataProto, which holds the tensors of its Python packages, and pairs it with whatever prompts come next; verl-rl writes the prompts, and slime, areal and prime-rl-batch recorded ids.',
  ],
]);

/** @throws InvalidArgumentError */
function formatName(name: string): string {
  if (FORMAT_NAMES.includes(name)) return name;
  throw new InvalidArgumentError(REFUSED_FORMATS.get(name) ?? `Allowed choices are ${FORMAT_NAMES.join(', ')}.`);
}

export const exportCommand = (): Command =>
  withReading(
    new Command('export')
      .description('write rollouts as a training set in the format of a trainer')
      .argument('<rollouts...>', 'the name of a set, or files, directories and locators')
      .addOption(
        new Option('--to <format>', `the loader that reads the file: ${FORMAT_NAMES.join(', ')}`)
          .argParser(formatName)
          .makeOptionMandatory(),
      )
      .requiredOption(
        '--out <file>',
        'the file, compressed if it ends in .gz or .zst; its card is written beside it as FILE.card.json and .md',
      )
      .option('--filter <expr>', 'only the rollouts that match it')
      .option('--limit <n>', 'this many rows at most', countOf)
      .option('--force', 'replace a file that exists')
      .option('--drop', 'leave out rollouts that the format cannot hold, and count them')
      .addOption(
        new Option('--accept <losses...>', 'write rollouts in spite of these losses').choices(ACCEPTABLE_LIMITS),
      )
      .option('--inferred', 'accept trained text that is inferred from roles')
      .addOption(
        new Option('--pairs <rule>', 'which answers of a group make a pair')
          .choices([...PAIR_RULES, 'fork'])
          .default('best'),
      )
      .option('--margin <score>', 'a pair: the least difference of scores', numberOption)
      .option(
        '--length-matched <ratio>',
        'a pair: the longer answer has at most this many times the characters',
        numberOption,
      )
      .option(
        '--good <which>',
        'the good answers: those with at least this score (trl-kto), or a filter such as "label:good"',
      )
      .option('--pass <range>', 'prompts: choose by the share or number of positive scores: 0<pass<1, solved==1')
      .option('--hardest', 'prompts: lowest share of positive scores first')
      .option('--buckets <n>', 'prompts: their difficulty as one of n buckets, from 0, the easiest', countOf)
      .addOption(new Option('--balance <by>', 'as many rows of each class as the smallest has').choices([...BALANCES]))
      .option('--per-prompt <n>', 'at most this many rollouts of a prompt', countOf)
      .option('--no-copies', 'leave out answers that repeat, or nearly repeat, another answer to their prompt')
      .option('--against <files...>', 'leave out rollouts that share a prompt or 13 words in a row with these files')
      .option('--split <parts>', 'write several files, as in train=0.9,val=0.1, with each prompt in only one')
      .option('--seed <text>', 'seed of --split and --balance', '0')
      .option('--rescored', 'prefer the scores of `rescore`')
      .option(
        '--verified',
        'leave out edited branches without a score, or whose calls did not give the same results again',
      )
      .option('--redact', 'mask secrets')
      .option(
        '--tokenizer <file>',
        'refuse rollouts whose ids this tokenizer.json, with the template beside it, would change',
      )
      .option('--journal <dir>', 'where sets, branches and scores are kept')
      .option('--json', 'print the card'),
  ).action((args: string[], flags: ExportFlags) =>
    run(async () => (await import('./export-run.ts')).exportRollouts(args, flags)),
  );
