import { z } from 'zod';
import { DEFAULT_RATE_LIMIT, Limiter, limiterNamed, type RateLimiter } from '../../core/async/limiter.ts';
import { pause } from '../../core/async/timeout.ts';
import { ClientTimeoutError, exchange } from '../../core/http/client.ts';
import { ConnectionError } from '../../core/http/connection-error.ts';
import { refusalText } from '../../core/http/status.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { jsonAnswer } from '../common/json-answer.ts';
import { pythonJson } from '../common/python.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';
import { StatefulTool, type ToolResult, type ToolRun } from './tool.ts';

/** The config of verl's SearchTool (`verl/tools/search_tool.py`); times in seconds. */
export const SearchToolConfig = z.looseObject({
  retrieval_service_url: z.string().min(1, 'retrieval_service_url is not set'),
  num_workers: z.number().int().positive().default(120),
  rate_limit: z.number().int().positive().default(120),
  enable_global_rate_limit: z.boolean().default(true),
  timeout: z.number().positive().default(30),
  topk: z.number().int().positive().default(3),
});

/** `search_r1_like_utils.py`: how often to try a busy or absent server, waiting one second longer each time. */
const ATTEMPTS = 10;
const BUSY = new Set([500, 502, 503, 504]);

interface SearchState {
  results: string[];
}

/** Queries a retrieval server for documents: POST `{queries, topk, return_scores}`, as verl's SearchTool does. */
export class SearchTool extends StatefulTool<SearchState> {
  readonly silence = 'tool_unavailable';
  readonly #config: z.infer<typeof SearchToolConfig>;
  readonly #workers: Limiter;
  readonly #shared: RateLimiter | null;
  /** Milliseconds of the first wait between two attempts. */
  readonly #delayMs: number;

  constructor(config: unknown, schema: OpenAIFunctionToolSchema, { delayMs = 1000 }: { delayMs?: number } = {}) {
    super(schema);
    this.#config = SearchToolConfig.parse(config ?? {});
    this.#workers = new Limiter(this.#config.num_workers);
    this.#shared = this.#config.enable_global_rate_limit
      ? limiterNamed('search', this.#config.rate_limit ?? DEFAULT_RATE_LIMIT)
      : null;
    this.#delayMs = delayMs;
  }

  protected start(): SearchState {
    return { results: [] };
  }

  protected async run(
    state: SearchState,
    parameters: JsonObject,
    _kwargs: JsonObject,
    run: ToolRun,
  ): Promise<ToolResult> {
    const { query_list: queries } = parameters;
    if (!Array.isArray(queries) || queries.length === 0 || queries.some((query) => typeof query !== 'string')) {
      const message = "Error: 'query_list' is missing, empty, or not a list in parameters.";
      const metrics = { query_count: 0, status: 'processing_error', total_results: 0, api_request_error: null };
      return {
        response: { text: pythonJson({ result: message }), error: message, fault: 'model' },
        reward: 0,
        metrics,
      };
    }
    const place = (work: (signal: AbortSignal) => Promise<JsonValue[]>) => {
      const options = run.signal ? { signal: run.signal } : {};
      const shared = this.#shared;
      return this.#workers.run((inner) => (shared ? shared.run(work, { signal: inner }) : work(inner)), options);
    };
    run.clock?.pause();
    const answer = await place((signal) => {
      run.clock?.resume();
      return this.#ask(queries as string[], signal);
    });
    const { text, total } = readResults(answer);
    state.results.push(text);
    const status = total > 0 ? 'success' : 'no_results';
    const metrics = { query_count: queries.length, status, total_results: total, api_request_error: null };
    return { response: { text: pythonJson({ result: text }) }, reward: 0, metrics };
  }

  /** @throws ConnectionError: an unavailable service says nothing about the model */
  async #ask(queries: string[], signal: AbortSignal): Promise<JsonValue[]> {
    const { retrieval_service_url: url, topk, timeout } = this.#config;
    const body = JSON.stringify({ queries, topk, return_scores: true });
    for (let attempt = 1; ; attempt++) {
      let problem: string;
      try {
        const { status, headers, text } = await exchange({
          url,
          method: 'POST',
          body,
          signal,
          timeoutMs: timeout * 1000,
        });
        if (status >= 200 && status < 300) return searchResults(jsonAnswer(status, text), url);
        problem = refusalText(status, headers.location, text, 'retrieval_service_url');
        if (!BUSY.has(status)) throw new ConnectionError(`${url}: ${problem}`);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ConnectionError || error instanceof ClientTimeoutError))
          throw new ConnectionError(`${url}: ${errorMessage(error)}`);
        if (error.message.startsWith(url)) throw error;
        problem = error.message;
        if (error instanceof ConnectionError && error.isFinal) throw new ConnectionError(`${url}: ${problem}`);
      }
      if (attempt >= ATTEMPTS) throw new ConnectionError(`${url}: ${problem} (tried ${attempt} times)`);
      await pause(this.#delayMs * attempt, signal);
    }
  }

  protected override reward(state: SearchState): JsonValue {
    return state.results;
  }
}

/** @throws ConnectionError: an answer without a list of results is not the same as a search without hits */
function searchResults(answer: JsonValue, url: string): JsonValue[] {
  if (isJsonObject(answer) && Array.isArray(answer.result)) return answer.result;
  const shown = printJson(answer).slice(0, 200);
  throw new ConnectionError(`${url}: the answer has no list 'result', as a retrieval server's has: ${shown}`);
}

/** verl's `_passages2string` of each query's documents, joined by `---`. */
function readResults(lists: readonly JsonValue[]): { text: string; total: number } {
  let total = 0;
  const texts = lists.map((documents) => {
    const own = Array.isArray(documents) ? documents : [];
    total += own.length;
    return own.map(documentText).join('').trim();
  });
  if (lists.length === 0) return { text: 'No search results found.', total: 0 };
  return { text: texts.join('\n---\n'), total };
}

function documentText(entry: JsonValue, index: number): string {
  const document = isJsonObject(entry) && isJsonObject(entry.document) ? entry.document : entry;
  const contents = isJsonObject(document) ? String(document.contents ?? document.text ?? '') : String(document);
  const [title, ...rest] = contents.split('\n');
  return `Doc ${index + 1} (Title: ${title})\n${rest.join('\n')}\n\n`;
}

export const SEARCH_SCHEMA: OpenAIFunctionToolSchema = {
  type: 'function',
  function: {
    name: 'search',
    description: 'Searches for relevant information based on the given queries.',
    parameters: {
      type: 'object',
      properties: {
        query_list: {
          type: 'array',
          items: { type: 'string' },
          description: 'Fully-formed semantic queries.',
          enum: null,
        },
      },
      required: ['query_list'],
    },
    strict: false,
  },
};
