import { printJson } from '../json/print.ts';
import { isJsonObject } from '../json/value.ts';
import { findingJson } from '../rollout/finding.ts';
import { type GroupKey, groupKeyOf } from '../rollout/group-key.ts';
import type { ParsedLine } from './parse-line.ts';

/** Values that a list shows of a record besides its facts: pieces of JSON, which are printed as they are. */
export interface RecordDetails {
  /** null for a record that is no rollout; then `error` says why. */
  format: string | null;
  error: string | null;
  findings: string;
  /** With all their digits; `step` is null if the record has none. */
  step: string;
  score: string;
  extras: string;
  /** `key` and `uid` as pieces of JSON; `isNamed`: the record says which group it is of. */
  group: { from: GroupKey['from']; key: string; uid: string; isNamed: boolean } | null;
}

/** Longer details are read from their record. */
const MOST_CHARS = 16_384;

/** JSON escapes tabs and ends of lines. */
const BETWEEN = '\t';

/** The details of a record on one line; empty if they are too long to keep, or more is said of it than a row shows. */
export function detailLine({ rollout, json, error, findings, isUnknown }: ParsedLine): string {
  if (isUnknown) return '';
  const found = printJson(findings.map(findingJson));
  if (rollout === null) return joinedText([printJson(error), found]);
  const { from, key, uid } = groupKeyOf(rollout);
  return joinedText([
    printJson(rollout.format),
    found,
    printJson(digitsIn(json, 'step') ?? rollout.step),
    printJson(digitsIn(json, 'score') ?? rollout.score),
    printJson(rollout.extras),
    from,
    printJson(key),
    printJson(uid),
    rollout.group === undefined ? '0' : '1',
  ]);
}

function joinedText(parts: readonly string[]): string {
  const line = parts.join(BETWEEN);
  return line.length > MOST_CHARS ? '' : line;
}

/** The details in a line from `from` up to `to`; null if they were not kept. */
export function detailsOf(text: string, from = 0, to = text.length): RecordDetails | null {
  const parts: string[] = [];
  for (let start = from; start <= to; ) {
    const tab = text.indexOf(BETWEEN, start);
    const end = tab === -1 || tab > to ? to : tab;
    parts.push(text.slice(start, end));
    start = end + 1;
  }
  if (parts.length === 2) {
    const [error = 'null', findings = '[]'] = parts;
    return { format: null, error, findings, step: 'null', score: 'null', extras: '{}', group: null };
  }
  const [format, findings, step, score, extras, basis, key, uid, named] = parts;
  if (!format || !findings || !step || !score || !extras || !basis || !key || !uid || !named) return null;
  const group = { from: basis === 'uid' ? basis : 'prompt', key, uid, isNamed: named === '1' } as const;
  return { format, error: null, findings, step, score, extras, group };
}

/** An integer beyond 2^53 as recorded; the domain's numbers cannot hold all its digits. */
export function digitsIn(json: ParsedLine['json'], key: string): bigint | null {
  const value = isJsonObject(json) ? json[key] : undefined;
  return typeof value === 'bigint' ? value : null;
}
