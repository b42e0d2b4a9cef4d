import { fileURLToPath } from 'node:url';
import { FORM_RECORDS, type Forms, formsOf } from '../src/core/chat/forms.ts';
import { verl } from '../src/core/formats/verl.ts';
import {
  FAMILIES,
  type Family,
  idOf,
  type Message,
  renderBehind,
  stripped,
  templatesAt,
} from './support/conversations.ts';
import { type RealConversation, realConversations } from './support/real-conversations.ts';

const DATA = fileURLToPath(new URL('../../shared/data', import.meta.url));
const TEMPLATES = process.env.RV_TEMPLATES ?? `${DATA}/chat/templates`;
const FOLDERS = (
  process.env.RV_CONVERSATIONS ?? ['tau-bench', 'formats', 'real'].map((name) => `${DATA}/${name}`).join(':')
).split(':');
/** Which conversations lie in one dump: `source`, those of a file; `mixed`, all; `none`, each is read alone. */
const DUMP = process.env.RV_DUMP ?? 'source';
const EACH = Number(process.env.RV_EACH ?? 12);

/** npm run bench real-turns: conversations of real runs, rendered by published templates, read back without their special tokens. */
export async function run(): Promise<void> {
  if (!templatesAt(TEMPLATES)) {
    console.log(`skipped: no templates in ${TEMPLATES}`);
    return;
  }
  const given = realConversations(FOLDERS, EACH);
  console.log(`${given.length} conversations`);
  console.log(
    'messages without special tokens: certain and right, inferred and right, unknown, certain and wrong, inferred and wrong',
  );
  for (const family of FAMILIES) {
    if (process.env.RV_FAMILY !== undefined && !family.name.includes(process.env.RV_FAMILY)) continue;
    const sum = { marked: 0, inferred: 0, unknown: 0, wrongMarked: 0, wrongInferred: 0, refused: 0 };
    const found = given.map((one) => ({ one, rendered: renderReal(family, one) }));
    const dumps = new Map<string, typeof found>();
    for (const one of found) {
      const name = DUMP === 'mixed' ? '' : one.one.source;
      dumps.set(name, [...(dumps.get(name) ?? []), one]);
    }
    for (const beside of dumps.values()) {
      const texts = beside.flatMap(({ rendered }) => rendered ?? []);
      const forms = DUMP === 'none' ? null : formsOf(texts.slice(0, FORM_RECORDS));
      for (const { one, rendered } of beside)
        if (rendered === null) sum.refused++;
        else judge(family, one, rendered, forms, sum);
    }
    const all = sum.marked + sum.inferred + sum.unknown + sum.wrongMarked + sum.wrongInferred;
    const share = ((100 * (sum.marked + sum.inferred)) / Math.max(1, all)).toFixed(1);
    console.log(
      `${family.name.padEnd(20)} ${sum.marked}/${sum.inferred}/${sum.unknown}/${sum.wrongMarked}/${sum.wrongInferred}  ${share} % right${sum.refused > 0 ? `, ${sum.refused} refused` : ''}`,
    );
  }
}

/** Signs that no text holds, by which a message is found in what a template made of it. */
const OPEN = 0xe000;
const CLOSE = 0xe800;
const around = (i: number, text: string): string =>
  text === '' ? '' : `${String.fromCharCode(OPEN + i)}${text}${String.fromCharCode(CLOSE + i)}`;

interface Rendered {
  prompt: string;
  response: string;
  /** Of each message its pieces in prompt + response. */
  places: { start: number; end: number }[][];
}

