import { Command } from 'commander';
import { UsageError } from '../../core/dump/paths.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { countOf } from './count.ts';
import { DONE, run, say } from './output.ts';

interface RetrieveOptions {
  host: string;
  port: number;
  topk: number;
}

export function retrieveCommand(): Command {
  return new Command('retrieve')
    .description("serve a corpus to verl's search tool: ranks documents by BM25 at POST /retrieve")
    .argument('<corpus>', 'one JSON object per line: contents (its first line is the title), or title and text')
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 for a free one', countOf, 8000)
    .option('--topk <n>', 'documents per query, unless the client says', countOf, 3)
    .action((path: string, options: RetrieveOptions) => run(() => retrieve(path, options)));
}

/** Serves until interrupted. */
async function retrieve(path: string, { host, port, topk }: RetrieveOptions): Promise<number> {
  const { readCorpus } = await import('../../engine/retrieval/corpus.ts');
  const { serveCorpus } = await import('../../engine/retrieval/serve.ts');
  const corpus = await readCorpus(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === undefined ? error.message : `${path}: ${reasonOf(error)}`);
  });
  if (corpus.size === 0) throw new UsageError(`${path}: no document in it`);
  const server = await serveCorpus(corpus, { host, port, topk }).catch((error: Error) => {
    throw new UsageError(`${host}:${port}: ${error.message}`);
  });
  say(`${corpus.size} documents, retrieval_service_url: ${server.url}`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
  await server.close();
  return DONE;
}
