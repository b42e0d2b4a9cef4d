import { sanitiseLine } from '../../core/text/sanitise.ts';

/** On a terminal, one line on stderr that is redrawn at most ten times a second; elsewhere nothing. */
export class StatusLine {
  readonly #isOn = process.stderr.isTTY === true;
  #note: string | null = null;
  #text = '';
  #drawnAt = 0;

  show(text: string): void {
    this.#text = text;
    this.#draw(false);
  }

  /** Shown before the text until removed. */
  note(note: string | null): void {
    this.#note = note;
    this.#draw(true);
  }

  clear(): void {
    this.#drawnAt = 0;
    if (this.#isOn) process.stderr.write('\r\x1b[K');
  }

  #draw(now: boolean): void {
    if (!this.#isOn || (!now && performance.now() - this.#drawnAt < 100)) return;
    this.#drawnAt = performance.now();
    const text = [this.#note, this.#text].filter((part) => part !== null && part !== '').join('  ');
    process.stderr.write(`\r${sanitiseLine(text).slice(0, (process.stderr.columns || 80) - 1)}\x1b[K`);
  }
}
