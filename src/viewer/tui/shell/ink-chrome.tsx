import { PassThrough, Writable } from 'node:stream';
import { render } from 'ink';
import type { Theme } from '../../present/theme.ts';
import { App } from '../views/App.tsx';
import { type Chrome, type ChromeRows, chromeRows } from '../views/chrome.ts';
import { inkKit } from '../views/ink-kit.tsx';
import type { Kit } from '../views/kit.ts';

/** Lays out the chrome with Ink, which draws into memory; only the screen writes to the terminal. */
export class InkChrome {
  readonly #onType: (value: string) => void;
  #kit: Kit;
  readonly #keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {}, ref() {}, unref() {} });
  readonly #output = Object.assign(
    new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        this.#lines = chunk.toString().split('\n');
        done();
      },
    }),
    { columns: 80, rows: 24, isTTY: false },
  );
  #ink: ReturnType<typeof render> | null = null;
  #lines: readonly string[] = [];
  #props = '';

  constructor(theme: Theme, onType: (value: string) => void) {
    this.#onType = onType;
    this.#kit = inkKit(theme, onType);
  }

  setTheme(theme: Theme): void {
    this.#kit = inkKit(theme, this.#onType);
    this.#props = '';
  }

  draw(chrome: Chrome): ChromeRows {
    const props = JSON.stringify(chrome);
    if (props !== this.#props) {
      this.#props = props;
      this.#output.columns = Math.max(1, chrome.columns);
      const app = <App chrome={chrome} kit={this.#kit} />;
      if (this.#ink !== null) this.#ink.rerender(app);
      else
        this.#ink = render(app, {
          stdout: this.#output as unknown as NodeJS.WriteStream,
          stdin: this.#keys as unknown as NodeJS.ReadStream,
          // Emits whole frames immediately.
          debug: true,
          patchConsole: false,
          exitOnCtrlC: false,
        });
    }
    return chromeRows(chrome, this.#lines);
  }

  /** Passes keyboard bytes to the open field. */
  press(bytes: string): void {
    this.#keys.write(bytes);
  }

  close(): void {
    this.#ink?.unmount();
  }
}
