import type { LandmarkName } from '../state/find.ts';
import { type Command, times } from './command.ts';
import { firstReason, noRecord, type Reason } from './reasons.ts';

/** There and back between turns of a kind. */
const landmarks = (landmark: LandmarkName, what: string, reason: Reason = noRecord): Command[] =>
  ([1, -1] as const).map((direction) => ({
    id: `${landmark}.${direction > 0 ? 'next' : 'previous'}`,
    category: 'Find',
    title: `${direction > 0 ? 'next' : 'previous'} ${what}`,
    action: (n) => ({ type: 'landmark', landmark, by: direction * times(n) }),
    disabled: reason,
  }));

const nothingRun: Reason = ({ replay }, { keys }) =>
  replay.rollouts.size === 0 && replay.words.size === 0
    ? `nothing was run again yet; ${keys.label('replay')} does`
    : null;

/** To what is worth a look, and back to where one was. */
export const JUMP_COMMANDS: readonly Command[] = [
  ...landmarks('error', 'error, also in another sample'),
  ...landmarks('warning', 'warning, also in another sample'),
  ...landmarks('call', 'tool call, also in another sample'),
  ...landmarks('reward', 'turn with a recorded reward'),
  ...landmarks('drift', 'result that differs when run again', firstReason(noRecord, nothingRun)),
  {
    id: 'jump.back',
    category: 'Find',
    title: 'back to the place before the last jump',
    action: (n) => ({ type: 'jump', by: -times(n) }),
    disabled: ({ jumps }) => (jumps.list.length === 0 || jumps.at === 0 ? 'no older place' : null),
  },
  {
    id: 'jump.forward',
    category: 'Find',
    title: 'forward again',
    action: (n) => ({ type: 'jump', by: times(n) }),
    disabled: ({ jumps }) => (jumps.at >= jumps.list.length - 1 ? 'no newer place' : null),
  },
];
