import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { threadFile } from '../async/thread-client.ts';
import { Folder, isOwnFile } from '../files/folder.ts';
import { itemAt } from '../lists/at.ts';
import { CHECKS } from '../rollout/checks.ts';
import { FACTS } from '../rollout/facts.ts';
import { CELL_KINDS, CellColumn } from './cell-column.ts';
import { FileFacts } from './file-facts.ts';
import type { StoredIndex } from './line-index.ts';
import { COLUMN_FORMS, NumberColumn, type StoredNumbers, valuesOver } from './number-column.ts';
import { PackedDetails, type StoredDetails } from './packed-details.ts';

/** The kept state of one file: its identity, the places of its records, and their facts. */
export interface KeptFile {
  /** The examined content: its cheap identity, and samples of its bytes. */
  path: string;
  device: number;
  inode: number;
  size: number;
  modified: number;
  changed: number;
  samples: string;
  /** Bytes read so far, and the start of the line that had no end then. */
  position: number;
  lineStart: number;
  hasUnendedLine: boolean;
  /** How lines map to records; null if the index must be rebuilt, and only the facts are kept. */
  shape: unknown;
  /** The number of records and their total bytes, which a rebuilt index must match. */
  count: number;
  recordBytes: number;
  index: StoredIndex | null;
  facts: FileFacts;
}

const MAGIC = Buffer.from('RVFACTS\x01');
const DIGEST = 32;
const HEAD = MAGIC.length + DIGEST + 4;
/** Larger than any header of names needs to be. */
const MOST_HEADER = 64 << 20;
const CHUNK = 4 << 20;
/** A longer answer is no summary. */
const MOST_ANSWER = 64 << 20;
/** The limit on all kept facts; the oldest are removed first. */
const MOST_BYTES = 4e9;

interface StoredColumn {
  name: string;
  form: StoredNumbers['form'];
  length: number;
  value: string;
}

interface Header {
  version: string;
  file: Omit<KeptFile, 'index' | 'facts'>;
  columns: StoredColumn[];
  texts: { name: string; texts: string[] }[];
  extras: string[];
  hasMoreCells: boolean;
}

/** PackedDetails are in a separate file beside the facts: most questions do not need them. */
interface DetailsHeader {
  version: string;
  /** Names the content of the file that they are of. */
  content: string;
  columns: StoredColumn[];
  chunks: number[];
}

/** An answer to a question to all rollouts. */
interface AnswerHeader {
  version: string;
  /** Names the question and the content of the files that it was put to. */
  content: string;
}

/**
 * Facts of files, kept between sessions in a folder of the user. If anything about an entry is wrong (truncated, from
 * another version or user, not what it claims to be), it is ignored and the file is read again.
 */
export class FactsCache {
  readonly #path: string;
  readonly #version: string;
  #writing: Promise<void> = Promise.resolve();
  #hasTidied = false;

  private constructor(path: string, version: string) {
    this.#path = path;
    this.#version = version;
  }

  /** @param path of the folder; null if nothing can be kept */
  static at(path: string): FactsCache | null {
    const version = versionOfFacts();
    return version === null ? null : new FactsCache(path, version);
  }

  /** @param name of the file and how it is read, from `nameOf` */
  read(name: string): KeptFile | null {
    const kept = this.#opened(name, (bytes) => this.#decoded(bytes));
    if (kept !== null)
      kept.facts.details = PackedDetails.later(
        () => this.#opened(detailsName(name), (bytes) => this.#decodedDetails(bytes, kept)),
        kept.count,
      );
    return kept;
  }

  /** null if there is no such file of this user alone, or its bytes are not what they claim to be. */
  #opened<Kept>(name: string, decode: (bytes: Buffer) => Kept | null): Kept | null {
    try {
      const folder = openFolder(this.#path, false);
      try {
        const fd = folder.openFile(name, 'read');
        try {
          if (!folder.isOwn || !isOwnFile(fd) || (fstatSync(fd).mode & 0o077) !== 0) return null;
          return decode(readFileSync(fd));
        } finally {
          closeSync(fd);
        }
      } finally {
        folder.close();
      }
    } catch {
      return null;
    }
  }

  /** The header of a kept file, and its body; null if it is damaged or of another version. */
  #unpacked<Known extends { version: string }>(bytes: Buffer): { header: Known; body: Uint8Array } | null {
    if (bytes.length < HEAD || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
    const digest = bytes.subarray(MAGIC.length, MAGIC.length + DIGEST);
    const length = bytes.readUInt32LE(HEAD - 4);
    if (length > MOST_HEADER || HEAD + length > bytes.length) return null;
    const header = JSON.parse(bytes.toString('utf8', HEAD, HEAD + length)) as Known;
    if (header.version !== this.#version) return null;
    if (
      !createHash('sha256')
        .update(bytes.subarray(HEAD - 4))
        .digest()
        .equals(digest)
    )
      return null;
    // Typed arrays need separate memory aligned to 8 bytes.
    const start = padded(HEAD + length);
    const body = new Uint8Array(bytes.length - start);
    body.set(bytes.subarray(start));
    return { header, body };
  }

  #decodedDetails(bytes: Buffer, file: KeptFile): StoredDetails | null {
    const kept = this.#unpacked<DetailsHeader>(bytes);
    if (kept === null || kept.header.content !== contentOf(file)) return null;
    const { columns, chunks } = kept.header;
    const read = columnsIn(columns, kept.body);
    const [chunkOf, lineOf] = [read?.known.get('chunk'), read?.known.get('line')];
    if (!read || !chunkOf || !lineOf || chunkOf.length > file.count || !chunks.every(isCount)) return null;
    const packed: Uint8Array[] = [];
    let at = read.end;
    for (const size of chunks) {
      packed.push(kept.body.subarray(at, at + size));
      at += size;
    }
    return { chunkOf, lineOf, chunks: packed };
  }

