import type { Theme } from '../../present/theme.ts';
import type { Chrome, ChromeRows } from '../views/chrome.ts';
import { drawPlainly } from '../views/draw-plainly.tsx';
import type { InkChrome } from './ink-chrome.tsx';

/** ms without a key before Ink is loaded, which takes longer than everything before the first frame. */
const PAUSE_MS = 100;

/**
 * Draws the chrome: with Ink once it is loaded, as plain lines until then. Ink and React are loaded in the first pause after the first
 * frame, or with the first prompt or help, which need them.
 */
export class LazyInk {
  #theme: Theme;
  readonly #onType: (value: string) => void;
  readonly #loaded: () => void;
  #ink: InkChrome | null = null;
  #loading: Promise<InkChrome> | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** @param onType receives the value of the open prompt's field @param loaded the chrome must be redrawn */
  constructor(theme: Theme, onType: (value: string) => void, loaded: () => void) {
    this.#theme = theme;
    this.#onType = onType;
    this.#loaded = loaded;
  }

  get isLoading(): boolean {
    return this.#timer !== null || (this.#loading !== null && this.#ink === null);
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.#ink?.setTheme(theme);
  }

  /** @param isFilling a count changes with each frame, which Ink would lay out anew for it: both draw the same */
  draw(chrome: Chrome, isFilling: boolean): ChromeRows {
    if (this.#ink !== null && (chrome.prompt !== null || !isFilling)) return this.#ink.draw(chrome);
    if (chrome.prompt !== null) void this.#load();
    return drawPlainly(chrome, this.#theme);
  }

  /** A frame is on screen, or a key was pressed: a pause begins. */
  pause(): void {
    if (this.#loading !== null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#load(), PAUSE_MS).unref();
  }

  /** Passes keyboard bytes to the field of the prompt in `chrome`. React has rendered before and after them. */
  async type(bytes: string, chrome: () => Chrome): Promise<void> {
    const ink = await this.#load();
    ink.draw(chrome());
    await settled();
    ink.press(bytes);
    await settled();
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#ink?.close();
  }

  #load(): Promise<InkChrome> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#loading ??= import('./ink-chrome.tsx').then(({ InkChrome }) => {
      this.#ink = new InkChrome(this.#theme, this.#onType);
      this.#loaded();
      return this.#ink;
    });
    return this.#loading;
  }
}

/** React has rendered and its effects have run; each takes a turn of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
