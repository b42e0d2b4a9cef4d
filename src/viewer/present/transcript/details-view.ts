import { FORMATS } from '../../../core/formats/registry.ts';
import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { CHECKS, checkWord, needOf, unobservedChecks } from '../../../core/rollout/checks.ts';
import { contextTitle } from '../../../core/rollout/contexts.ts';
import { END_WORD } from '../../../core/rollout/ended.ts';
import { groupKeysLike } from '../../../core/rollout/group-key.ts';
import { LACKS } from '../../../core/rollout/inputs.ts';
import type { LossMask } from '../../../core/rollout/loss-mask.ts';
import { type Rollout, toolCallsOf } from '../../../core/rollout/rollout.ts';
import type { Unread } from '../../../core/rollout/unread.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import { scoreText, sizeText } from '../../../core/text/quantities.ts';
import { formatJson, formattingJson } from '../json.ts';
import { maskShort } from '../mask-share.ts';
import { formatAdvantage, formatReward } from '../numbers.ts';
import { UNKNOWN_UNREAD, unreadText } from '../unread-text.ts';
import type { Block } from './block.ts';
import { findingStyle } from './findings.ts';
import { PAUSE, type PartOrPause, paused } from './section.ts';
import { type TableRow, table } from './table-view.ts';

const MASK_FROM = {
  recorded: 'recorded while the rollout was made',
  rewritten: 'recorded, then changed by the trainer',
  declared: 'by what you said of its format',
  tokens: 'from token ids',
  inferred: 'inferred from roles',
  unknown: 'unknown which text is trained',
} as const;

/** Rows made between two pauses. */
const SHARE = 1000;

/** Extras with their own rows. */
const OWN_ROWS = ['uid', 'request_id'];

export interface Details {
  rollout: Rollout;
  /** Content of the record that the rollout does not show; null if unknown. */
  unread: readonly Unread[] | null;
  locator: string;
  bytes: number;
  /** The step in the file's name; null if absent. */
  fileStep: number | null;
  /** In words, '' if none is known. */
  group: string;
  /** How the group is known, or the reason for its absence, in words. */
  groupFrom: string;
  /** Relative to its group; null without one. */
  advantage: number | null;
  /** Labels of people. */
  labels: readonly string[];
}

/** 't1 +0.10, t3 +1.00': the turns that have a value. */
const perTurnText = (values: readonly (number | null)[], text: (value: number) => string): string =>
  values.flatMap((value, turn) => (value === null ? [] : [`t${turn} ${text(value)}`])).join(', ');

const indentedJson = (value: JsonValue, indent = 0): string =>
  typeof value === 'string' ? value : formatJson(value, indent);

/** Everything known about a rollout beside its text, with sources. */
export function* detailBlocks(details: Details): Generator<PartOrPause<Block>> {
  const { rollout, locator, bytes } = details;
  const rows: TableRow[] = [
    { name: 'record', value: locator, from: `${sizeText(bytes)}, format ${rollout.format}` },
    { name: 'score', value: scoreText(rollout.score), ...(rollout.score !== null && { from: 'recorded' }) },
  ];
  if (rollout.groundTruth !== undefined) {
    rows.push({ name: 'ground truth', value: indentedJson(rollout.groundTruth, 2), from: 'recorded' });
  }
  // To list 100,000 keys takes 40 ms, here and twice more below.
  rows.push(...groupRows(details));
  yield PAUSE;
  rows.push(...rewardRows(rollout), ...maskRows(rollout), ...turnRows(rollout));
  rows.push(...nameRows(rollout, details.fileStep));
  for (const label of details.labels) rows.push({ name: 'label', value: label });
  for (const finding of rollout.findings) {
    const from = finding.turn === null ? '' : `t${finding.turn}`;
    rows.push({ name: finding.severity, value: `! ${finding.message}`, from, style: findingStyle(finding) });
  }
  const shown = new Set([...OWN_ROWS, ...rollout.rewards.unaligned.map(({ field }) => field)]);
  for (const name of Object.keys(rollout.extras)) {
    if (rows.length % SHARE === SHARE - 1) yield PAUSE;
    const value = rollout.extras[name];
    if (value === undefined || shown.has(name)) continue;
    rows.push({ name, value: typeof value === 'string' ? value : yield* paused(formattingJson(value)), from: 'extra' });
  }
  yield PAUSE;
  rows.push(...unreadRows(details.unread), ...verdictRows(rollout));
  yield PAUSE;
  let at = 0;
  for (const block of table(rows)) yield { ...block, id: `detail.${at++}` };
}

