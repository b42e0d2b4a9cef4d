import type { CallState } from '../../../replay/index.ts';
import type { CallReplay, RolloutReplay, WorldReplay } from '../../present/replay/view.ts';
import type { RolloutChange, WorldState } from '../state/replay.ts';

const UNTOUCHED: CallReplay = { underway: null, standing: null, edits: [], reported: [] };

/** Applies a change to a rollout's replays. */
export function changedReplay(replay: RolloutReplay, change: RolloutChange, now: number): RolloutReplay {
  const calls = new Map(replay.calls);
  const callOf = (call: number): CallReplay => calls.get(call) ?? UNTOUCHED;
  switch (change.kind) {
    case 'journal': {
      // Results of this session take precedence: they are complete, while the journal's texts may be cut.
      const own = new Set(replay.branches.map(({ uid }) => uid));
      const branches = [...change.branches.filter(({ uid }) => !own.has(uid)), ...replay.branches];
      return { ...replay, calls: new Map([...change.calls, ...calls]), branches: branches.sort(byNumber), now };
    }
    case 'call':
      calls.set(change.call, changedCall(callOf(change.call), change.state, change.edited));
      return { ...replay, calls, now };
    case 'before':
      for (const call of change.calls)
        calls.set(call, { ...callOf(call), underway: { kind: 'before', turn: change.turn } });
      return { ...replay, calls, now };
    case 'after':
      for (const call of change.calls)
        if (callOf(call).underway?.kind === 'before') calls.set(call, { ...callOf(call), underway: null });
      return { ...replay, calls, now };
    case 'branch': {
      const others = replay.branches.filter(({ uid }) => uid !== change.branch.uid);
      return { ...replay, branches: [...others, change.branch].sort(byNumber), now };
    }
    case 'world': {
      const { call, ...at } = change.call;
      const before = replay.world.get(call) ?? { ...at, image: '', underway: null, outcome: null, edits: [] };
      return { ...replay, world: new Map(replay.world).set(call, changedWorld(before, change.state)), now };
    }
    case 'rescored':
      return { ...replay, rescored: change.rescored, now };
  }
}

function changedCall(before: CallReplay, state: CallState, edited: boolean): CallReplay {
  if (state.kind === 'queued') return { ...before, underway: state };
  if (state.kind === 'running') return { ...before, underway: { ...state, edited } };
  if (state.kind === 'cancelled') return { ...before, underway: null };
  if (edited) return { ...before, underway: null, edits: [...before.edits, state.outcome] };
  return { ...before, underway: null, standing: state.outcome };
}

function changedWorld(before: WorldReplay, state: WorldState | null): WorldReplay {
  if (state === null) return { ...before, underway: null };
  if (state.kind === 'running') return { ...before, underway: state };
  const { image, outcome, edited } = state;
  if (edited === null) return { ...before, image, outcome, underway: null };
  return { ...before, image, underway: null, edits: [...before.edits, { text: edited, outcome }] };
}

/** The rollout with nothing in progress. */
export const ended = (replay: RolloutReplay, now: number): RolloutReplay => ({
  ...replay,
  calls: new Map([...replay.calls].map(([call, one]) => [call, { ...one, underway: null }])),
  world: new Map([...replay.world].map(([call, one]) => [call, { ...one, underway: null }])),
  now,
});

const byNumber = (a: { branch: number }, b: { branch: number }): number => a.branch - b.branch;
