import { sanitise } from '../../../core/text/sanitise.ts';
import type { CodeLanguage } from '../transcript/code-language.ts';
import { syntaxRanges } from '../transcript/grammars.ts';
import { stretches } from '../transcript/markdown.ts';
import { MAX_CODE } from '../transcript/syntax.ts';
import { escaped } from './page.ts';

/** Code with its colours; without a language, or very long, in none. */
export function codeHtml(text: string, language: CodeLanguage | null): string {
  const code = sanitise(text);
  if (language === null || code.length > MAX_CODE) return `<pre>${escaped(code)}</pre>`;
  let html = '';
  let at = 0;
  for (const { start, end, style } of syntaxRanges(language, code)) {
    html += `${escaped(code.slice(at, start))}<span class="${style}">${escaped(code.slice(start, end))}</span>`;
    at = end;
  }
  return `<pre>${html}${escaped(code.slice(at))}</pre>`;
}

/** Prose, with the code between its fences as code. */
export const proseHtml = (text: string): string =>
  stretches(text)
    .map(({ start, end, isCode, code }) => {
      const piece = text.slice(start, end).replace(/\n$/, '');
      return isCode ? codeHtml(piece, code) : `<pre class="prose">${escaped(piece)}</pre>`;
    })
    .join('');
