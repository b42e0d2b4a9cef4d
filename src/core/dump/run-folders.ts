import { existsSync } from 'node:fs';
import { conversationFile } from './joins/openhands-folder.ts';

/** Files of lines with one or several rollouts each. */
const LINES = /\.(jsonl|ndjson|jl)(\.gz|\.zst|\.zip)?$/i;
/** Other files that hold rollouts, judging by the name alone. */
const OTHERS = /\.(eval|parquet|traj|db|sqlite3?)$/i;
/**
 * Beside files of lines these are metadata: settings, summaries, metrics. A file named by a number is a step, like
 * ART's older files.
 */
const BESIDE = /\.(json|ya?ml|csv)(\.gz|\.zst)?$/i;
/** A step of slime or miles; any other `.pt` may be gigabytes of weights. */
const STEP = /^(?:eval_)?\d+(?:_\d+)?\.pt$/;

/** Packings of data that a walk does not open. */
const UNOPENED =
  /(?:\.(?:jsonl|ndjson|jl|json|csv|parquet|traj|eval|pkl|pickle|npy|tar))?\.(?:bz2|xz|lz4|lzma|7z|rar|zip|tar|tgz|pkl|pickle|joblib|pt|npz|npy|h5|hdf5|arrow|feather|orc|avro|msgpack|tfrecord|duckdb)$|\.(?:parquet|traj|eval|pkl|pickle|npy|tar)\.(?:gz|zst)$/i;
/** WebArena draws each trajectory as a page. */
const PAGE = /^render_.+\.html$/i;
/** Weights, and the states of a trainer. */
const STATE =
  /(?:^|[._-])(?:model|optim\w*|sched\w*|rng|extra_state|rank|ckpt|checkpoint|weights|training_args|state|adapter|lora)(?:[._-].*)?\.pt$|^data\.pt$/i;

export interface Entry {
  name: string;
  isDirectory: boolean;
}

/**
 * The entries of a directory that a walk visits: files that may hold rollouts, and directories. Other views of the same
 * rollouts, and files that belong to them, are skipped, so that a run's folder shows each rollout once.
 */
export function rolloutEntries(directory: string, entries: readonly Entry[]): Entry[] {
  const names = new Set(entries.map(({ name }) => name));
  const hidden = hiddenIn(directory, names);
  const hasLines = entries.some(({ name, isDirectory }) => !isDirectory && LINES.test(name) && !hidden(name));
  return entries.filter(({ name, isDirectory }) => {
    if (name.startsWith('.') || hidden(name)) return false;
    if (isDirectory) return true;
    if (LINES.test(name) || STEP.test(name)) return true;
    if (OTHERS.test(name)) return !isMirror(name, names);
    return BESIDE.test(name) && (!hasLines || /^\d+\./.test(name));
  });
}

/** The kind of a file that no walk opens, by its name, such as `.pkl.gz`; null for any other. */
export function unopenedKind(name: string): string | null {
  if (PAGE.test(name)) return '.html';
  return name.startsWith('.') || STATE.test(name) ? null : (UNOPENED.exec(name)?.[0].toLowerCase() ?? null);
}

/** Trackio writes a parquet file for each table of its database. */
const isMirror = (name: string, names: ReadonlySet<string>): boolean =>
  /\.parquet$/i.test(name) && names.has(`${name.replace(/(?:_\w+)?\.parquet$/i, '')}.db`);

function hiddenIn(directory: string, names: ReadonlySet<string>): (name: string) => boolean {
  const hidden = new Set<string>();
  const hide = (...list: string[]) => {
    for (const name of list) hidden.add(name);
  };
  // prime-rl: annotations are merged into the stream, and rollouts in flight will be appended to it.
  const isStream =
    names.has('stream.jsonl') || (names.has('stream') && (names.has('annotations') || names.has('stream.index.jsonl')));
  if (isStream) hide('annotations', 'live');
  // prime-rl with step folders: the trainer's view of the same rollouts, and the subset that was trained on.
  if (names.has('rollouts')) hide('token_exports');
  if (names.has('all')) hide('effective');
  // A conversation of OpenHands' SDK is represented by its state; its events belong to it.
  if (names.has('base_state.json')) hide('events');
  // A session of Strands is represented by its head; messages lie one a file below it.
  if (names.has('session.json') && (names.has('agents') || names.has('multi_agents'))) hide('agents', 'multi_agents');
  // Weights & Biases links the newest run under a name that the next one takes over.
  if ([...names].some((name) => /^(?:offline-)?run-\d{8}_/.test(name))) hide('latest-run');
  // slime and miles.
  if (names.has('rollout_data')) hide('train_data', 'trajectory', 'dashboard_columns');
  // A trial of Harbor is represented by its result; the rest of the folder belongs to it.
  const isTrial =
    names.has('result.json') && ['agent', 'verifier', 'exception.txt', 'trial.log'].some((name) => names.has(name));
  if (names.has('subagents') && existsSync(`${directory.replace(/\/+$/, '')}.jsonl`)) hide('subagents');
  // OpenHands before its SDK: one file per event, and pages that repeat them.
  if (names.has('events') && names.has('event_cache')) hide('event_cache');
  const conversation = conversationFile(directory, names);
  if (conversation !== null) hide(...[...names].filter((name) => name !== conversation));
  return (name) =>
    hidden.has(name) ||
    (isStream && /\.index\.jsonl$/.test(name)) ||
    (isTrial && name !== 'result.json') ||
    name === 'aggregated_results.jsonl';
}