/** More paths are left to `:mapping`. */
const MOST_UNREAD = 6;

function unreadRows(unread: readonly Unread[] | null): TableRow[] {
  if (unread === null) return [{ name: 'not shown', value: UNKNOWN_UNREAD }];
  const content = unread.filter(({ kind }) => kind !== 'id');
  const rows = content
    .slice(0, MOST_UNREAD)
    .map((one) => ({ name: 'not shown', value: unreadText(one), from: 'record' }));
  const left = unread.length - rows.length;
  if (left === 0) return rows;
  const more =
    rows.length === 0
      ? left === 1
        ? 'an id or a time'
        : `${left} ids and times`
      : `${left} more, ids and times included`;
  return [...rows, { name: 'not shown', value: more, from: ':mapping' }];
}

/** Which checks found nothing, and which had nothing to look at. */
function verdictRows(rollout: Rollout): TableRow[] {
  const found = new Set(rollout.findings.map(({ check }) => check));
  const unobserved = unobservedChecks(rollout).filter((check) => !found.has(check));
  const healthy = CHECKS.filter((check) => !found.has(check) && !unobserved.includes(check));
  const needs = [...new Set(unobserved.map(needOf))];
  const lacking = needs.map((need) => {
    const checks = unobserved.filter((check) => needOf(check) === need);
    return `${LACKS[need]}: ${checks.map(checkWord).join(', ')}`;
  });
  return [
    { name: 'passed', value: healthy.map(checkWord).join(', '), from: plural(healthy.length, 'check') },
    ...(lacking.length === 0
      ? []
      : [{ name: 'skipped', value: lacking.join('; '), from: plural(unobserved.length, 'check') }]),
  ];
}

function groupRows({ rollout, group, groupFrom, advantage }: Details): TableRow[] {
  const [key] = groupKeysLike(rollout);
  const offer: TableRow[] = key === undefined ? [] : [{ name: 'may group by', value: key, from: `--group-by ${key}` }];
  if (group === '') return [{ name: 'group', value: 'none', from: groupFrom }, ...offer];
  const from = rollout.group === undefined ? groupFrom : `by ${rollout.group}`;
  const rows: TableRow[] = [{ name: 'group', value: group, from }, ...offer];
  if (advantage !== null) {
    rows.push({ name: 'advantage', value: formatAdvantage(advantage), from: 'recomputed from score, GRPO' });
  }
  return rows;
}

function rewardRows({ rewards }: Rollout): TableRow[] {
  const { perTurn, returns, unaligned } = rewards;
  const rows: TableRow[] = [];
  if (perTurn !== null) rows.push({ name: 'rewards', value: perTurnText(perTurn, formatReward), from: 'recorded' });
  for (const [name, value] of Object.entries(rewards.named ?? {}))
    rows.push({ name: `reward ${name}`, value: scoreText(value), from: 'recorded' });
  if (returns !== null) rows.push({ name: 'returns', value: perTurnText(returns, scoreText), from: 'recorded' });
  for (const { field, values } of unaligned) {
    rows.push({ name: field, value: formatJson(values), from: 'recorded, fits no turns' });
  }
  return rows;
}

