import type { Terminal } from '@xterm/headless';
export function screenSvg(terminal: Terminal): string;
