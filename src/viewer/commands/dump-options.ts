import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { RE2JS } from 're2js';
import type { UserEncoding } from '../../core/chat/rendered.ts';
import { PLAIN } from '../../core/chat/segment.ts';
import { TEMPLATE_NAMES } from '../../core/chat/templates/index.ts';
import type { DumpOptions } from '../../core/dump/dump.ts';
import { recordWithin } from '../../core/dump/memory-limit.ts';
import { isValidationStream, UsageError } from '../../core/dump/paths.ts';
import { ReadMarks } from '../../core/dump/read-marks.ts';
import { factsFolder, readMarksFile } from '../../core/files/places.ts';
import { isMapWord, type KeyMap, MAP_WORDS, parsePlace } from '../../core/formats/key-map.ts';
import { FORMAT_NAMES } from '../../core/formats/registry.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { memoryOption, niceOption, threadsOption } from './machine-use.ts';
import { ownReading } from './own-reading.ts';
import { cacheSizeOption } from './remote-paths.ts';
import { templateNamed } from './template-names.ts';
import { noTokenizer } from './tokenizer-option.ts';
import { showWork } from './work-line.ts';

/** `--validation GLOB`: streams whose rollouts are not trained on, in addition to those named accordingly. */
const validationOption = (): Option =>
  new Option('--validation <glob...>', 'streams that hold validation rollouts (always: val, valid, validation, val_…)');

/** `--poll SECONDS`; 0 = never. */
export const pollOption = (): Option =>
  new Option(
    '--poll <seconds>',
    'poll for changes every N seconds, 0 for never (default: only if the file system sends no events)',
  ).argParser((text: string) => {
    const seconds = Number(text);
    if (!(seconds >= 0) || text.trim() === '') throw new InvalidArgumentError(`"${text}" is not a number of seconds.`);
    return seconds;
  });

/** `--notify EXPR`, repeatable. */
export const notifyOption = (): Option =>
  new Option(
    '--notify <expr>',
    "ring the bell when a complete step matches, as in 'score<0.1'; about score, tool_error_rate or truncation_rate; repeatable",
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);

/** `--format NAME`: overrides detection from the record. */
const formatOption = (): Option =>
  new Option('--format <name>', 'read records as this format, without detection').argParser((text: string) => text);

/** `--map turns=tot.steps,score=final`. */
const mapOption = (): Option =>
  new Option(
    '--map <places>',
    `read the fields of a rollout from these keys: turns=tot.steps,score=final (${MAP_WORDS.join(', ')})`,
  );

/** For texts whose template cannot be detected, or is detected wrongly. */
const templateOption = (): Option =>
  new Option(
    '--chat-template <name>',
    `the chat template of the texts (${TEMPLATE_NAMES.join(', ')}), or ${PLAIN} if a response is entirely the model's; with a Jinja file or tokenizer_config.json, prompts are rendered again and compared`,
  );

const quietOption = (): Option => new Option('-q, --quiet', 'print results and errors only');

/** `--group-by task_id`. */
const groupOption = (): Option =>
  new Option('--group-by <key>', 'group rollouts by this key, such as task_id or extra_info.index');

/** The options for reading records, shared by every command that reads them; its help lists them below its own. */
export const withReading = (command: Command): Command =>
  [
    validationOption(),
    formatOption(),
    mapOption(),
    templateOption(),
    groupOption(),
    cacheSizeOption(),
    threadsOption(),
    memoryOption(),
    niceOption(),
    new Option('--no-cache', 'read every record again, and cache nothing'),
  ].reduce((all, option) => all.addOption(option.helpGroup('How the dump is read:')), command.addOption(quietOption()));

export interface ReadingFlags {
  groupBy?: string;
  chatTemplate?: string;
  validation?: string[];
  format?: string;
  map?: string;
  /** false: facts are neither cached nor taken from the cache. */
  cache?: boolean;
  /** bytes */
  memory?: number;
}

/** The flags as words, for another command that reads the same records. */
export const readingWords = ({
  validation,
  format,
  map,
  chatTemplate,
  groupBy,
  cache,
  memory,
}: ReadingFlags): string[] => [
  ...Object.entries({ format, map, 'chat-template': chatTemplate, 'group-by': groupBy }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  ),
  ...(validation ?? []).map((glob) => `--validation=${glob}`),
  ...(cache === false ? ['--no-cache'] : []),
  ...(memory === undefined ? [] : [`--memory=${memory}`]),
];

/**
 * How records are read, from the flags and the formats in the settings. @throws UsageError that points at the mistake
 * @param tokenizer that recorded ids are compared with, if the command takes one
 */
