import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import MiniSearch from 'minisearch';
import { itemAt } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';

/** A document as returned by retrieval servers; the title is the first line of `contents`. */
export interface CorpusDocument {
  id: string;
  contents: string;
}

export interface RetrievedPassage {
  document: CorpusDocument;
  score: number;
}

/** Documents searched by BM25 (minisearch). */
export class Corpus {
  readonly #index = new MiniSearch<{ key: number; contents: string }>({ idField: 'key', fields: ['contents'] });
  readonly #documents: CorpusDocument[] = [];

  get size(): number {
    return this.#documents.length;
  }

  add(document: CorpusDocument): void {
    this.#index.add({ key: this.#documents.length, contents: document.contents });
    this.#documents.push(document);
  }

  /** The best documents first; fewer if no more share a word with the query. */
  search(query: string, topk: number): RetrievedPassage[] {
    return this.#index
      .search(query, { prefix: false, fuzzy: false })
      .slice(0, topk)
      .map(({ id, score }) => ({ document: itemAt(this.#documents, id as number), score }));
  }
}

/**
 * Reads a corpus, one JSON object per line: `contents` (the title in its first line), or `title` and `text`.
 * @throws Error naming the line
 */
export async function readCorpus(path: string): Promise<Corpus> {
  const corpus = new Corpus();
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line++;
    if (text.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new Error(`${path}:${line}: not JSON: ${errorMessage(error)}`);
    }
    const contents = contentsOf(value);
    if (contents === null) throw new Error(`${path}:${line}: not a document: expected contents, or title and text`);
    const { id } = value as { id?: unknown };
    corpus.add({ id: id === undefined ? String(line - 1) : String(id), contents });
  }
  return corpus;
}

function contentsOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { contents, title, text } = value as Record<string, unknown>;
  if (typeof contents === 'string') return contents;
  return typeof text === 'string' ? `${typeof title === 'string' ? title : ''}\n${text}` : null;
}
