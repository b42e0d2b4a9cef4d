import type { ChatTemplate, HeaderRule, Shape } from './template.ts';

/** The texts of a template as a user writes them, with or without special tokens. */
interface OwnShape {
  /** Text before a role's text. */
  headers: Readonly<Record<string, string>>;
  /** Text after each turn, before the next header. */
  end: string | null;
  /** The end of a result, before `end`. */
  resultEnd: string | null;
}

/** A chat template that the user describes by its texts. Plain data, because it is passed to threads. */
export interface OwnTemplate extends OwnShape {
  name: string;
  /** The form without special tokens, if it differs. */
  stripped: OwnShape | null;
  /** Call grammars that their tags do not identify. */
  calls: readonly string[];
}

export const OWN_ROLES = ['system', 'user', 'assistant', 'tool'] as const;

const read = new WeakMap<OwnTemplate, ChatTemplate>();

export function templateOf(own: OwnTemplate): ChatTemplate {
  let template = read.get(own);
  if (template === undefined) {
    template = {
      name: own.name,
      models: 'your own',
      marked: { ...shapeOf(own), special: true },
      stripped: own.stripped === null ? null : shapeOf(own.stripped),
      class: 'exact',
      calls: own.calls,
    };
    read.set(own, template);
  }
  return template;
}

/** A text fits the template if it begins with one of the headers, and its prompt ends with the assistant's. */
function shapeOf({ headers, end, resultEnd }: OwnShape): Shape {
  const rules = Object.entries(headers).map(([role, text]): HeaderRule => ({ open: headerPattern(text), role }));
  const begins = new RegExp(`^\\s*(?:${rules.map(({ open }) => open).join('|')})`);
  const asks = new RegExp(`${headerPattern(headers.assistant ?? '')}\\s{0,9}$`);
  return {
    detects: (prompt, response) =>
      prompt === '' ? begins.test(response) : begins.test(prompt) && asks.test(prompt.slice(-MAX_HEADER)),
    end: end === null ? '' : `(?:${line(end)})?`,
    headers: rules,
    ...(resultEnd === null ? {} : { resultEnd: line(resultEnd) }),
  };
}

const MAX_HEADER = 4096;

const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A header that ends its line may end the text instead. */
const headerPattern = (text: string): string =>
  text.endsWith('\n') ? `${escapedPattern(text.replace(/\n+$/, ''))}(?:\\n+|$)` : escapedPattern(text);

/** The line break at the end is often lost. */
const line = (text: string): string =>
  text.endsWith('\n') ? `${escapedPattern(text.replace(/\n+$/, ''))}\\n*` : `${escapedPattern(text)}\\n?`;
