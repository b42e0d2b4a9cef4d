import type { CallAction, SearchReplace } from '../action.ts';

const BLOCK =
  /(?:^|\n)([^\n`]*)\n(?:```[^\n]*\n)?<{5,9} SEARCH>?\s*\n([\s\S]*?)(?:^|\n)?={5,9}\s*\n([\s\S]*?)(?:^|\n)?>{5,9} REPLACE/g;
/** Every block has this, which is found far faster than the pattern. */
const SEARCH = '<<<<< SEARCH';
const COMMAND = /(?:^|\n)```(?:bash|sh|shell|console)\n([\s\S]*?)\n?```/;

/**
 * The action that a message without tool calls asks for: SEARCH/REPLACE blocks, or the first block of shell text; null if it holds
 * neither.
 */
export function actionInText(text: string): CallAction | null {
  const blocks = text.includes(SEARCH) ? blocksIn(text) : [];
  if (blocks.length > 0) return { kind: 'blocks', blocks };
  const command = text.includes('```') ? COMMAND.exec(text)?.[1] : undefined;
  return command === undefined ? null : { kind: 'shell', command, workdir: null, timeout: null, isInput: false };
}

function blocksIn(text: string): SearchReplace[] {
  const blocks: SearchReplace[] = [];
  for (const [, line = '', search = '', replace = ''] of withPathBeforeFence(text).matchAll(BLOCK)) {
    const path = line.trim().replace(/^[#*`\s]+|[`*:\s]+$/g, '') || (blocks.at(-1)?.path ?? '');
    if (path !== '') blocks.push({ path, search: endedLine(search), replace: endedLine(replace) });
  }
  return blocks;
}

/** The file name may come before the fence or inside it. */
const withPathBeforeFence = (text: string): string => text.replace(/\n```[^\n]*\n(?=[^\n<]+\n<{5,9} SEARCH)/g, '\n');

const endedLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
