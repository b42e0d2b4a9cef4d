import { MAX_COPY } from '../screen/osc52.ts';
import { type CopyAction, copyOf, exported } from './copied.ts';
import { type Handlers, key, say } from './result.ts';

export const copyHandlers: Handlers<CopyAction> = {
  'copy-text': (state, { what }, data) => {
    const result = copyOf(state, data, what);
    if (typeof result === 'string') return say(state, result);
    const { text, words } = result;
    if (Buffer.byteLength(text) > MAX_COPY) {
      const others = `${key(state, 'edit')} opens it, ${key(state, 'pipe')} gives it to a command`;
      return say(state, `${words}: too long for a terminal's clipboard; ${others}`, 'error');
    }
    return { state: say(state, `copied ${words}`), effects: [{ type: 'copy', text }] };
  },
  edit: (state, _action, data) => {
    const given = exported(state, data);
    return given === null ? say(state, 'no rollout is open') : { state, effects: [{ type: 'edit', ...given }] };
  },
};
