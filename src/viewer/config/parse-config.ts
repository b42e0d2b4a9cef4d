import { LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { itemAt } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Config, Described, OwnFormat, OwnKeys } from './config.ts';
import { sequenceOf } from './key-names.ts';
import { PRESET_NAMES, type PresetName } from './preset-names.ts';

/** `turn.first: 0` is a number to YAML. */
const Key = z.union([z.string(), z.number().transform(String)]);
const Keys = z.union([Key.transform((key) => [key]), z.array(Key)], 'a key, or a list of keys');
const PresetNames = z.enum(PRESET_NAMES, `a preset: ${PRESET_NAMES.join(', ')}`);
const Mapping = z.record(z.string(), z.unknown());
const KNOWN = ['preset', 'keys', 'journal', 'formats', 'chat_templates', 'errors'];
/** `turns: tot.steps`; a key that is a number is one too. */
const Places = z.record(z.string(), Key);

/** YAML, a superset of JSON. */
export function parseConfig(text: string, path: string): Config {
  const problems: string[] = [];
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  const atOffset = (offset: number): string => `${path}:${lines.linePos(offset).line}`;
  for (const error of document.errors) problems.push(`${atOffset(error.pos[0])}: ${error.message}; it is not read`);
  if (document.errors.length > 0) return { preset: null, keys: [], journal: null, problems };
  const at = (keys: readonly (string | number)[]): string => {
    const node = document.getIn(keys, true) as Partial<Node> | undefined;
    return node?.range == null ? path : atOffset(node.range[0]);
  };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    return {
      preset: null,
      keys: [],
      journal: null,
      problems: [`${path}: ${errorMessage(error)}; it is not read`],
    };
  }
  const top = Mapping.safeParse(value);
  if (!top.success) {
    return {
      preset: null,
      keys: [],
      journal: null,
      problems: [`${path}: settings are a mapping, such as \`preset: less\``],
    };
  }
  for (const name of Object.keys(top.data))
    if (!KNOWN.includes(name))
      problems.push(`${at([name])}: no setting is called ${name}; there are ${KNOWN.join(', ')}`);

  let preset: PresetName | null = null;
  if (top.data.preset != null) {
    const read = PresetNames.safeParse(top.data.preset);
    if (read.success) preset = read.data;
    else problems.push(`${at(['preset'])}: ${String(top.data.preset)} is not ${itemAt(read.error.issues, 0).message}`);
  }

  const own: OwnKeys[] = [];
  const given = Mapping.safeParse(top.data.keys ?? {});
  if (!given.success) problems.push(`${at(['keys'])}: keys are a mapping, such as \`turn.next: [l, right]\``);
  for (const [id, written] of Object.entries(given.data ?? {})) {
    const place = ['keys', id];
    // An empty value removes the keys, like an empty list.
    const read = Keys.safeParse(written ?? []);
    if (!read.success) {
      problems.push(
        `${at(place)}: ${id} needs ${itemAt(read.error.issues, 0).message}; quote what YAML reads as something else`,
      );
      continue;
    }
    const keys: { sequence: string; at: string }[] = [];
    for (const [i, text] of read.data.entries()) {
      const where = at(Array.isArray(written) ? [...place, i] : place);
      const named = sequenceOf(text);
      if ('unknown' in named)
        problems.push(
          `${where}: no key is called ${JSON.stringify(named.unknown)}; write x, ctrl+x, f5, space, up, or y x for two in a row`,
        );
      else if (/^[1-9]/.test(named.sequence))
        problems.push(`${where}: ${named.sequence} cannot start a command: digits before it are its count`);
      else keys.push({ sequence: named.sequence, at: where });
    }
    own.push({ id, at: at(place), keys });
  }
  const formats: OwnFormat[] = [];
  const described = Mapping.safeParse(top.data.formats ?? {});
  if (!described.success)
    problems.push(`${at(['formats'])}: formats are a mapping, such as \`mine: {turns: tot.steps, score: final}\``);
  for (const [name, written] of Object.entries(described.data ?? {})) {
    const read = Places.safeParse(written);
    if (!read.success) {
      problems.push(
        `${at(['formats', name])}: the format ${name} needs places, such as {turns: tot.steps, score: final}`,
      );
      continue;
    }
    const places = Object.entries(read.data).map(([word, place]) => ({ word, place, at: at(['formats', name, word]) }));
    formats.push({ name, at: at(['formats', name]), places });
  }
  const describedOf = (name: string): Described[] => {
    const held = top.data[name] ?? [];
    const entries: [string | number, unknown][] = Array.isArray(held)
      ? held.map((value, i) => [i, value])
      : Mapping.safeParse(held).success
        ? Object.entries(held)
        : [];
    if (entries.length === 0 && top.data[name] != null && !Array.isArray(held) && typeof held !== 'object')
      problems.push(`${at([name])}: ${name} holds descriptions; the README shows one`);
    return entries.map(([key, value]) => ({
      name: String(key),
      at: at([name, key]),
      value,
      lineOf: (...keys) => at([name, key, ...keys]),
    }));
  };
  const chatTemplates = describedOf('chat_templates');
  const errors = describedOf('errors');
  let journal: string | null = null;
  if (typeof top.data.journal === 'string' && top.data.journal !== '') journal = top.data.journal;
  else if (top.data.journal != null) problems.push(`${at(['journal'])}: journal is \`beside\`, or a folder`);
  return {
    preset,
    keys: own,
    journal,
    problems,
    ...(formats.length > 0 ? { formats } : {}),
    ...(chatTemplates.length > 0 ? { chatTemplates } : {}),
    ...(errors.length > 0 ? { errors } : {}),
  };
}
