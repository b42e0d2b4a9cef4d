import { MAX_COPY } from '../screen/osc52.ts';
import { exported, type TakeAction, taken } from './copied.ts';
import { type Handlers, key, say } from './result.ts';

export const takeHandlers: Handlers<TakeAction> = {
  yank: (state, { what }, world) => {
    const result = taken(state, world, what);
    if (typeof result === 'string') return say(state, result);
    const { text, words } = result;
    if (Buffer.byteLength(text) > MAX_COPY) {
      const others = `${key(state, 'edit')} opens it, ${key(state, 'pipe')} gives it to a command`;
      return say(state, `${words}: too long for a terminal's clipboard; ${others}`, 'error');
    }
    return { state: say(state, `copied ${words}`), effects: [{ type: 'copy', text }] };
  },
  edit: (state, _action, world) => {
    const given = exported(state, world);
    return given === null ? say(state, 'no rollout is open') : { state, effects: [{ type: 'edit', ...given }] };
  },
};
