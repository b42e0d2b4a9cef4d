// Which path answers which method, and with what. Handlers get a checked request and throw a RequestError for another
// status; they know nothing of HTTP.
import { Datasets } from '../datasets/datasets.ts';
import type { Table } from '../datasets/table.ts';
import {
  getMetricsFunctionRequest,
  getMetricsRequest,
  getPromptByIdRequest,
  getPromptsRequest,
  processActionRequest,
  type RunCode,
  runCodeRequest,
  runJupyterRequest,
  sessionRequest,
  startInstanceRequest,
  submitRequest,
} from '../protocol.ts';
import type { Issue, Model } from '../pydantic.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { DeskAnswer } from './desk-protocol.ts';
import type { RunJupyter } from './jupyter.ts';
import { PAGE } from './page.ts';

export type Answer = { json: unknown } | { html: string } | { invalid: Issue[] } | { printed: DeskAnswer };

export interface Route {
  method: 'GET' | 'POST';
  handle(body: unknown, signal: AbortSignal): Promise<Answer>;
}

export interface Services {
  run: RunCode;
  runJupyter: RunJupyter;
  tables: ReadonlyMap<string, Table>;
}

const get = (answer: () => Answer): Route => ({ method: 'GET', handle: async () => answer() });

function post<T>(model: Model<T>, handle: (request: T, signal: AbortSignal) => Promise<unknown>): Route {
  return {
    method: 'POST',
    async handle(body, signal) {
      const checked = model.check(body);
      return checked.ok ? { json: await handle(checked.value, signal) } : { invalid: checked.detail };
    },
  };
}

export const runCodeRoute = (run: RunCode): Route => post(runCodeRequest, run);

export function routesOf({ run, runJupyter, tables }: Services): ReadonlyMap<string, Route> {
  const datasets = new Datasets(run, tables);
  const sessions = new Sessions({ run, datasets });
  return new Map([
    ['/', get(() => ({ html: PAGE }))],
    ['/v1/ping', get(() => ({ json: 'pong' }))],
    ['/run_code', runCodeRoute(run)],
    ['/run_jupyter', post(runJupyterRequest, runJupyter)],
    ['/list_datasets', get(() => ({ json: datasets.listDatasets() }))],
    ['/list_ids', post(getPromptsRequest, (request) => datasets.listIds(request))],
    ['/get_prompts', post(getPromptsRequest, (request) => datasets.getPrompts(request))],
    ['/get_prompt_by_id', post(getPromptByIdRequest, (request) => datasets.getPromptById(request))],
    ['/submit', post(submitRequest, (request, signal) => datasets.submit(request, signal))],
    ['/get_metrics', post(getMetricsRequest, (request) => datasets.getMetrics(request))],
    ['/get_metrics_function', post(getMetricsFunctionRequest, (request) => datasets.getMetricsFunction(request))],
    ['/start_instance', post(startInstanceRequest, (request) => sessions.start(request))],
    ['/process_action', post(processActionRequest, (request, signal) => sessions.act(request, signal))],
    ['/postprocess', post(sessionRequest, (request) => sessions.postprocess(request))],
    ['/compute_reward', post(sessionRequest, (request, signal) => sessions.computeReward(request, signal))],
  ]);
}