export async function dumpOptions(
  { validation, format, map, chatTemplate, groupBy, cache, memory }: ReadingFlags,
  tokenizer?: string,
): Promise<DumpOptions> {
  const patterns = (validation ?? []).map(patternOf);
  const own = await ownReading();
  const maps = [...(map === undefined ? [] : [mapOf(map)]), ...own.maps];
  const known = [...maps.map(({ name }) => name), ...FORMAT_NAMES];
  if (format !== undefined && !known.includes(format))
    throw new UsageError(`--format ${format}: unknown format; known: ${known.join(', ')}`);
  const templates = [...own.templates.map(({ name }) => name), ...TEMPLATE_NAMES, PLAIN];
  const isFile = chatTemplate !== undefined && !templates.includes(chatTemplate) && existsSync(chatTemplate);
  // An existing file takes precedence, even if it is named like a model.
  const model = chatTemplate === undefined || isFile ? null : templateNamed(chatTemplate);
  const named = chatTemplate !== undefined && templates.includes(chatTemplate) ? chatTemplate : model;
  const isName = named !== null;
  if (chatTemplate !== undefined && !isName && !existsSync(chatTemplate))
    throw new UsageError(
      `--chat-template ${chatTemplate}: neither a file nor a known template; known: ${templates.join(', ')}, and names of models such as Qwen2.5`,
    );
  const encoding = await userEncoding(isName ? undefined : chatTemplate, tokenizer);
  const group = groupBy === undefined ? undefined : parsePlace(groupBy);
  if (group !== undefined && !Array.isArray(group))
    throw new UsageError('--group-by: a key is written task_id, or extra_info.index', [
      groupBy!,
      `${' '.repeat(group.at)}^`,
    ]);
  return {
    ...(cache === false ? {} : { facts: factsFolder() }),
    reads: new ReadMarks(readMarksFile()),
    onWork: showWork,
    reading: {
      ...(isName ? { chatTemplate: named } : {}),
      ...(encoding === undefined ? {} : { encoding }),
      ...(format === undefined ? {} : { format }),
      ...(maps.length === 0 ? {} : { maps }),
      ...(own.templates.length === 0 ? {} : { templates: own.templates }),
      ...(own.errors.length === 0 ? {} : { errors: own.errors }),
      ...(group === undefined ? {} : { groupBy: group }),
      ...(memory === undefined ? {} : { memory: recordWithin(memory) }),
    },
    isValidation: (stream) =>
      isValidationStream(stream) || patterns.some((pattern) => pattern.matcher(stream).matches()),
  };
}

/** The user's own template and tokenizer, to compare with the record. @throws UsageError for an invalid file */
async function userEncoding(
  template: string | undefined,
  tokenizer: string | undefined,
): Promise<UserEncoding | undefined> {
  if (template === undefined && tokenizer === undefined) return undefined;
  const { loadEncoding, readTemplateFile } = await import('../../core/chat/rendered.ts');
  const encoding: UserEncoding = {};
  try {
    if (template !== undefined) encoding.template = await readTemplateFile(template);
    await loadEncoding(encoding);
  } catch (error) {
    throw new UsageError(`--chat-template ${template}: ${errorMessage(error)}`);
  }
  if (tokenizer === undefined) return encoding;
  encoding.tokenizer = tokenizer;
  try {
    await loadEncoding(encoding);
  } catch (error) {
    throw noTokenizer(tokenizer, error);
  }
  return encoding;
}

/** Parses the map of a flag: `WORD=PLACE`, separated by commas. @throws UsageError with a mark under the wrong character */
function mapOf(text: string): KeyMap {
  const places: Record<string, (string | number)[]> = {};
  let at = 0;
  const wrong = (why: string, where: number) => new UsageError(`--map: ${why}`, [text, `${' '.repeat(where)}^`]);
  for (const piece of text.split(',')) {
    const sign = piece.indexOf('=');
    const word = piece.slice(0, Math.max(0, sign)).trim();
    if (sign === -1) throw wrong('write WORD=PLACE', at);
    if (!isMapWord(word)) throw wrong(`unknown part of a rollout; known: ${MAP_WORDS.join(', ')}`, at);
    const way = parsePlace(piece.slice(sign + 1).trim());
    if (!Array.isArray(way))
      throw wrong('a place is written tot.steps[0], each step a key or a number', at + sign + 1 + way.at);
    places[word] = way;
    at += piece.length + 1;
  }
  return { name: 'map', places };
}

/** `*` and `?` match within a stream's name; everything else is literal. */
function patternOf(glob: string): RE2JS {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return RE2JS.compile(source);
}
