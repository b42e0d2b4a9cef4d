import type { Terminal } from '@xterm/headless';
export function screenSvg(terminal: Terminal, title?: string): string;
