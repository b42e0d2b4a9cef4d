import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import { createLowlight } from 'lowlight';
import type { Style } from '../theme.ts';
import type { Range } from './block.ts';
import type { CodeLanguage } from './code-language.ts';

const LANGUAGES = { python, bash, javascript, cpp, json } satisfies Record<CodeLanguage, unknown>;
const lowlight = createLowlight(LANGUAGES);

/** The meaning of the grammars' classes; all others are plain text. */
const STYLES: Record<string, Style> = {
  'hljs-keyword': 'key',
  'hljs-type': 'key',
  'hljs-attr': 'key',
  'hljs-string': 'string',
  'hljs-regexp': 'string',
  'hljs-number': 'number',
  'hljs-literal': 'number',
  'hljs-comment': 'quiet',
  'hljs-meta': 'quiet',
};

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

/** The styled ranges of code, in order; nested tokens, such as those inside a string or comment, take the innermost style. */
export function syntaxRanges(language: CodeLanguage, code: string): Range[] {
  const ranges: Range[] = [];
  let at = 0;
  const walk = (nodes: Nodes, style: Style | null): void => {
    for (const node of nodes) {
      if (node.type === 'text') {
        const start = at;
        at += node.value.length;
        if (style !== null) ranges.push({ start, end: at, style });
      } else if (node.type === 'element') {
        const names = node.properties.className;
        const own = Array.isArray(names) ? STYLES[String(names[0])] : undefined;
        walk(node.children, own ?? style);
      }
    }
  };
  walk(lowlight.highlight(language, code).children, null);
  return ranges;
}
