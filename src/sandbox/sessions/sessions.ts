// Serves verl's external environment protocol: start → action* → postprocess → reward. The protocol does not define
// out-of-order calls; here an unknown sid is 404, a finished one 409, one that was idle for too long 410.
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Datasets } from '../datasets/datasets.ts';
import type {
  EvalTestCase,
  ProcessActionRequest,
  ProcessActionResponse,
  RunCode,
  RunCodeResponse,
  SessionRequest,
  StartInstanceRequest,
  StartInstanceResponse,
  SubmitRequest,
} from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { readAction, type SessionProgram } from './action.ts';
import { solutionOf } from './history.ts';
import { judgedBySubmit, observationOf, verdictOf } from './observation.ts';
import { Workspace } from './workspace.ts';

const IDLE_SECONDS = 3600;
const MAX_SESSIONS = 50_000;
/** The total size of all problems, and of the code, files and variables that sessions remember. */
const MAX_CHARACTERS = 512 * 1024 * 1024;
/** The most earlier code that a submission can build on. */
const LONGEST_HISTORY = 256 * 1024;

export interface SessionOptions {
  run: RunCode;
  datasets: Datasets;
  /** A session is forgotten after this long without a request. */
  idleSeconds?: number;
  /** The least recently used one makes room for another. */
  maxSessions?: number;
  maxCharacters?: number;
  /** Programs see a private file system, kept whole between actions; otherwise only their folder is kept. */
  privateRoot?: boolean;
}

export interface Reward {
  reward: number;
  f2p_count: number;
  f2p_total: number;
  /** Why no tests can be counted. */
  message?: string;
}

interface Session {
  instance: string;
  /** The problem that the last code is submitted to. */
  problem: Omit<SubmitRequest, 'completion'> | null;
  stated: number | null;
  workspace: Workspace;
  /** Python that ran to its end: a submitted function may build on it. */
  earlier: readonly string[];
  /** With the code that ran before it. */
  last: (SessionProgram & { before: readonly string[] }) | null;
  /** The score of the last judged solution. */
  judged: { passed: number; total: number } | null;
  actions: number;
  finished: boolean;
  reward: Reward | null;
  /** Its approximate size. */
  characters: number;
  /** Forgotten, though one of its actions may still run. */
  isGone: boolean;
  /** One action at a time: the next one builds on the state this one leaves. */
  turn: Promise<unknown>;
}

/** Every method rejects with a RequestError that holds the HTTP answer. */
export class Sessions {
  readonly #run: RunCode;
  readonly #datasets: Datasets;
  readonly #idleSeconds: number;
  readonly #maxCharacters: number;
  readonly #privateRoot: boolean;
  readonly #open: LRUCache<string, Session>;
  /** A client that returns too late gets "expired" rather than "unknown". */
  readonly #expired = new LRUCache<string, true>({ max: MAX_SESSIONS });
  readonly #since = new Date();
  /** The total size of the open sessions. */
  #held = 0;

