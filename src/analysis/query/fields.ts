import { CHECKS, type Check, checkWord } from '../../core/rollout/checks.ts';
import { FACTS, isFact } from '../../core/rollout/facts.ts';
import { nearestWord } from '../../core/text/nearest.ts';
import { GROUP_MEASURES, type GroupMeasure, isGroupMeasure } from '../facts/group-measures.ts';
import { AGAIN_PARTS, type AgainPart } from './again.ts';
import { CONTEXT_NAMES, type ContextPart, isContextPart } from './context.ts';
import { LABEL_NAMES } from './label.ts';

/** The reserved names of an expression; every other name is a key among the extras. */
export type NumberField = 'score' | 'step' | 'sample' | 'bytes' | 'findings';
export type TextField = 'input' | 'output' | 'gts' | 'stream' | 'status' | 'uid' | 'request_id';

export const NUMBER_FIELDS: readonly NumberField[] = ['score', 'step', 'sample', 'bytes', 'findings'];
export const FACT_FIELDS: readonly string[] = FACTS.map(({ name }) => name);
export const TEXT_FIELDS: readonly TextField[] = ['input', 'output', 'gts', 'stream', 'status', 'uid', 'request_id'];

/** Names for filters and sort orders, in the order in which they are offered. */
export const FIELD_NAMES: readonly string[] = [...NUMBER_FIELDS, ...FACT_FIELDS, ...GROUP_MEASURES, ...TEXT_FIELDS];

/** Names for filters only: results of rerunning calls. */
export const AGAIN_NAMES: readonly string[] = ['again', ...AGAIN_PARTS.map((part) => `again.${part}`)];

/** Names for filters only: values kept beside the dump. */
const KEPT_NAMES: readonly string[] = [...AGAIN_NAMES, ...LABEL_NAMES];

/** Names for filters only: they ask each history, call or rater. */
export const FILTER_NAMES: readonly string[] = ['read', ...KEPT_NAMES, ...CONTEXT_NAMES];

/**
 * `tool.NAME` is how often that tool is called, `tool.NAME.args` its arguments; `again` asks each rerun call, `label`
 * each rater.
 */
export type Field =
  | { type: 'number'; name: NumberField }
  | { type: 'fact'; name: string }
  | { type: 'text'; name: TextField }
  | { type: 'group'; name: GroupMeasure }
  | { type: 'context'; name: ContextPart }
  | { type: 'tool'; name: string; part: 'args' | null }
  | { type: 'again'; name: string; part: AgainPart | null }
  | { type: 'label'; name: string }
  /** Whether this user has read it. */
  | { type: 'read'; name: 'read' }
  | { type: 'extra'; path: string };

export function fieldNamed(name: string): Field {
  if ((NUMBER_FIELDS as readonly string[]).includes(name)) return { type: 'number', name: name as NumberField };
  if (isFact(name)) return { type: 'fact', name };
  if (isContextPart(name)) return { type: 'context', name };
  if (isGroupMeasure(name)) return { type: 'group', name };
  if ((TEXT_FIELDS as readonly string[]).includes(name)) return { type: 'text', name: name as TextField };
  if (AGAIN_NAMES.includes(name))
    return { type: 'again', name, part: name === 'again' ? null : (name.slice('again.'.length) as AgainPart) };
  if (name === 'read') return { type: 'read', name };
  if (name === 'label' || name.startsWith('label.')) return { type: 'label', name };
  const args = /^tool\.(.+)\.args$/.exec(name);
  if (args !== null) return { type: 'tool', name: args[1] ?? '', part: 'args' };
  if (name.startsWith('tool.')) return { type: 'tool', name: name.slice(5), part: null };
  return { type: 'extra', path: name.startsWith('extras.') ? name.slice(7) : name };
}

/** The name under which `fieldNamed` finds the field. */
export function fieldName(field: Field): string {
  if (field.type === 'tool') return `tool.${field.name}${field.part === null ? '' : `.${field.part}`}`;
  if (field.type !== 'extra') return field.name;
  const isTaken =
    fieldNamed(field.path).type !== 'extra' ||
    /^(?:extras|again|label)\./.test(field.path) ||
    RESERVED.has(field.path) ||
    nearField(field.path) !== null;
  return isTaken ? `extras.${field.path}` : field.path;
}

/** By path. The columns of the list are named again while a dump grows, and each name is compared with those of all fields. */
const valueNames = new Map<string, string>();
const MOST_NAMES = 5000;

/** The name that requests a record's extra value: `acc`, `uid`; `extras.score` for a second score. */
export function valueName(path: string): string {
  const known = valueNames.get(path);
  if (known !== undefined) return known;
  const field = fieldNamed(path);
  const name = field.type === 'text' && path !== 'stream' ? path : fieldName({ type: 'extra', path });
  if (valueNames.size >= MOST_NAMES) valueNames.clear();
  valueNames.set(path, name);
  return name;
}

/** Words that denote values. */
export const RESERVED = new Set(['true', 'false', 'null', 'finding', 'NaN', 'Infinity', 'inf']);

export function checkNamed(name: string): Check | null {
  return CHECKS.find((check) => check === name || checkWord(check) === name) ?? null;
}

/** The field that `name` may be a typo of: one letter wrong, missing, extra, or two swapped. */
export function nearField(name: string): string | null {
  if (name.includes('.')) return null;
  if (FIELD_NAMES.includes(name)) return null;
  return nearestWord(name.toLowerCase(), FIELD_NAMES, (field) => (field.length > 3 ? 1 : -1));
}

/** The cost of a field's value: the index has it, the background pass finds it, or the record must be read. */
export type Cost = 'quick' | 'facts' | 'record';

export function fieldCost(field: Field): Cost {
  if (field.type === 'read') return 'quick';
  if (field.type === 'fact' || field.type === 'group' || field.type === 'extra') return 'facts';
  if (field.type === 'number') return field.name === 'findings' ? 'facts' : 'quick';
  if (field.type === 'text' && field.name === 'status') return 'facts';
  return field.type === 'text' && field.name === 'stream' ? 'quick' : 'record';
}