/** '~62 % trained, 171 of 276 characters'. */
function counted(mask: LossMask): string {
  const { trainedTokens, totalTokens, trainedChars, totalChars } = mask;
  const of =
    trainedTokens !== null && totalTokens !== null
      ? `${formatCount(trainedTokens)} of ${plural(totalTokens, 'token')}`
      : `${formatCount(trainedChars)} of ${plural(totalChars, 'character')}`;
  return `${maskShort(mask)}, ${of}`;
}

/** A format that nobody trains on, or a name: what is inferred from a name says so. */
const whyNoMask = (format: string): string =>
  FORMATS.some(({ name, isUntrained }) => name === format && isUntrained)
    ? `records of the format ${format} are not trained on`
    : 'validation is not trained on; known by the name of a file or folder, or by --validation';

function maskRows({ lossMask, tokens, format }: Rollout): TableRow[] {
  const rows: TableRow[] = [
    lossMask === null
      ? { name: 'loss mask', value: 'none', from: whyNoMask(format) }
      : { name: 'loss mask', value: counted(lossMask), from: MASK_FROM[lossMask.source] },
  ];
  if (tokens !== undefined) {
    const prompt = tokens.promptIds === null ? '' : `${formatCount(tokens.promptIds.length)} of the prompt, `;
    const value = `${prompt}${formatCount(tokens.responseIds.length)} of the response`;
    rows.push({ name: 'tokens', value, from: 'recorded' });
  }
  return rows;
}

function turnRows(rollout: Rollout): TableRow[] {
  const { turns, toolSchemas } = rollout;
  const calls = toolCallsOf(rollout);
  const judged = turns.filter((turn) => turn.confidence === 'inferred').length;
  const unknown = turns.filter((turn) => turn.confidence === 'unknown').length;
  const said = [
    ...(judged === 0 ? [] : [`borders of ${formatCount(judged)} are inferred`]),
    ...(unknown === 0 ? [] : [`of ${formatCount(unknown)} unknown`]),
  ];
  const borders = said.length === 0 ? 'all borders are certain' : said.join(', ');
  const rows: TableRow[] = [{ name: 'turns', value: formatCount(turns.length), from: borders }];
  const others = rollout.contexts?.slice(1) ?? [];
  if (others.length > 0)
    rows.push({
      name: 'histories',
      value: formatCount(others.length + 1),
      from: others.map(contextTitle).join('; ').slice(0, 200),
    });
  const answered = calls.filter((call) => call.resultTurn !== null).length;
  const failed = calls.filter((call) => call.error !== null).length;
  const unread = failed === 0 ? '' : `, ${failed} not readable`;
  rows.push({ name: 'tool calls', value: formatCount(calls.length), from: `${answered} answered${unread}` });
  const names = toolSchemas.map(toolName).filter((name) => name !== '');
  if (names.length > 0) rows.push({ name: 'tools', value: names.join(', '), from: 'schemas in the prompt' });
  return rows;
}

/** The name in `{type: 'function', function: {name}}`, or in the function alone. */
function toolName(schema: JsonValue): string {
  if (!isJsonObject(schema)) return '';
  const own = isJsonObject(schema.function) ? schema.function : schema;
  return typeof own.name === 'string' ? own.name : '';
}

function nameRows({ step, uid, requestId, status, ended }: Rollout, fileStep: number | null): TableRow[] {
  const rows: TableRow[] = [];
  if (step !== null) {
    const differs = fileStep !== null && fileStep !== step;
    const from = differs ? `recorded; the file's name says ${fileStep}` : 'recorded';
    rows.push({ name: 'step', value: String(step), from, ...(differs && { style: 'warning' as const }) });
  } else if (fileStep !== null) rows.push({ name: 'step', value: String(fileStep), from: "the file's name" });
  if (uid !== null) rows.push({ name: 'uid', value: uid, from: 'recorded' });
  if (requestId !== null) rows.push({ name: 'request_id', value: requestId, from: 'recorded' });
  rows.push({ name: 'ended', value: END_WORD[ended.how], from: ended.evidence });
  if (status !== null) rows.push({ name: 'status', value: status, from: 'recorded' });
  return rows;
}
