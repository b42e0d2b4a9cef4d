import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readTemplateFile } from '../../core/chat/rendered.ts';
import type { JsonObject } from '../../core/json/value.ts';

/** A rendered conversation, and which of its characters are inside `{% generation %}`. */
interface RenderedChat {
  text: string;
  generated: { start: number; end: number }[];
}

export interface LoaderTemplate {
  /** @throws if the template refuses the conversation */
  render: (values: JsonObject) => RenderedChat;
  hasGeneration: boolean;
  bos: string;
  eos: string;
}

/** Noncharacters are where a generation block begins and ends: no text of a dump may contain them. */
const [OPEN, CLOSE] = ['\ufdd0', '\ufdd1'];

/** The library drops these blocks, so each becomes a block that writes its mark and strips the same white space. */
const markBlocks = (source: string): string =>
  source.replace(
    /\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}/g,
    (_, before: string, end: string | undefined, after: string) =>
      `{%${before} if true %}{{ '${end === undefined ? OPEN : CLOSE}' }}{% endif ${after}%}`,
  );

/** @param tokenizer path of tokenizer.json; chat_template.jinja or tokenizer_config.json beside it holds the template */
export async function loadLoaderTemplate(tokenizer: string): Promise<LoaderTemplate> {
  const folder = dirname(tokenizer);
  const config = JSON.parse(await readFile(join(folder, 'tokenizer_config.json'), 'utf8').catch(() => '{}'));
  const file = await readTemplateFile(join(folder, 'tokenizer_config.json')).catch(() => null);
  // transformers prefers the separate file.
  const source = await readFile(join(folder, 'chat_template.jinja'), 'utf8').catch(() => file?.source);
  if (source === undefined)
    throw new Error('no chat_template.jinja and no tokenizer_config.json with one is beside it');
  const { Template } = await import('@huggingface/jinja');
  const template = new Template(markBlocks(source));
  const special = (key: string): string => {
    const value: unknown = config[key];
    if (typeof value === 'string') return value;
    const content = (value as { content?: unknown } | null | undefined)?.content;
    return typeof content === 'string' ? content : '';
  };
  const specials = Object.fromEntries(
    ['bos_token', 'eos_token', 'pad_token', 'unk_token'].map((key) => [key, special(key)]),
  );
  return {
    render: (values) => withoutMarks(template.render({ ...specials, ...values })),
    hasGeneration: /\{%[-+]?\s*generation\b/.test(source),
    bos: special('bos_token'),
    eos: special('eos_token'),
  };
}

function withoutMarks(marked: string): RenderedChat {
  const generated: { start: number; end: number }[] = [];
  let text = '';
  let start = 0;
  for (const piece of marked.split(/([\ufdd0\ufdd1])/)) {
    if (piece === OPEN) start = text.length;
    else if (piece === CLOSE) generated.push({ start, end: text.length });
    else text += piece;
  }
  return { text, generated };
}
