import { LRUCache } from 'lru-cache';
import type { Block, Range } from './block.ts';
import type { CodeLanguage } from './code-language.ts';

/**
 * Longer code stays plain. The grammars take about 1 ms for 1 kB of Python, and for some texts quadratic time: 1.2 s for 20 kB of the
 * single word "function" as C++, a tenth of that here.
 */
export const MAX_CODE = 6000;
const CACHE_SIZE = 2_000_000;
/** Most waiting blocks; a screen shows fewer. */
const MAX_WAITING = 60;

const NONE: readonly Range[] = [];

/**
 * Syntax colours, computed after the frame that needs them, one block at a time, because keys come first. The grammars are loaded with the
 * first code shown.
 */
export class Syntax {
  readonly #changed: () => void;
  readonly #known = new LRUCache<string, readonly Range[]>({
    maxSize: CACHE_SIZE,
    sizeCalculation: (ranges, key) => key.length + ranges.length * 40 + 1,
  });
  #waiting: Block[] = [];
  #isRunning = false;

  /** @param changed is called when a block has its colours */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** A block's syntax, as far as known; `work` computes the rest. */
  ranges(block: Block): readonly Range[] {
    const { code, text } = block;
    if (code === undefined || text.length > MAX_CODE) return NONE;
    const known = this.#known.get(highlightKey(code, text));
    if (known !== undefined) return known;
    if (!this.#waiting.includes(block)) this.#waiting = [...this.#waiting.slice(1 - MAX_WAITING), block];
    return NONE;
  }

  /** Starts on the requested blocks. */
  work(): void {
    if (!this.#isRunning && this.#waiting.length > 0) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { syntaxRanges } = await import('./grammars.ts');
    // The newest first, because it is visible.
    for (let block = this.#waiting.pop(); block !== undefined; block = this.#waiting.pop()) {
      await new Promise((resolve) => setImmediate(resolve));
      const { text } = block;
      const code = block.code!;
      const key = highlightKey(code, text);
      if (this.#known.has(key)) continue;
      this.#known.set(key, syntaxRanges(code, text));
      this.#changed();
    }
    this.#isRunning = false;
  }
}

const highlightKey = (code: CodeLanguage, text: string): string => `${code}\0${text}`;

const NAMED: readonly [RegExp, CodeLanguage][] = [
  [/^(?:python|py|python3|ipython|jupyter)$/i, 'python'],
  [/^(?:bash|sh|shell|zsh|terminal)$/i, 'bash'],
  [/^(?:javascript|js|node|nodejs|typescript|ts)$/i, 'javascript'],
  [/^(?:cpp|c\+\+|c|cxx)$/i, 'cpp'],
  [/^json$/i, 'json'],
];

/** The language that a name refers to. */
export const codeLanguageNamed = (name: string): CodeLanguage | null =>
  NAMED.find(([pattern]) => pattern.test(name))?.[1] ?? null;

/**
 * The language of a call's text argument: the one that the call names beside it, else what the argument's or the tool's name implies;
 * `code` alone is Python, as in the code tools of all these trainers. null for prose.
 */
export function languageOf(tool: string, key: string, given: Record<string, unknown>): CodeLanguage | null {
  const code = /^(?:code|script|source|program|cmd|command|input)$/i.test(key) || codeLanguageNamed(key) !== null;
  if (!code) return null;
  const said = given.language ?? given.lang;
  if (typeof said === 'string') return codeLanguageNamed(said);
  const byKey = codeLanguageNamed(key) ?? (/^(?:cmd|command)$/i.test(key) ? 'bash' : null);
  if (byKey !== null) return byKey;
  const byTool = tool
    .split(/[^A-Za-z+0-9]+/)
    .map(codeLanguageNamed)
    .find((language) => language !== null);
  return byTool ?? (/^code$/i.test(key) ? 'python' : null);
}
