import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { lostLine } from '../../formats/lost-line.ts';
import { sessionOf } from '../../formats/registry.ts';
import { conversationsIn } from '../../formats/tinker.ts';
import { JsonError, parseJson } from '../../json/parse.ts';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import { eventOf } from '../containers/sessions.ts';
import { linesIn, numberedLines } from '../containers/text-lines.ts';
import { isFileInside, isInside } from '../stranger-file.ts';
import { conversationEvents, conversationFile } from './openhands-folder.ts';
import { annotations, foldOnto } from './prime-rl.ts';

/** Adds related data from other files of the run to a record's text. */
type Adder = (text: string | Uint8Array) => string | Uint8Array;
/** Reads the other files; done once, when the first record is needed. */
export type Join = () => Promise<Adder>;

/** The other files related to this one's records, or null. */
export function joinOf(path: string): Join | null {
  const folder = path.slice(0, path.length - basename(path).length);
  const name = basename(path);
  const stream = /^(?:stream\/\d+\.jsonl(?:\.zst)?|stream\.jsonl(?:\.zst)?)$/.test(name)
    ? folder
    : /^\d+\.jsonl(?:\.zst)?$/.test(name) && /(?:^|\/)stream\/$/.test(folder)
      ? `${folder}../`
      : null;
  if (stream !== null && isInside(stream, `${stream}annotations`)) return () => primeJoin(`${stream}annotations`);
  const step = /^(\d+)\.pt$/.exec(name)?.[1];
  if (step !== undefined && /(?:^|\/)rollout_data\/$/.test(folder)) return () => trainJoin(`${folder}../`, step);
  if (name === 'result.json' && isInside(folder, `${folder}agent`)) return () => trialJoin(`${folder}agent/`);
  if (/^trajectory(?:\..+)?\.json$/.test(name) || /\.trajectory(?:\..+)?\.json$/.test(name))
    return () => linkedJoin(folder);
  if (name === 'base_state.json' && isInside(folder, `${folder}events`)) return () => eventsJoin(`${folder}events/`);
  if (/(?:^|\/)(?:events|event_cache)\/$/.test(folder) && conversationFile(folder, readdirSync(folder)) === name)
    return async () => edit((record) => ({ ...record, session_of: 'openhands', events: conversationEvents(folder) }));
  if (name === 'session.json' && isInside(folder, `${folder}agents`)) return () => agentsJoin(`${folder}agents/`);
  const session = /^(.+)\.jsonl$/.exec(name)?.[1];
  if (session !== undefined && isInside(folder, `${folder}${session}/subagents`))
    return () => subagentJoin(`${folder}${session}/subagents/`);
  const summaries = /^(.*_)rollout_summaries\.jsonl$/.exec(name)?.[1];
  if (summaries !== undefined && isInside(folder, `${folder}${summaries}logtree.json`))
    return () => treeJoin(`${folder}${summaries}logtree.json`);
  return null;
}

const edit =
  (change: (record: JsonObject) => JsonObject): Adder =>
  (text) => {
    const record = parsedObject(text);
    return record === null ? text : printJson(change(record));
  };

