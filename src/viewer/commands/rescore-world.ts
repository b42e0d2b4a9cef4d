import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { scoreText } from '../../core/text/quantities.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { recordedImage } from '../../replay/worlds/recorded-image.ts';
import { wholeChain } from '../../replay/worlds/rollout-world.ts';
import { namedTests, type Verified, type Verifier, verify } from '../../replay/worlds/verify.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, print, say } from './output.ts';
import { filterOf } from './query-options.ts';
import { selectRows } from './select-rows.ts';
import type { WorldFlags } from './world-flags.ts';
import { orUsage, sayPlan, WorldImages, worldFor } from './world-options.ts';

export interface RescoreWorldFlags extends ReadingFlags, WorldFlags {
  verifier?: string;
  repeat: number;
  filter?: string;
  json?: boolean;
}

/** Runs a verifier in the last state of each rollout. @returns the exit status */
export async function rescoreInWorld(args: readonly string[], flags: RescoreWorldFlags): Promise<number> {
  if (flags.verifier === undefined)
    throw new UsageError(
      '--verifier: name the command that judges the last state, or `task` for that of the task folder',
    );
  const images = new WorldImages(flags);
  let [count, other] = [0, 0];
  for await (const { row } of selectRows(args, await dumpOptions(flags), filterOf(flags.filter))) {
    if (row.rollout === null) {
      say(`${row.locator}: ${row.error}`);
      continue;
    }
    const options = worldFor(row, row.rollout, await images.of(row), flags);
    const folders = [flags.image ?? '', recordedImage(row.json)?.name ?? ''];
    const verifier = verifierOf(flags.verifier, folders);
    sayPlan(row, options);
    const chain = await orUsage(row, wholeChain(options, options.plan.actions.length));
    const runs: Verified[] = [];
    for (let i = 0; i < flags.repeat; i++)
      runs.push(await verify(options, chain, verifier, namedTests(row.json), flags.timeLimit));
    const [first] = runs;
    if (first === undefined) continue;
    const scores = runs.map(({ score }) => score);
    const { score: recorded } = row.rollout;
    const isSteady = scores.every((score) => score === scores[0]);
    count++;
    if (!isSteady || (recorded !== null && first.score !== null && recorded !== first.score)) other++;
    const flaky = flakyOf(runs);
    const { locator } = row;
    if (flags.json) {
      const { score, why, exit, tests, output } = first;
      const scored = { locator, recorded, score: isSteady ? score : null, scores, why, exit, tests, flaky, output };
      await print(`${printJson(scored)}\n`);
    } else await print(`${worldScoreLine(locator, recorded, first, scores, flaky)}\n`);
  }
  if (count === 0) say(`${args.join(' ')}: no rollout to judge`);
  return count === 0 || other > 0 ? ANSWER_IS_NO : DONE;
}

function verifierOf(text: string, folders: readonly string[]): Verifier {
  if (text !== 'task') return { kind: 'command', command: text };
  const folder = folders.find((one) => one !== '' && existsSync(join(one, 'tests/test.sh')));
  if (folder === undefined)
    throw new UsageError('--verifier task: neither --image nor the record names a task folder with tests/test.sh');
  return { kind: 'task', folder };
}

/** The tests whose outcome differs between runs. */
function flakyOf(runs: readonly Verified[]): string[] {
  const seen = new Map<string, Set<string>>();
  for (const { tests } of runs)
    for (const { name, status } of tests) seen.set(name, (seen.get(name) ?? new Set()).add(status));
  return [...seen].filter(([, statuses]) => statuses.size > 1).map(([name]) => name);
}

function worldScoreLine(
  locator: string,
  recorded: number | null,
  { why, tests }: Verified,
  scores: readonly (number | null)[],
  flaky: readonly string[],
): string {
  const score = [...new Set(scores.map((one) => (one === null ? 'no score' : scoreText(one))))].join(' or ');
  const failed = tests.filter(({ status }) => status === 'failed').map(({ name }) => name);
  const parts = [
    `${locator}: ${score} (recorded ${recorded === null ? 'none' : scoreText(recorded)}), ${why}`,
    tests.length === 0
      ? ''
      : `${tests.filter(({ status }) => status === 'passed').length} of ${tests.length} tests pass`,
    failed.length === 0 ? '' : `failed: ${failed.slice(0, 5).join(', ')}${failed.length > 5 ? ' …' : ''}`,
    flaky.length === 0 ? '' : `flaky: ${flaky.slice(0, 5).join(', ')}${flaky.length > 5 ? ' …' : ''}`,
  ];
  return sanitiseLine(parts.filter((part) => part !== '').join('; '));
}
