// Which path answers which method, and how. Handlers get a checked request and throw a RequestError for another
// status; they are independent of HTTP.
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
import type { PydanticModel } from '../pydantic.ts';
import { Sessions } from '../sessions/sessions.ts';
import type { RunJupyter } from './jupyter.ts';
import { DATASETS_PAGE } from './pages/datasets-page.ts';
import { DOCS_PAGE } from './pages/docs-page.ts';
import { HOME_PAGE } from './pages/home-page.ts';
import { SANDBOX_PAGE } from './pages/sandbox-page.ts';
import type { Answer, Route } from './route.ts';

export interface Services {
  run: RunCode;
  runJupyter: RunJupyter;
  tables: ReadonlyMap<string, Table>;
  /** Programs see a private file system. */
  privateRoot?: boolean;
  casesAtOnce?: number | undefined;
}

const get = (summary: string, answer: () => Answer): Route => ({
  method: 'GET',
  summary,
  handle: async () => answer(),
});
const pageRoute = (html: string): Route => ({ method: 'GET', handle: async () => ({ html }) });

function post<T>(
  summary: string,
  model: PydanticModel<T>,
  handle: (request: T, signal: AbortSignal) => Promise<unknown>,
): Route {
  return {
    method: 'POST',
    summary,
    schema: model.schema,
    async handle(body, signal) {
      const checked = model.check(body);
      return checked.ok ? { json: await handle(checked.value, signal) } : { invalid: checked.detail };
    },
  };
}

export const runCodeRoute = (run: RunCode): Route => post('Compiles and runs one program.', runCodeRequest, run);

export function routesOf({
  run,
  runJupyter,
  tables,
  privateRoot = false,
  casesAtOnce,
}: Services): ReadonlyMap<string, Route> {
  const datasets = new Datasets(run, tables, casesAtOnce);
  const sessions = new Sessions({ run, datasets, privateRoot });
  const api = new Map([
    ['/v1/ping', get('Says pong.', () => ({ json: 'pong' }))],
    ['/run_code', runCodeRoute(run)],
    ['/run_jupyter', post('Runs cells that share their state.', runJupyterRequest, runJupyter)],
    ['/list_datasets', get('The datasets with problems on this server.', () => ({ json: datasets.listDatasets() }))],
    ['/list_ids', post('The ids of a dataset.', getPromptsRequest, (request) => datasets.listIds(request))],
    ['/get_prompts', post('Every prompt of a dataset.', getPromptsRequest, (request) => datasets.getPrompts(request))],
    [
      '/get_prompt_by_id',
      post('The prompt of one problem.', getPromptByIdRequest, (request) => datasets.getPromptById(request)),
    ],
    [
      '/submit',
      post("Judges a completion by its problem's tests.", submitRequest, (request, signal) =>
        datasets.submit(request, signal),
      ),
    ],
    ['/get_metrics', post('Metrics of results: none.', getMetricsRequest, (request) => datasets.getMetrics(request))],
    [
      '/get_metrics_function',
      post('Python that computes metrics of results, if a class has it.', getMetricsFunctionRequest, (request) =>
        datasets.getMetricsFunction(request),
      ),
    ],
    ['/start_instance', post('Begins a session.', startInstanceRequest, (request) => sessions.start(request))],
    [
      '/process_action',
      post('Carries out what a model wrote.', processActionRequest, (request, signal) => sessions.act(request, signal)),
    ],
    ['/postprocess', post('Ends a session.', sessionRequest, (request) => sessions.postprocess(request))],
    [
      '/compute_reward',
      post('What a session earned.', sessionRequest, (request, signal) => sessions.computeReward(request, signal)),
    ],
  ]);
  const pages: [string, string][] = [
    ['/', HOME_PAGE],
    ['/SandboxFusion', HOME_PAGE],
    ['/docs', DOCS_PAGE],
    ['/redoc', DOCS_PAGE],
    ...['', '/SandboxFusion'].flatMap((below): [string, string][] => [
      [`${below}/playground/sandbox`, SANDBOX_PAGE],
      [`${below}/playground/datasets`, DATASETS_PAGE],
    ]),
  ];
  return new Map([
    ...api,
    ...pages.map(([path, html]): [string, Route] => [path, pageRoute(html)]),
    ['/openapi.json', { method: 'GET', handle: async () => ({ json: openApi(api) }) }],
  ]);
}

/** /openapi.json, generated from the routes themselves, so that it matches what they read. */
const openApi = (routes: ReadonlyMap<string, Route>): object => ({
  openapi: '3.1.0',
  info: {
    title: 'rollout-viewer sandbox',
    version: '1',
    description: "SandboxFusion's API, and verl's external environment sessions.",
  },
  paths: Object.fromEntries(
    [...routes]
      .filter(([, route]) => route.summary !== undefined)
      .map(([path, route]) => [path, { [route.method.toLowerCase()]: operation(path, route) }]),
  ),
});

function operation(path: string, { summary, schema }: Route): object {
  return {
    operationId: path.slice(1).replaceAll('/', '_'),
    summary,
    ...(schema && { requestBody: { required: true, content: { 'application/json': { schema } } } }),
    responses: {
      200: { description: 'the answer', content: { 'application/json': { schema: {} } } },
      ...(schema && {
        422: { description: "the body is not valid; `detail` lists what is wrong, in pydantic's words" },
      }),
    },
  };
}
