import { styled } from '../../present/theme.ts';
import { fitLeft, truncate } from '../../text/fit.ts';
import { CATEGORIES } from '../keymap/command.ts';
import { COMMANDS } from '../keymap/commands.ts';
import { type Keymap, keyLabel } from '../keymap/keymap.ts';
import type { View } from './view.ts';

const KEYS_WIDTH = 18;

/** What can be done, by kind. */
export const helpView =
  (keymap: Keymap): View =>
  ({ state, theme }, width, height) => {
    const lines: string[] = [];
    for (const category of CATEGORIES) {
      if (lines.length > 0) lines.push('');
      lines.push(`  ${styled(theme, 'heading', category)}`);
      for (const command of COMMANDS) {
        if (command.category !== category) continue;
        const keys = keymap.keysOf(command.id).map(keyLabel).join('  ');
        lines.push(
          `  ${styled(theme, 'accent', fitLeft(keys, KEYS_WIDTH))} ${truncate(command.title, width - KEYS_WIDTH - 4)}`,
        );
      }
    }
    const top = Math.max(0, Math.min(state.help?.cursor ?? 0, lines.length - height));
    return lines.slice(top, top + height);
  };
