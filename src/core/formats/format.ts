import type { AskedText, Forms } from '../chat/forms.ts';
import type { OwnTemplate } from '../chat/own-template.ts';
import type { UserEncoding } from '../chat/rendered.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import type { OwnError } from '../rollout/own-errors.ts';
import type { Rollout, RolloutFields } from '../rollout/rollout.ts';
import type { Times } from '../rollout/times.ts';
import type { KeyMap } from './key-map.ts';

export interface ReadContext {
  /** The record is in a validation stream: it was not trained on. */
  validation: boolean;
  /** The user's choice of format, whatever the record looks like. */
  format?: string;
  /** The user's choice of chat template (`--chat-template`), or `plain` for none. */
  chatTemplate?: string;
  /** The user's names of the keys (`--map`, `formats:` in the settings). */
  maps?: readonly KeyMap[];
  /**
   * The user's template and tokenizer, to re-render prompts and re-encode texts (`--chat-template FILE`,
   * `--tokenizer`).
   */
  encoding?: UserEncoding;
  /** The user's chat templates (`chat_templates:` in the settings). */
  templates?: readonly OwnTemplate[];
  /** How the user's tools report failure (`errors:` in the settings). */
  errors?: readonly OwnError[];
  /** Bytes that reading a record may take (`--memory`): others are not read. */
  memory?: number;
  /** The path of the key that rollouts of one prompt share (`--group-by`). */
  groupBy?: readonly (string | number)[];
  /** The folder of the dump's file, and the contents of the neighbouring file that the record names (`besides`). */
  directory?: string;
  beside?: JsonValue;
  /** The file whose lines are records, and what they repeat. */
  file?: string;
  forms?: (asked: AskedText) => Forms | null;
}

/** The declaration of a format. Shared code asks these members and never a format's name. */
export interface Format {
  name: string;
  /** Top-level keys whose scalar values the index may read from a line without a parse; absent if only a parse can. */
  quickKeys?: { score: string; step: string };
  /** Its files are not training steps, whatever number their names end in. */
  isStepless?: true;
  /** An evaluation, or an agent's session: not trained on, and without a mask. */
  isUntrained?: true;
  /** The basis of the reader: files made by the writer, or only its documentation. */
  basis?: 'files' | 'documentation';
  /** Which key became what, for people who want to verify it: the rollout's term, then the places in the record. */
  mapping?: Readonly<Record<string, string>>;
  /** Is this record written in the format? */
  detects(record: JsonObject): boolean;
  /**
   * Splits a record that holds several rollouts, or none: the formats read each of the resulting records like any
   * other.
   */
  split?(record: JsonObject): JsonObject[];
  /** A JSON file needed to read the whole record, by its path from the dump's folder; null if none. */
  besides?(record: JsonObject): string | null;
  /**
   * These fields as `read` would give them, without building the turns; absent if a format cannot know them earlier.
   */
  fields?(record: JsonObject): RolloutFields;
  /** Start and duration, if recorded. Stretches without a turn get theirs afterwards, if it can be determined. */
  times?(record: JsonObject): Times | null;
  /** Reads a record accepted by `detects`; must accept anything in the other keys. */
  read(record: JsonObject, context: ReadContext): Rollout;
}

/** An evaluation, or an agent's session, in files that are not of steps. */
export const NO_TRAINING = { isStepless: true, isUntrained: true } as const;

/** Files of events that form one rollout, or one for each session that they name. */
export interface Session {
  name: string;
  /** Only lines are its events: a list of them in a JSON file is a record that formats know. */
  isOfLines?: true;
  /** Is this line an event of the kind? */
  isEvent(record: JsonObject): boolean;
  /** The key that separates the sessions of one file; null if the line has none. */
  keyOf(record: JsonObject): string | null;
  /** The events of a line that may hold several; absent if each line is one. */
  eventsOf?(record: JsonObject): JsonObject[];
  /** The id of an event that a tracer may send again, finished or corrected: the later one adds to the earlier. */
  eventIdOf?(record: JsonObject): string | null;
  /** An id that several keys may share. If it is no certain sign of one session, `continues` decides. */
  sharedIdOf?(record: JsonObject): SharedId | null;
  /** Whether the later events continue a conversation of the earlier ones. */
  continues?(earlier: readonly JsonObject[], later: readonly JsonObject[]): boolean;
  /** Keys by all events of the file, for logs whose lines name none. */
  keysOf?(events: readonly JsonObject[]): string[];
}

export interface SharedId {
  id: string;
  isCertain: boolean;
}
