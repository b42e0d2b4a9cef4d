import type { JsonValue } from '../../json/value.ts';
import {
  type BranchView,
  type CallReplay,
  NOTHING_RUN,
  type RescoreView,
  type RolloutReplay,
} from '../../present/replay/view.ts';
import type { CallState, PlannedCall } from '../../replay/index.ts';

const UNTOUCHED: CallReplay = { underway: null, standing: null, edits: [], reported: [] };

/** What is known of the rollouts that were looked at; every change goes to the screen as a new value. */
export class Shelf {
  readonly #tell: (locator: string, replay: RolloutReplay) => void;
  readonly #rollouts = new Map<string, RolloutReplay>();
  readonly #drafts = new Map<string, JsonValue>();

  constructor(tell: (locator: string, replay: RolloutReplay) => void) {
    this.#tell = tell;
  }

  #get(locator: string): RolloutReplay {
    return this.#rollouts.get(locator) ?? NOTHING_RUN;
  }

  #set(locator: string, change: Partial<RolloutReplay>): void {
    const replay = { ...this.#get(locator), ...change, now: Date.now() };
    this.#rollouts.set(locator, replay);
    this.#tell(locator, replay);
  }

  has(locator: string): boolean {
    return this.#rollouts.has(locator);
  }

  /** What the journal knows. What was seen in this session stays: it is whole, the journal's texts may be cut. */
  fill(locator: string, calls: ReadonlyMap<number, CallReplay>, branches: readonly BranchView[]): void {
    const known = this.#get(locator);
    const own = new Set(known.branches.map(({ branch }) => branch));
    this.#set(locator, {
      calls: new Map([...calls, ...known.calls]),
      branches: [...branches.filter(({ branch }) => !own.has(branch)), ...known.branches].sort(
        (a, b) => a.branch - b.branch,
      ),
    });
  }

  state({ locator, call, edited }: PlannedCall, state: CallState): void {
    const { calls } = this.#get(locator);
    const before = calls.get(call) ?? UNTOUCHED;
    let after: CallReplay;
    if (state.kind === 'queued') after = { ...before, underway: state };
    else if (state.kind === 'cancelled') after = { ...before, underway: null };
    else if (state.kind === 'running') after = { ...before, underway: { ...state, edited } };
    else if (edited) after = { ...before, underway: null, edits: [...before.edits, state.outcome] };
    else after = { ...before, underway: null, standing: state.outcome };
    this.#set(locator, { calls: new Map(calls).set(call, after) });
  }

  /** Calls that run first in the session of another. */
  before({ locator, turn, predecessors }: PlannedCall): void {
    const calls = new Map(this.#get(locator).calls);
    for (const { call } of predecessors ?? [])
      calls.set(call, { ...(calls.get(call) ?? UNTOUCHED), underway: { kind: 'before', turn } });
    if ((predecessors?.length ?? 0) > 0) this.#set(locator, { calls });
  }

  /** They have run. */
  after({ locator, predecessors }: PlannedCall): void {
    const calls = new Map(this.#get(locator).calls);
    for (const { call } of predecessors ?? []) {
      const one = calls.get(call);
      if (one?.underway?.kind === 'before') calls.set(call, { ...one, underway: null });
    }
    if ((predecessors?.length ?? 0) > 0) this.#set(locator, { calls });
  }

  /** Nothing is under way any more. */
  clear(): void {
    for (const [locator, { calls }] of this.#rollouts) {
      if (![...calls.values()].some(({ underway }) => underway !== null)) continue;
      this.#set(locator, { calls: new Map([...calls].map(([call, one]) => [call, { ...one, underway: null }])) });
    }
  }

  branch(locator: string, branch: BranchView): void {
    const { branches } = this.#get(locator);
    const others = branches.filter((one) => one.branch !== branch.branch);
    this.#set(locator, { branches: [...others, branch].sort((a, b) => a.branch - b.branch) });
  }

  rescored(locator: string, rescored: RescoreView): void {
    this.#set(locator, { rescored });
  }

  draft(locator: string, call: number): JsonValue | undefined {
    return this.#drafts.get(`${locator} ${call}`);
  }

  keepDraft(locator: string, call: number, args: JsonValue): void {
    this.#drafts.set(`${locator} ${call}`, args);
  }
}