  #decoded(bytes: Buffer): KeptFile | null {
    const kept = this.#unpacked<Header>(bytes);
    if (kept === null) return null;
    const { file, columns, texts, extras, hasMoreCells } = kept.header;
    if (![file.count, file.position, file.lineStart, file.size].every(isCount)) return null;
    if (file.lineStart > file.position || file.position > file.size) return null;
    const known = columnsIn(columns, kept.body)?.known;
    if (known === undefined) return null;
    const facts = factsOf(known, texts, extras, file.count);
    if (facts === null) return null;
    facts.hasMoreCells = hasMoreCells;
    const [gaps, lengths, states, scores, steps, blanks] = INDEX.map((name) => known.get(`index.${name}`));
    const hasIndex = gaps && lengths && states && scores && steps && blanks && lengths.length === file.count;
    return { ...file, index: hasIndex ? { gaps, lengths, states, scores, steps, blanks } : null, facts };
  }

  /** Writes in the background, one file after another. Write failures are ignored. */
  write(name: string, file: KeptFile): void {
    // The columns may change during the write, so they are copied now.
    const details = encodedDetails(this.#version, file);
    this.#replace(name, encodedFile(this.#version, file));
    if (details !== null) this.#replace(detailsName(name), details);
  }

  /** The stored answer for this content, if any. */
  readAnswer(name: string, content: string): unknown {
    return (
      this.#opened(answerName(name), (bytes) => {
        const kept = this.#unpacked<AnswerHeader>(bytes);
        return kept?.header.content === content ? { answer: deserialize(kept.body) as unknown } : null;
      })?.answer ?? undefined
    );
  }

  /** Keeps an answer in place of the one to the same question for an earlier content. */
  writeAnswer(name: string, content: string, answer: unknown): void {
    const body = serialize(answer);
    if (body.length <= MOST_ANSWER)
      this.#replace(answerName(name), [headBytes({ version: this.#version, content }), body]);
  }

  #replace(name: string, bytes: readonly Buffer[]): void {
    this.#writing = this.#writing.then(async () => {
      try {
        const hash = createHash('sha256');
        for (const part of bytes)
          for (let from = 0; from < part.length; from += CHUNK) {
            hash.update(part.subarray(from, from + CHUNK));
            if (part.length > CHUNK) await setImmediate();
          }
        const folder = openFolder(this.#path, true);
        try {
          if (!folder.isOwn) return;
          await folder.replaceFile(name, [MAGIC, hash.digest(), ...bytes]);
          if (!this.#hasTidied) tidy(folder);
          this.#hasTidied = true;
        } finally {
          folder.close();
        }
      } catch {
        // The disk is full or the folder not writable: the next session reads the file again.
      }
    });
  }

  /** Resolves once everything is written. */
  whenWritten(): Promise<void> {
    return this.#writing;
  }
}

const answerName = (name: string): string => `${name}-answer`;
const detailsName = (name: string): string => `${name}-details`;

/** Equal as long as a file's bytes and entry are. */
export const contentOf = ({
  device,
  inode,
  size,
  modified,
  changed,
  samples,
  count,
}: Pick<KeptFile, 'device' | 'inode' | 'size' | 'modified' | 'changed' | 'samples' | 'count'>): string =>
  [device, inode, size, modified, changed, samples, count].join(' ');

const BYTES = { u8: 1, u16: 2, f32: 4, f64: 8 } as const;
const INDEX = ['gaps', 'lengths', 'states', 'scores', 'steps', 'blanks'] as const;
const padded = (length: number): number => (length + 7) & ~7;
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string');
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function encodedFile(version: string, { index, facts, ...file }: KeptFile): Buffer[] {
  const columns: [string, NumberColumn][] = [
    ...facts.columns,
    ...[...facts.cells].flatMap(([name, { kinds, values }]): [string, NumberColumn][] => [
      [`kinds.${name}`, kinds],
      [`values.${name}`, values],
    ]),
    ...(index === null ? [] : INDEX.map((name): [string, NumberColumn] => [`index.${name}`, index[name]])),
  ];
  const stored = columns.map(([name, column]) => ({ name, ...column.store() }));
  const header: Header = {
    version,
    file,
    columns: stored.map(columnHead),
    texts: [...facts.cells].map(([name, { texts }]) => ({ name, texts: [...texts] })),
    extras: [...facts.extras],
    hasMoreCells: facts.hasMoreCells,
  };
  return [headBytes(header), ...columnBytes(stored)];
}