function parsedObject(text: string | Uint8Array): JsonObject | null {
  try {
    const value = parseJson(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'));
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** A file's single value; null if the file cannot be read, or is a link out of its folder: then it adds nothing. */
function fileValue(path: string): JsonValue | null {
  try {
    if (!isFileInside(dirname(path), path)) return null;
    return parseJson(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

async function primeJoin(folder: string): Promise<Adder> {
  const updates = await annotations(folder);
  return edit((record) => {
    if (!Array.isArray(record.traces)) return record;
    const traces = record.traces.map((one) => {
      if (!isJsonObject(one) || typeof one.id !== 'string') return one;
      const own = updates.get(one.id);
      return own === undefined ? one : foldOnto(one, own);
    });
    return { ...record, traces };
  });
}

async function trainJoin(run: string, step: string): Promise<Adder> {
  const { trainedRows, valuesFor } = await import('./train-data.ts');
  const rows = await trainedRows(`${run}train_data`, step);
  const said = `${run}trajectory/${step}.jsonl`;
  const messages = isInside(run, said) ? await joinedMessages(said) : new Map<number, JsonValue>();
  let position = 0;
  return edit((record) => {
    const { sample } = record;
    if (!isJsonObject(sample)) return record;
    const at = position++;
    const index = typeof sample.index === 'number' ? sample.index : null;
    const train = (index === null ? undefined : rows.bySample.get(index)) ?? rows.byPosition.get(at);
    const said = index === null ? undefined : messages.get(index);
    return {
      ...record,
      ...(train === undefined ? {} : { train: valuesFor(train, sample) }),
      ...(said === undefined ? {} : { messages: said }),
    };
  });
}

async function joinedMessages(path: string): Promise<Map<number, JsonValue>> {
  const found = new Map<number, JsonValue>();
  if (!isFileInside(dirname(path), path)) return found;
  for await (const line of linesIn(path)) {
    const record = parsedObject(line);
    if (record !== null && typeof record.sample_index === 'number' && Array.isArray(record.messages))
      found.set(record.sample_index, record.messages);
  }
  return found;
}

/** The trajectories of a folder by name, except one. */
function trajectoriesIn(folder: string, but: string): JsonObject {
  const linked: JsonObject = {};
  for (const name of readdirSync(folder)) {
    if (name === but || !name.endsWith('.json') || !name.includes('trajectory')) continue;
    const value = fileValue(folder + name);
    if (isJsonObject(value)) linked[name] = value;
  }
  return linked;
}

async function trialJoin(agent: string): Promise<Adder> {
  if (!isInside(agent, `${agent}trajectory.json`)) return sessionJoin(agent);
  const trajectory = fileValue(`${agent}trajectory.json`);
  const linked = trajectoriesIn(agent, 'trajectory.json');
  return edit((record) =>
    record.trial_name === undefined ? record : { ...record, trajectory: trajectory ?? null, linked },
  );
}

/** A trial whose agent left its own session in place of a trajectory. Of several the longest is the trial's; the others are named. */
async function sessionJoin(agent: string): Promise<Adder> {
  const home = `${agent}sessions/`;
  const names = isInside(agent, home) && statSync(home).isDirectory() ? agentFiles(home) : [];
  const sessions: { name: string; session: string; events: JsonObject[] }[] = [];
  for (const name of names.filter((one) => !/(?:^|\/)subagents\//.test(one))) {
    const events = await eventsIn(home + name);
    const session = events.map(sessionOf).find((one) => one !== undefined);
    if (session !== undefined) sessions.push({ name, session: session.name, events });
  }
  const [main] = [...sessions].sort((a, b) => b.events.length - a.events.length);
  const others = sessions.filter((one) => one !== main).map(({ name }) => `agent/sessions/${name}`);
  const unread_files =
    main === undefined && statSync(agent).isDirectory()
      ? readdirSync(agent)
          .sort()
          .map((name) => `agent/${name}`)
      : others;
  if (main === undefined)
    return edit((record) => (record.trial_name === undefined ? record : { ...record, unread_files }));
  const beside = `${home}${main.name.replace(/\.jsonl$/, '')}/subagents`;
  const subagents = isInside(home, beside) ? await subagentsIn(`${beside}/`) : [];
  const own = {
    session_of: main.session,
    events: main.events,
    unread_files,
    ...(subagents.length > 0 ? { subagents } : {}),
  };
  return edit((record) => (record.trial_name === undefined ? record : { ...record, ...own }));
}

async function eventsIn(path: string): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  for await (const { text, line } of numberedLines(path)) events.push(eventOf(text, line));
  return events;
}

/** Only the files that a trajectory refers to are attached. */
async function linkedJoin(folder: string): Promise<Adder> {
  return edit((record) => {
    const names = typeof record.schema_version === 'string' ? referredTo(record) : [];
    const linked: JsonObject = {};
    for (const name of names) {
      // A name that leads out of the folder is not followed.
      if (name.includes('..') || name.startsWith('/') || linked[name] !== undefined) continue;
      const value = isInside(folder, folder + name) ? fileValue(folder + name) : null;
      if (isJsonObject(value)) linked[name] = value;
    }
    return Object.keys(linked).length === 0 ? record : { ...record, linked };
  });
}

function referredTo(record: JsonObject): string[] {
  const names: string[] = typeof record.continued_trajectory_ref === 'string' ? [record.continued_trajectory_ref] : [];
  const open: JsonValue[] = [record.steps ?? null];
  while (open.length > 0) {
    const value = open.pop();
    if (isJsonObject(value) && typeof value.trajectory_path === 'string') names.push(value.trajectory_path);
    const inner = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    for (const one of inner) if (typeof one === 'object' && one !== null) open.push(one);
  }
  return names;
}

/** Agents that a workflow of Claude Code started are in separate folders; its journal holds no messages. */
const MAX_NESTED = 3;
function agentFiles(folder: string, below = '', depth = 0): string[] {
  return readdirSync(folder + below)
    .sort()
    .flatMap((entry) => {
      const name = below + entry;
      if (entry.endsWith('.jsonl') && isFileInside(folder, folder + name))
        return entry === 'journal.jsonl' ? [] : [name];
      const isFolder = depth < MAX_NESTED && isInside(folder, folder + name) && statSync(folder + name).isDirectory();
      return isFolder ? agentFiles(folder, `${name}/`, depth + 1) : [];
    });
}

async function subagentJoin(folder: string): Promise<Adder> {
  const subagents = await subagentsIn(folder);
  return edit((record) => (record.session_of === undefined ? record : { ...record, subagents }));
}

async function subagentsIn(folder: string): Promise<JsonObject[]> {
  const subagents: JsonObject[] = [];
  for (const name of agentFiles(folder)) {
    const events = await eventsIn(folder + name);
    const meta = fileValue(`${folder}${name.replace(/\.jsonl$/, '.meta.json')}`);
    subagents.push({
      ...(isJsonObject(meta) ? meta : {}),
      name: name.replace(/\.jsonl$/, '').replace(/^.*\//, ''),
      events,
    });
  }
  return subagents;
}

/** A conversation of OpenHands' SDK: its state, and one file per event. */
async function eventsJoin(folder: string): Promise<Adder> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const events = names.sort().flatMap((name) => {
    const event = fileValue(folder + name);
    if (event === null) return [lostLine(Number(/\d+/.exec(name)?.[0] ?? 0), 'its file is not JSON', 'event')];
    return isJsonObject(event) && typeof event.kind === 'string' ? [event] : [];
  });
  return edit((record) => (events.length === 0 ? record : { ...record, session_of: 'openhands-sdk', events }));
}

/** A session of Strands: a folder for each agent, and in it a file for each message. */
async function agentsJoin(folder: string): Promise<Adder> {
  const agents: JsonObject[] = [];
  for (const name of readdirSync(folder).sort()) {
    const home = `${folder}${name}/`;
    if (!isInside(folder, `${home}messages`)) continue;
    const numbered = readdirSync(`${home}messages`).flatMap((file) => {
      const number = /^message_(\d{1,9})\.json$/.exec(file)?.[1];
      return number === undefined ? [] : [{ number: Number(number), value: fileValue(`${home}messages/${file}`) }];
    });
    const messages = numbered
      .sort((a, b) => a.number - b.number)
      .map(({ number, value }) => (isJsonObject(value) ? value : lostLine(number, 'its file is not JSON', 'message')));
    const agent = fileValue(`${home}agent.json`);
    agents.push({ name: name.replace(/^agent_/, ''), ...(isJsonObject(agent) ? { agent } : {}), messages });
  }
  return edit((record) => (record.session_type === undefined ? record : { ...record, agents }));
}

/** Conversations and summaries are written in the same order; if their counts differ, they cannot be matched. */
async function treeJoin(path: string): Promise<Adder> {
  const conversations = conversationsIn(fileValue(path));
  const summaries: string[] = [];
  for await (const line of linesIn(path.replace(/logtree\.json$/, 'rollout_summaries.jsonl'))) summaries.push(line);
  if (summaries.length !== conversations.length) return (text) => text;
  let at = 0;
  return edit((record) => ({ ...record, messages: conversations[at++] ?? [] }));
}
