import { existsSync, readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { RE2JS } from 're2js';
import { PLAIN } from '../chat/segment.ts';
import { TEMPLATE_NAMES } from '../chat/templates/index.ts';
import { loadConfig } from '../config/config-file.ts';
import { configFiles } from '../config/places.ts';
import type { DumpOptions } from '../dump/dump.ts';
import { isValidationStream, UsageError } from '../dump/paths.ts';
import { type KeyMap, MAP_WORDS, parsePlace } from '../formats/key-map.ts';
import { FORMAT_NAMES } from '../formats/registry.ts';
import { say } from './output.ts';

/** `--validation GLOB`: streams whose rollouts are not trained on, beside those that are named so. */
export const validationOption = (): Option =>
  new Option('--validation <glob...>', 'streams that hold validation rollouts (always: val, valid, validation, val_…)');

/** `--poll SECONDS`; 0 = never. */
export const pollOption = (): Option =>
  new Option(
    '--poll <seconds>',
    'look every so many seconds, 0 for never (by itself only where the file system sends no events)',
  ).argParser((text: string) => {
    const seconds = Number(text);
    if (!(seconds >= 0) || text.trim() === '') throw new InvalidArgumentError(`"${text}" is no number of seconds.`);
    return seconds;
  });

/** `--notify EXPR`, as often as wanted. */
export const notifyOption = (): Option =>
  new Option(
    '--notify <expr>',
    "tell with a bell when it holds for a step that became complete: 'score<0.1', of score, tool_error_rate, truncation_rate (repeatable)",
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);

/** `--format NAME`: the record's own looks do not count. */
export const formatOption = (): Option =>
  new Option('--format <name>', 'read records as this format, whatever they look like').argParser(
    (text: string) => text,
  );

/** `--map turns=tot.steps,score=final`. */
export const mapOption = (): Option =>
  new Option(
    '--map <places>',
    `where a foreign record has what a rollout has: turns=tot.steps,score=final (${MAP_WORDS.join(', ')})`,
  );

/** For texts whose template cannot be told, or is told wrongly. */
export const templateOption = (): Option =>
  new Option(
    '--chat-template <name>',
    `the chat template of the texts, or ${PLAIN} where there is none and all of a response is the model's (${TEMPLATE_NAMES.join(', ')})`,
  );

export interface ReadingFlags {
  chatTemplate?: string;
  validation?: string[];
  format?: string;
  map?: string;
}

/** How records are read, by the flags and the formats of the settings. @throws UsageError that points at the mistake */
export async function dumpOptions({ validation, format, map, chatTemplate }: ReadingFlags): Promise<DumpOptions> {
  const patterns = (validation ?? []).map(patternOf);
  const maps = [...(map === undefined ? [] : [mapOf(map)]), ...(await ownFormats())];
  const known = [...maps.map(({ name }) => name), ...FORMAT_NAMES];
  if (format !== undefined && !known.includes(format))
    throw new UsageError(`--format ${format}: no format is called so; there are ${known.join(', ')}`);
  if (chatTemplate !== undefined && chatTemplate !== PLAIN && !TEMPLATE_NAMES.includes(chatTemplate))
    throw new UsageError(
      `--chat-template ${chatTemplate}: no template is called so; there are ${[...TEMPLATE_NAMES, PLAIN].join(', ')}`,
    );
  return {
    reading: {
      ...(chatTemplate === undefined ? {} : { chatTemplate }),
      ...(format === undefined ? {} : { format }),
      ...(maps.length === 0 ? {} : { maps }),
    },
    isValidation: (stream) =>
      isValidationStream(stream) || patterns.some((pattern) => pattern.matcher(stream).matches()),
  };
}

/** The map of a flag: `WORD=PLACE`, with commas between. @throws UsageError with a sign under the character that is wrong */
function mapOf(text: string): KeyMap {
  const places: Record<string, (string | number)[]> = {};
  let at = 0;
  const wrong = (why: string, where: number) => new UsageError(`--map: ${why}`, [text, `${' '.repeat(where)}^`]);
  for (const piece of text.split(',')) {
    const sign = piece.indexOf('=');
    const word = piece.slice(0, Math.max(0, sign)).trim();
    if (sign === -1) throw wrong('write WORD=PLACE', at);
    if (!isWord(word)) throw wrong(`no part of a rollout is called so; there are ${MAP_WORDS.join(', ')}`, at);
    const way = parsePlace(piece.slice(sign + 1).trim());
    if (!Array.isArray(way))
      throw wrong('a place is written tot.steps[0], each step a key or a number', at + sign + 1 + way.at);
    places[word] = way;
    at += piece.length + 1;
  }
  return { name: 'map', places };
}

const isWord = (word: string): boolean => (MAP_WORDS as readonly string[]).includes(word);

/** The formats of the settings file; a mistake there costs its own line, which is said. */
async function ownFormats(): Promise<KeyMap[]> {
  const path = configFiles().find((file) => existsSync(file));
  // Most settings describe no format, and nobody waits for a parser of YAML to learn that.
  if (path === undefined || !/^\s*["']?formats["']?\s*:/m.test(textOf(path))) return [];
  const { formats } = await loadConfig();
  return (formats ?? []).map(({ name, places }) => {
    const ways: Record<string, (string | number)[]> = {};
    for (const { word, place, at } of places) {
      const way = parsePlace(place);
      if (!isWord(word)) say(`${at}: no part of a rollout is called ${word}; there are ${MAP_WORDS.join(', ')}`);
      else if (!Array.isArray(way)) say(`${at}: ${place} is no place, such as tot.steps[0] (character ${way.at + 1})`);
      else ways[word] = way;
    }
    return { name, places: ways };
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** `*` and `?` within a stream's name; the rest stands for itself. */
function patternOf(glob: string): RE2JS {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return RE2JS.compile(source);
}