/** null without details, or if the file already holds these. */
function encodedDetails(version: string, file: KeptFile): Buffer[] | null {
  const { details } = file.facts;
  const known = details.store();
  if (known === null) return null;
  const stored = [
    { name: 'chunk', ...known.chunkOf.store() },
    { name: 'line', ...known.lineOf.store() },
  ];
  const header: DetailsHeader = {
    version,
    content: contentOf(file),
    columns: stored.map(columnHead),
    chunks: known.chunks.map(({ length }) => length),
  };
  return [headBytes(header), ...columnBytes(stored), ...known.chunks.map((chunk) => Buffer.from(chunk))];
}

type NamedNumbers = StoredNumbers & { name: string };

const columnHead = ({ name, form, length, value }: NamedNumbers): StoredColumn => ({
  name,
  form,
  length,
  value: String(value),
});

function headBytes(header: Header | DetailsHeader | AnswerHeader): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(padded(HEAD + text.length) - HEAD + 4);
  head.writeUInt32LE(text.length, 0);
  text.copy(head, 4);
  return head;
}

const columnBytes = (stored: readonly NamedNumbers[]): Buffer[] =>
  stored.flatMap(({ values }) => {
    if (values === null) return [];
    const bytes = Buffer.alloc(padded(values.byteLength));
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return [bytes];
  });

/** Columns over the body of a kept file, and where they end; null if they do not fit. */
function columnsIn(
  columns: readonly StoredColumn[],
  body: Uint8Array,
): { known: Map<string, NumberColumn>; end: number } | null {
  const known = new Map<string, NumberColumn>();
  let at = 0;
  for (const { name, form, length: rows, value } of columns) {
    if (!isCount(rows)) return null;
    if (form === 'same') {
      known.set(name, NumberColumn.of({ form, length: rows, value: Number(value), values: null }));
      continue;
    }
    if (!COLUMN_FORMS.includes(form)) return null;
    const size = rows * BYTES[form];
    if (at + size > body.length) return null;
    const values = valuesOver(form, body.subarray(at, at + size), rows);
    known.set(name, NumberColumn.of({ form, length: rows, value: 0, values }));
    at = padded(at + size);
  }
  return { known, end: at };
}

/** The columns of a file's facts; null if they do not match this many records. */
function factsOf(
  known: ReadonlyMap<string, NumberColumn>,
  texts: Header['texts'],
  extras: Header['extras'],
  count: number,
): FileFacts | null {
  const columns = (name: string): NumberColumn => {
    const column = known.get(name);
    if (column === undefined || column.length > count) throw new Error(`no column ${name}`);
    return column;
  };
  const cells = new Map<string, CellColumn>();
  for (const { name, texts: own } of texts) {
    if (typeof name !== 'string' || !areTexts(own)) return null;
    const [kinds, values] = [columns(`kinds.${name}`), columns(`values.${name}`)];
    if (!kinds.every((kind) => kind < CELL_KINDS)) return null;
    cells.set(name, new CellColumn(kinds, values, own));
  }
  if (!areTexts(extras)) return null;
  const facts = new FileFacts(columns, cells, extras);
  for (const [at, { words }] of FACTS.entries()) {
    if (words === undefined) continue;
    if (!itemAt(facts.rows, at).every((word) => !(word >= words.length))) return null;
  }
  return facts;
}

/** The name under which a file's facts are kept: depends on the file itself, not its path, and on how it is read. */
export const nameOf = (device: number, inode: number, reading: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([device, inode, reading]))
    .digest('hex')
    .slice(0, 40);

let version: string | null | undefined;

/**
 * Facts of another version are ignored. The version is derived from the program: the names of facts, checks and
 * columns, the thread that reads records, and the program's parts, whose names are content hashes.
 */
function versionOfFacts(): string | null {
  if (version !== undefined) return version;
  try {
    const facts = new FileFacts();
    const declared = [
      FACTS.map(({ name, words, ofBad }) => [name, words, ofBad]),
      CHECKS,
      facts.columns.map(([name]) => name),
      INDEX,
      // A home may be shared by machines that order bytes, or know letters, in another way.
      endianness(),
      process.versions.unicode,
    ];
    const reader = threadFile('record-worker');
    const parts = [dirname(reader), dirname(dirname(reader))].map((folder) => readdirSync(folder).sort());
    version = createHash('sha256')
      .update(JSON.stringify([declared, parts]))
      .update(readFileSync(reader))
      .digest('hex');
  } catch {
    version = null;
  }
  return version;
}

const openFolder = (path: string, make: boolean): Folder => Folder.open(dirname(path), [basename(path)], make);

/** Removes the oldest entries if the total is too large. */
function tidy(folder: Folder): void {
  const kept = folder.list().sort((a, b) => b.modified - a.modified);
  let bytes = 0;
  for (const { name, size } of kept) {
    bytes += size;
    if (bytes > MOST_BYTES) folder.remove(name);
  }
}
