import type { JsonObject } from '../json/value.ts';
import type { Rollout, RolloutFields } from '../rollout/rollout.ts';

export interface ReadContext {
  /** The record lies in a validation stream: it was not trained on. */
  validation: boolean;
}

/** What a format declares of itself. Shared code asks these members and never a format's name. */
export interface Format {
  name: string;
  /** Top-level keys whose scalar values the index may lift from a line without a parse. */
  quickKeys: { score: string; step: string };
  /** Is this record written in the format? */
  detects(record: JsonObject): boolean;
  /** What `read` would give of these, without laying out the turns; a format that cannot know them before has none. */
  fields?(record: JsonObject): RolloutFields;
  /** Reads a record that `detects` accepted; it accepts whatever the other keys hold. */
  read(record: JsonObject, context: ReadContext): Rollout;
}
