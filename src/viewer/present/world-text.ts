import { seenResult } from '../../analysis/actions/seen-result.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitise, sanitiseLine } from '../../core/text/sanitise.ts';
import { diffTexts } from '../../replay/diff.ts';
import type { Culprit } from '../../replay/worlds/bisect.ts';
import type { RepeatedOutcome } from '../../replay/worlds/repeated.ts';
import type { WorldOutcome } from '../../replay/worlds/replay-world.ts';
import type { WorldEnd } from '../../replay/worlds/world-tools.ts';
import type { ChangedPath } from '../../sandbox/worlds/tree.ts';
import { diffLines } from './replay-text.ts';

/** A changed path for JSON: text as UTF-8, `mode` null if it no longer exists. */
export interface ShownChange {
  path: string;
  type: string;
  mode: string | null;
  size: number | null;
  sha256: string | null;
  change: string;
  [key: string]: string | number | null;
}

/** Names are bytes; invalid UTF-8 is shown with the replacement character. */
export const worldChanges = (changes: readonly ChangedPath[]): ShownChange[] =>
  changes.map(({ path, mode, type, size, sha256, change }) => ({
    path: Buffer.from(path, 'latin1').toString('utf8'),
    type,
    mode: mode === '' ? null : mode,
    size,
    sha256,
    change,
  }));

/** One line per call; if it drifted, its difference, and below that the files it changed. */
export function worldOutcomeLines(locator: string, outcome: WorldOutcome | RepeatedOutcome): string[] {
  const { turn, call, name, verdict, tainted, reason, seconds, changed, recorded, result, processes } = outcome;
  const words = [verdict, tainted ? 'tainted' : '', reason ?? ''].filter((word) => word !== '').join(', ');
  const head = sanitiseLine(`${locator}#t${turn} call ${call} ${name}: ${words} (${(seconds * 1000).toFixed(0)} ms)`);
  const diff =
    verdict === 'drift' && recorded !== null && result !== null ? diffTexts(seenResult(recorded).output, result) : null;
  const lines = diff === null ? [] : diffLines(diff).map((text) => `    ${text}`);
  return [head, ...lines, ...footLines({ changed, processes }).map((text) => `    ${text}`)];
}

/** The files that the tools of a branch changed. */
export function branchChanges({ changed, lost }: Pick<WorldEnd, 'changed' | 'lost'>): string[] {
  const files = worldChanges(changed).filter(({ type }) => type !== 'dir');
  const what = files.length === 0 ? 'its tools changed no file' : `its tools changed ${plural(files.length, 'file')}:`;
  const listed = files.slice(0, 20).map(({ change, path }) => `    ${change} ${sanitiseLine(path)}`);
  return [what, ...listed, ...lost.map((one) => `not kept: ${sanitiseLine(one)}`)];
}

/** `call 7 bash made it fail: exit 0 before, 1 after; ~ src/a.py`. @param first the number of the first call */
export function culpritText({ action, layer, before, after, change }: Culprit, first: 0 | 1): string {
  const words = { pass: 'made it pass', fail: 'made it fail', change: 'changed its answer' }[change];
  const exits = `exit ${before.exit ?? 'none'} before, ${after.exit ?? 'none'} after`;
  const files = first === 0 ? [] : footLines({ changed: layer.changed, processes: [] });
  return sanitiseLine(
    [`call ${action.call + first} ${action.name} ${words}: ${exits}`, ...files.slice(0, 3)].join('; '),
  );
}

/** The changes of a call, and the processes that it left running. */
export function footLines({ changed, processes }: Pick<WorldOutcome, 'changed' | 'processes'>): string[] {
  const files = worldChanges(changed).filter(({ type }) => type !== 'dir');
  const shown = files
    .slice(0, 6)
    .map(({ change, path }) => `${change === 'added' ? '+' : change === 'deleted' ? '-' : '~'} ${path}`);
  if (files.length > 6) shown.push(`… ${files.length - 6} more`);
  for (const process of processes.slice(0, 3)) shown.push(`still running, in no layer: ${process}`);
  return shown.map((text) => sanitise(sanitiseLine(text)));
}
