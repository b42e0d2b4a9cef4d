import { IN_RECORD } from '../../core/dump/cell-column.ts';
import type { Place } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import type { ParsedLine } from '../../core/dump/parse-line.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import type { Check } from '../../core/rollout/checks.ts';
import { Facts, factRow } from '../../core/rollout/fact-row.ts';
import { type RolloutFields, toolCallsOf } from '../../core/rollout/rollout.ts';
import type { SignalCheck } from '../signal/signal-audit.ts';
import type { RunAgain } from './again.ts';
import { textOf } from './evaluator.ts';
import type { Field, TextField } from './fields.ts';
import { type KeptLookup, type KeptSubject, NOTHING_KEPT } from './kept.ts';
import type { LabelWord } from './label.ts';
import { type IndexedFile, knownValue } from './on-columns.ts';

export interface SubjectPlace {
  file: IndexedFile;
  record: number;
}

export type AskedRecord = Pick<ParsedLine, 'rollout' | 'findings'>;

/** How to get the record itself. */
export interface RecordSource<Read extends AskedRecord> {
  read(): Read;
  /**
   * The fields of the whole record, if they cost less than a parse: null for a bad record, undefined if a parse is
   * needed.
   */
  fields?(): RolloutFields | null | undefined;
  /** Whether the line as it is in its file has these characters; also true if it cannot be read. */
  hasRaw(characters: string): boolean;
}

/** A record as an expression sees it: values in the index are free, the rest costs one parse. */
export class Subject<Read extends AskedRecord = AskedRecord> {
  readonly #place: SubjectPlace;
  readonly #source: RecordSource<Read>;
  readonly #kept: () => KeptSubject;
  #record: Read | null = null;
  #fields: RolloutFields | null | undefined;
  /** Its facts, if no column has them. */
  #row: Float64Array | null = null;

  /** @param kept data kept about the record beside the dump */
  constructor(place: SubjectPlace, source: RecordSource<Read>, kept: () => KeptSubject = () => NOTHING_KEPT) {
    this.#place = place;
    this.#source = source;
    this.#kept = kept;
  }

  /** A record of an open file. */
  static of(place: Place, kept?: KeptLookup): Subject<DumpRecord> {
    const { file, record } = place;
    const source = {
      read: () => file.read(record),
      hasRaw: (characters: string) => file.raw(record)?.includes(characters) ?? true,
    };
    return new Subject(place, source, () => kept?.(file.raw(record) ?? '') ?? NOTHING_KEPT);
  }

  /** A record that was already read. */
  static read(row: DumpRecord, kept?: KeptLookup): Subject<DumpRecord> {
    return new Subject(row, { read: () => row, hasRaw: () => true }, () => kept?.(row.raw) ?? NOTHING_KEPT);
  }

  /** The record's rerun calls. */
  get again(): readonly RunAgain[] {
    return this.#kept().again;
  }

  /** Labels by rater. */
  get labels(): readonly LabelWord[] {
    return this.#kept().labels;
  }

  /** The record's number in its file, from 0. */
  get number(): number {
    return this.#place.record;
  }

  get record(): Read {
    this.#record ??= this.#source.read();
    return this.#record;
  }

  /**
   * false: no text of the record holds these characters, so it need not be parsed. They must be characters that JSON
   * writes unescaped, unless it writes them as \u00….
   */
  mayHold(characters: string): boolean {
    return this.#record !== null || this.#source.hasRaw(characters) || this.#source.hasRaw('\\u00');
  }

  /** null for a bad record. */
  get fields(): RolloutFields | null {
    if (this.#record === null && this.#fields === undefined) this.#fields = this.#source.fields?.();
    return this.#fields === undefined ? this.record.rollout : this.#fields;
  }

  has(check: Check): boolean {
    const { file, record } = this.#place;
    const { columns } = file.index;
    return columns.isLooked(record) ? Facts.finder(check)(columns.rows, record) : this.#facts.has(check);
  }

  /** Whether a finding of its whole step concerns it. */
  hasSignal(check: SignalCheck): boolean {
    const { file, record } = this.#place;
    return file.signals?.get(record)?.includes(check) === true;
  }

  /** undefined if the record has no such value. */
  value(field: Field): JsonValue | undefined {
    const value = knownValue(this.#place.file, field)(this.#place.record);
    return value === IN_RECORD ? this.#recordValue(field) : value;
  }

  get #facts(): Facts {
    this.#row ??= factRow(this.record.rollout, this.record.findings);
    return new Facts(this.#row);
  }

  #recordValue(field: Field): JsonValue | undefined {
    switch (field.type) {
      case 'number':
        return field.name === 'score' ? (this.record.rollout?.score ?? undefined) : this.#facts.findings.length;
      case 'fact':
        return this.#facts.value(field.name) ?? undefined;
      case 'text':
        return this.#text(field.name) ?? undefined;
      case 'extra': {
        const { fields } = this;
        return fields === null ? undefined : (fields.texts[field.path] ?? valueInside(fields.extras, field.path));
      }
      case 'tool':
        return this.#calls(field.name, field.part);
      default:
        return undefined;
    }
  }

  #calls(tool: string, part: 'args' | null): JsonValue | undefined {
    const { rollout } = this.record;
    if (rollout === null) return undefined;
    const calls = toolCallsOf(rollout).filter(({ name }) => name === tool);
    if (part === null) return calls.length;
    // A line a call.
    const lines = calls.map(({ arguments: args, raw }) => (args === null ? raw : printJson(args)));
    return lines.length === 0 ? undefined : lines.join('\n');
  }

  #text(name: TextField): string | null {
    const { fields } = this;
    if (fields === null) return null;
    if (name === 'status') return fields.status;
    if (name === 'uid') return fields.uid;
    if (name === 'request_id') return fields.requestId;
    if (name !== 'gts') return fields.texts[name] ?? null;
    const truth = fields.groundTruth;
    return truth === undefined || truth === null ? null : textOf(truth);
  }
}

/** A key with that whole name, else a path: `reward.extra`, `scores.0`. */
function valueInside(root: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  if (isJsonObject(root) && Object.hasOwn(root, path)) return root[path];
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = /^\d+$/.test(key) ? value[Number(key)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