function renderReal(family: Family, { messages }: RealConversation): Rendered | null {
  const hasCalls = messages.some(({ role, tool_calls }) => role === 'tool' || tool_calls !== undefined);
  if (hasCalls && !family.tools) return null;
  const shown = messages
    .filter(({ role }) => !(family.noSystem && role === 'system'))
    .map((message, i): Message => {
      const content = around(i, message.content.trim());
      if (message.role === 'tool')
        return { ...message, content, tool_call_id: idOf(family, message.name ?? '', Number(message.tool_call_id)) };
      if (message.tool_calls === undefined) return { ...message, content };
      return {
        ...message,
        content,
        tool_calls: message.tool_calls.map((call) => ({
          ...call,
          id: idOf(family, call.function.name, Number(call.id)),
          function: {
            name: around(i, call.function.name),
            arguments: family.textArguments ? JSON.stringify(call.function.arguments) : call.function.arguments,
          },
        })),
      };
    });
  const first = shown.findIndex(({ role }) => role === 'assistant');
  if (first < 1 || shown[first - 1]!.content === '') return null;
  const names = new Set(messages.flatMap(({ tool_calls }) => tool_calls?.map((call) => call.function.name) ?? []));
  const tools = [...names].map((name) => ({
    type: 'function',
    function: { name, description: `Runs ${name}.`, parameters: { type: 'object', properties: {}, required: [] } },
  }));
  const text = renderBehind(family, TEMPLATES, shown, String.fromCharCode(CLOSE + first - 1), tools);
  if (text === null) return null;
  const places: Rendered['places'] = shown.map(() => []);
  let clean = '';
  const open: number[] = [];
  const take = (part: string): string => {
    const before = clean.length;
    for (const char of part) {
      const code = char.codePointAt(0)!;
      if (code >= OPEN && code < CLOSE) open[code - OPEN] = clean.length;
      else if (code >= CLOSE && code < 0xf000)
        places[code - CLOSE]!.push({ start: open[code - CLOSE] ?? before, end: clean.length });
      else clean += char;
    }
    return clean.slice(before);
  };
  const prompt = take(stripped(family, text.prompt));
  const response = take(stripped(family, text.response));
  return { prompt, response, places };
}

interface Sum {
  marked: number;
  inferred: number;
  unknown: number;
  wrongMarked: number;
  wrongInferred: number;
}

/** A message is right where one turn of its role holds it, and that turn holds nothing of another message. */
function judge(
  family: Family,
  { messages, source }: RealConversation,
  { prompt, response, places }: Rendered,
  forms: Forms | null,
  sum: Sum,
): void {
  const given = messages.filter(({ role }) => !(family.noSystem && role === 'system'));
  const rollout = verl.read(
    { input: prompt, output: response, gts: null, score: 1, step: 1 },
    { validation: false, forms: () => forms },
  );
  const turns = rollout.turns.map(() => ({ start: Number.POSITIVE_INFINITY, end: 0 }));
  for (const span of rollout.spans) {
    if (span.kind !== 'text') continue;
    const at = span.field === 'output' ? prompt.length : 0;
    const turn = turns[span.turn]!;
    turn.start = Math.min(turn.start, at + span.start);
    turn.end = Math.max(turn.end, at + span.end);
  }
  for (const [i, message] of given.entries()) {
    const place = places[i]![0];
    if (place === undefined) continue;
    const middle = (place.start + place.end) / 2;
    const at = turns.findIndex(({ start, end }) => start <= middle && middle < end);
    const turn = rollout.turns[at];
    if (turn === undefined || turn.confidence === 'unknown') {
      sum.unknown++;
      show(family, source, i, message, 'unknown', turn?.text ?? '', prompt, response);
      continue;
    }
    const role = turn.role === 'developer' ? 'system' : turn.role;
    const reach = turns[at]!;
    const holdsOther = places.some(
      (pieces, other) => other !== i && pieces.some(({ start, end }) => start < reach.end - 1 && end > reach.start + 1),
    );
    const isRight = role === message.role && !holdsOther && reach.start <= place.start && reach.end >= place.end;
    if (isRight) sum[turn.confidence === 'marked' ? 'marked' : 'inferred']++;
    else {
      sum[turn.confidence === 'marked' ? 'wrongMarked' : 'wrongInferred']++;
      show(family, source, i, message, `wrong ${turn.confidence} ${turn.role}`, turn.text, prompt, response);
    }
  }
}

const SHOW = process.env.RV_SHOW;
function show(
  family: Family,
  source: string,
  i: number,
  message: Message,
  why: string,
  text: string,
  prompt: string,
  response: string,
): void {
  if (SHOW === undefined || !why.includes(SHOW)) return;
  console.log(`-- ${family.name} ${source.split('/').slice(-2).join('/')} message ${i} ${message.role}: ${why}`);
  console.log(JSON.stringify({ message: message.content.slice(0, 200), text: text.slice(0, 300) }));
  if (process.env.RV_WHOLE) console.log(JSON.stringify({ prompt: prompt.slice(-600), response }));
}
