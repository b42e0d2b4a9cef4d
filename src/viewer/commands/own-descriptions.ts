import { RE2JS } from 're2js';
import { z } from 'zod';
import { GRAMMARS } from '../../core/chat/calls/read-calls.ts';
import { OWN_ROLES, type OwnTemplate } from '../../core/chat/own-template.ts';
import { isMapWord, type KeyMap, MAP_WORDS, parsePlace } from '../../core/formats/key-map.ts';
import { ERROR_KINDS, FAULTS } from '../../core/rollout/error-kind.ts';
import type { OwnError } from '../../core/rollout/own-errors.ts';
import type { Config, Described } from '../config/config.ts';
import { say } from './output.ts';

/** The settings for foreign records: formats, chat templates, error patterns of tools. */
export interface OwnReading {
  maps: KeyMap[];
  templates: OwnTemplate[];
  errors: OwnError[];
}

/** A mistake invalidates only its own description, and is reported with its line. */
export const describedReading = (config: Config): OwnReading => ({
  maps: mapsOf(config),
  templates: (config.chatTemplates ?? []).flatMap(templateFrom),
  errors: (config.errors ?? []).flatMap(errorFrom),
});

function mapsOf({ formats = [] }: Config): KeyMap[] {
  return formats.map(({ name, places }) => {
    const ways: Record<string, (string | number)[]> = {};
    for (const { word, place, at } of places) {
      const way = parsePlace(place);
      if (!isMapWord(word)) say(`${at}: no part of a rollout is called ${word}; there are ${MAP_WORDS.join(', ')}`);
      else if (!Array.isArray(way))
        say(`${at}: ${place} is not a place, such as tot.steps[0] (character ${way.at + 1})`);
      else ways[word] = way;
    }
    return { name, places: ways };
  });
}

const Text = z.string('a text; quote what YAML reads as something else').min(1, 'a text that is not empty');
const ShapeWords = {
  ...(Object.fromEntries(OWN_ROLES.map((role) => [role, Text.optional()])) as Record<
    (typeof OWN_ROLES)[number],
    z.ZodOptional<typeof Text>
  >),
  user: Text,
  assistant: Text,
  end: Text.optional(),
  result_end: Text.optional(),
};
const OwnShape = z.strictObject(ShapeWords);
const Template = z.strictObject({
  ...ShapeWords,
  stripped: OwnShape.optional(),
  calls: z
    .array(
      z.enum(
        GRAMMARS.map(({ name }) => name),
        `one of ${GRAMMARS.map(({ name }) => name).join(', ')}`,
      ),
    )
    .default([]),
});

function templateFrom(described: Described): OwnTemplate[] {
  const read = Template.safeParse(described.value);
  if (!read.success) return wrong('the chat template', described, read.error);
  const { stripped, calls, ...shape } = read.data;
  return [{ name: described.name, ...shapeFrom(shape), stripped: stripped ? shapeFrom(stripped) : null, calls }];
}

const shapeFrom = (shape: z.infer<typeof OwnShape>): Pick<OwnTemplate, 'headers' | 'end' | 'resultEnd'> => ({
  headers: Object.fromEntries(OWN_ROLES.flatMap((role) => (shape[role] === undefined ? [] : [[role, shape[role]]]))),
  end: shape.end ?? null,
  resultEnd: shape.result_end ?? null,
});

const ErrorSign = z.strictObject({
  pattern: Text.refine(isPattern, 'a pattern of RE2 (no look-behind, no back reference)'),
  tool: Text.nullable().default(null),
  kind: z.enum(ERROR_KINDS, `one of ${ERROR_KINDS.join(', ')}`).default('other'),
  fault: z
    .enum(FAULTS, `one of ${FAULTS.join(', ')}`)
    .nullable()
    .default(null),
  says: Text.default('the tool answered with an error'),
});

function errorFrom(described: Described): OwnError[] {
  const read = ErrorSign.safeParse(described.value);
  return read.success ? [read.data] : wrong('the error', described, read.error);
}

function isPattern(text: string): boolean {
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

function wrong(what: string, { name, at, value, lineOf }: Described, error: z.ZodError): [] {
  for (const issue of error.issues) {
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys)
        say(`${lineOf(...pathKeys(issue.path), key)}: ${what} ${name} has no ${key}; it is not read`);
    else if (issue.path.length === 0) say(`${at}: ${what} ${name} is a mapping; it is not read`);
    else if (!isThere(value, issue.path)) say(`${at}: ${what} ${name} needs ${issue.path.join('.')}; it is not read`);
    else {
      const [key] = issue.path;
      const line = lineOf(...pathKeys(issue.path));
      say(
        `${line}: ${String(key)} of ${what} ${name} needs ${/^Invalid input/.test(issue.message) ? 'a text' : issue.message}; it is not read`,
      );
    }
  }
  return [];
}

const isThere = (value: unknown, path: readonly PropertyKey[]): boolean =>
  path.reduce<unknown>((held, key) => (held as Record<PropertyKey, unknown> | undefined)?.[key], value) !== undefined;

const pathKeys = (path: readonly PropertyKey[]): (string | number)[] =>
  path.map((key) => (typeof key === 'number' ? key : String(key)));