  constructor({
    run,
    datasets,
    idleSeconds = IDLE_SECONDS,
    maxSessions = MAX_SESSIONS,
    maxCharacters = MAX_CHARACTERS,
    privateRoot = false,
  }: SessionOptions) {
    this.#run = run;
    this.#datasets = datasets;
    this.#idleSeconds = idleSeconds;
    this.#maxCharacters = maxCharacters;
    this.#privateRoot = privateRoot;
    this.#open = new LRUCache({
      max: maxSessions,
      ttl: idleSeconds * 1000,
      updateAgeOnGet: true,
      dispose: (session, sid) => {
        this.#held -= session.characters;
        session.isGone = true;
        this.#expired.set(sid, true);
      },
    });
  }

  get size(): number {
    return this.#open.size;
  }

  async start(request: StartInstanceRequest): Promise<StartInstanceResponse> {
    const problem = await this.#problemOf(request);
    const characters = jsonLength(request);
    this.#makeRoom(characters);
    const sid = newSid();
    this.#held += characters;
    this.#open.set(sid, {
      instance: request.instance_hash,
      problem,
      stated: request.reward,
      workspace: new Workspace(this.#run, this.#privateRoot),
      earlier: [],
      last: null,
      judged: null,
      actions: 0,
      characters,
      isGone: false,
      finished: false,
      reward: null,
      turn: Promise.resolve(),
    });
    return { sid };
  }

  /** Runs the code in the action; the observation is its output, or the failure. */
  async act({ sid, content }: ProcessActionRequest, signal?: AbortSignal): Promise<ProcessActionResponse> {
    const session = this.#find(sid);
    return this.#inTurn(sid, session, async () => {
      if (session.finished) throw new RequestError(409, `session ${sid} is finished: no action after /postprocess`);
      this.#makeRoom(content.length, sid);
      this.#grow(session, content.length);
      session.actions++;
      const action = readAction(content, session.problem?.config.language ?? 'python');
      if ('fault' in action) return { content: `Error: ${action.fault}` };
      const observations: string[] = [];
      for (const program of action.programs) observations.push(await this.#runProgram(session, program, signal));
      return {
        content: observations.join('\n') || (action.programs.length > 0 ? '' : 'Error: the action holds no code'),
      };
    });
  }

  /** Frees the session's state; its score stays until requested. A second call changes nothing. */
  async postprocess({ sid }: SessionRequest): Promise<{ sid: string; actions: number }> {
    const session = this.#find(sid);
    return this.#inTurn(sid, session, async () => {
      session.finished = true;
      this.#grow(session, -session.workspace.size);
      session.workspace.clear();
      return { sid, actions: session.actions };
    });
  }

  /** The share of the problem's tests that the session's last code passes, or the reward given at its start. */
  async computeReward({ sid }: SessionRequest, signal?: AbortSignal): Promise<Reward> {
    const session = this.#find(sid);
    return this.#inTurn(sid, session, async () => {
      session.finished = true;
      session.reward ??= await this.#grade(session, signal);
      return session.reward;
    });
  }

  #find(sid: string): Session {
    const session = this.#open.get(sid);
    if (session) return session;
    if (this.#expired.has(sid)) {
      throw new RequestError(
        410,
        `session ${sid} is over: it was idle for ${this.#idleSeconds} s, or had to make room`,
      );
    }
    throw new RequestError(
      404,
      `no session ${sid}: this server began at ${this.#since.toISOString()}, and sessions end with the server that held them; /start_instance opens another`,
    );
  }

  /** The largest go first: a few that hold a hundred MB each must not push out many small ones. */
  #makeRoom(wanted: number, own: string | null = null): void {
    if (this.#held + wanted <= this.#maxCharacters) return;
    this.#open.purgeStale();
    const bySize = [...this.#open.entries()].sort(([, a], [, b]) => b.characters - a.characters);
    for (const [sid, { characters }] of bySize) {
      if (this.#held + wanted <= this.#maxCharacters || characters < wanted) break;
      if (sid !== own) this.#open.delete(sid);
    }
    if (this.#held + wanted > this.#maxCharacters)
      throw new RequestError(504, 'the sessions of this server hold all they may; ask again later');
  }

  #grow(session: Session, characters: number): void {
    session.characters += characters;
    if (!session.isGone) this.#held += characters;
  }

  async #inTurn<T>(sid: string, session: Session, work: () => Promise<T>): Promise<T> {
    const mine = session.turn.then(work);
    session.turn = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      // A long run is not idleness.
      if (session.isGone) {
        session.isGone = false;
        this.#held += session.characters;
        this.#expired.delete(sid);
      }
      this.#open.set(sid, session);
    }
  }

  async #problemOf(request: StartInstanceRequest): Promise<Session['problem']> {
    const { instance_hash, dataset, id, config } = request;
    const named =
      dataset === null && config === null
        ? await this.#datasets.find(instance_hash)
        : { dataset: dataset ?? instance_hash, id: id ?? instance_hash };
    if (named === undefined) return null;
    const settings = config ?? NO_CONFIG;
    const extra = { is_freeform: true, ...settings.extra, run_all_cases: true };
    const problem = { ...named, config: { ...settings, language: settings.language ?? 'python', extra } };
    // Reports a missing problem now, not after the whole dialogue.
    await this.#datasets.getPromptById(problem);
    return problem;
  }

  /** Judges a solution of the session's problem, as /submit would; runs other code. */
  async #runProgram(session: Session, program: SessionProgram, signal: AbortSignal | undefined): Promise<string> {
    const { problem } = session;
    session.last = { ...program, before: session.earlier };
    if (problem === null) return this.#try(session, program, signal);
    const wantsProgram = this.#datasets.wantsProgram(problem);
    if (!judgedBySubmit(program, wantsProgram)) {
      // A trial may change what a function does; the verdict on a program that reads stdin stays valid.
      if (!wantsProgram) session.judged = null;
      return this.#try(session, program, signal);
    }
    const tests = await this.#submit(problem, session.last, signal);
    session.judged = { passed: tests.filter((test) => test.passed).length, total: tests.length };
    const verdict = verdictOf(tests, program.code);
    if (wantsProgram) return verdict;
    // Runs it too: the function becomes available to later actions, and the file's output is shown.
    const said = await this.#try(session, program, signal);
    return said === '' ? verdict : `${said.trimEnd()}\n${verdict}`;
  }

  async #try(session: Session, { code, language }: SessionProgram, signal: AbortSignal | undefined): Promise<string> {
    const { workspace, earlier } = session;
    const before = workspace.size;
    const answer = await workspace.execute(code, language, signal);
    this.#grow(session, workspace.size - before);
    const length = earlier.reduce((sum, text) => sum + text.length, code.length);
    if (language === 'python' && endedByItself(answer) && length <= LONGEST_HISTORY) {
      session.earlier = [...earlier, code];
    }
    return observationOf(answer);
  }

  async #grade(session: Session, signal: AbortSignal | undefined): Promise<Reward> {
    const { problem, stated, last, instance } = session;
    const none = { f2p_count: 0, f2p_total: 0 };
    if (stated !== null) return { reward: stated, ...none };
    if (problem === null) return { reward: 0, ...none, message: `no tests are known for instance ${instance}` };
    if (last === null) return { reward: 0, ...none, message: 'no action held code' };
    if (session.judged === null) {
      const tests = await this.#submit(problem, last, signal);
      session.judged = { passed: tests.filter((test) => test.passed).length, total: tests.length };
    }
    const { passed, total } = session.judged;
    return { reward: total === 0 ? 0 : passed / total, f2p_count: passed, f2p_total: total };
  }

  /** A program that reads stdin is self-contained; a function may need definitions from earlier actions. */
  async #submit(
    problem: NonNullable<Session['problem']>,
    { code, language, before }: NonNullable<Session['last']>,
    signal: AbortSignal | undefined,
  ): Promise<EvalTestCase[]> {
    const alone = language !== 'python' || this.#datasets.wantsProgram(problem);
    const whole = alone ? code : solutionOf(before, code);
    const completion = `\`\`\`${language}\n${whole}\n\`\`\``;
    return (await this.#datasets.submitEach({ ...problem, completion }, signal)).tests;
  }
}

/** The size of every text in a value. Iterative, because nesting may be deep. */
function jsonLength(root: unknown): number {
  let length = 0;
  const open = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        length += key.length + 16;
        open.push(member);
      }
    }
  }
  return length;
}

const NO_CONFIG: SubmitRequest['config'] = {
  dataset_type: null,
  language: null,
  locale: null,
  is_fewshot: null,
  compile_timeout: null,
  run_timeout: null,
  custom_extract_logic: null,
  provided_data: null,
  extra: {},
};

/** Also by an exception: its effects until then stay, as in a notebook. A killed program would be killed again. */
const endedByItself = ({ run_result: run }: RunCodeResponse) =>
  run?.status === 'Finished' && (run.return_code === 0 || run.return_code === 1);

/** verl does int(sid) and puts it into an int64 tensor. */
const newSid = () => ((randomBytes(8).readBigUInt64BE() >> 1n) | (1n << 60n)).toString();
