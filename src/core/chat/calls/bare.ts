import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonValue, objectIn } from '../../json/value.ts';
import { unclosedCall } from '../../rollout/call-error.ts';
import {
  type CallGrammar,
  callJsonOf,
  failedCall,
  jsonEnd,
  namedCall,
  type ParsedCall,
  type ReadCall,
} from './call.ts';

const EITHER = { name: ['name'], arguments: ['parameters', 'arguments'] };

/**
 * Llama 3: `{"name": …, "parameters": …}` is the whole turn, several separated by `;`; also the end of a turn whose
 * tags were stripped.
 */
export const bareJson: CallGrammar = {
  name: 'llama3',
  read(text) {
    const calls: ParsedCall[] = [];
    const first = /(?:^|\n|<\|python_tag\|>)\s*\{\s*"(?:name|type|function)"\s*:/.exec(text);
    if (first === null) return calls;
    let at = text.indexOf('{', first.index);
    for (;;) {
      const end = jsonEnd(text, at);
      if (end === -1) {
        calls.push({
          start: at,
          end: text.length,
          raw: text.slice(at),
          name: null,
          arguments: null,
          error: unclosedCall('}'),
        });
        return calls;
      }
      const raw = text.slice(at, end);
      calls.push({ start: at, end, raw, ...namedCall(raw, EITHER) });
      const more = /^\s*[;,]?\s*(?=\{)/.exec(text.slice(end));
      if (more === null) return calls;
      at = end + more[0].length;
    }
  },
};

/**
 * gpt-oss: the header of a message names the function, and the message is its arguments. Without special tokens the
 * channel is glued to it.
 */
export const harmonyCalls: CallGrammar = {
  name: 'harmony',
  around: /(?:<\|start\|>assistant)?<\|channel\|>commentary$|^<\|call\|>/g,
  read(text) {
    const calls: ParsedCall[] = [];
    const header =
      / ?to=functions\.([\w.-]+?)(?: ?<\|channel\|>(?:commentary|analysis)(?: (?:<\|constrain\|>)?json)?<\|message\|>|(?:commentary|analysis)(?: json)?(?=\{)| ?(?:<\|constrain\|>)?json<\|message\|>)/g;
    for (let match = header.exec(text); match !== null; match = header.exec(text)) {
      const bodyStart = match.index + match[0].length;
      const stop = text.slice(bodyStart).search(/<\|(?:call|end|return|start)\|>/);
      const end = stop === -1 ? jsonEnd(text, bodyStart) : bodyStart + stop;
      const raw = text.slice(bodyStart, end === -1 ? text.length : end);
      const read = callJsonOf(raw);
      const call =
        'error' in read
          ? failedCall(end === -1 ? unclosedCall('<|call|>') : read.error, match[1])
          : { name: match[1] ?? '', arguments: read.value, error: null };
      calls.push({ start: match.index, end: end === -1 ? text.length : end, raw, ...call });
      header.lastIndex = Math.max(bodyStart, end);
    }
    return calls;
  },
};

/** Mistral: a list of calls, or `NAME[CALL_ID]id[ARGS]{…}` for each. */
export const mistralCalls: CallGrammar = {
  name: 'mistral',
  open: '[TOOL_CALLS]',
  read(text) {
    const calls: ParsedCall[] = [];
    const tag = '[TOOL_CALLS]';
    for (let start = text.indexOf(tag); start !== -1; start = text.indexOf(tag, start + 1)) {
      const bodyStart = start + tag.length;
      if (/^\s*\[/.test(text.slice(bodyStart, bodyStart + 8))) {
        const open = text.indexOf('[', bodyStart);
        const end = jsonEnd(text, open);
        const raw = text.slice(open, end === -1 ? text.length : end);
        calls.push(...eachOf(raw, start, end === -1 ? text.length : end, end === -1));
        continue;
      }
      const header = /^([\w.-]+)(?:\[CALL_ID\]([\w-]+))?\[ARGS\]\s*/.exec(text.slice(bodyStart, bodyStart + 400));
      if (header === null) continue;
      const open = bodyStart + header[0].length;
      const end = jsonEnd(text, open);
      const raw = text.slice(open, end === -1 ? text.length : end);
      const read = end === -1 ? { error: unclosedCall('}') } : callJsonOf(raw);
      const call: ReadCall =
        'error' in read
          ? failedCall(read.error, header[1])
          : { name: header[1] ?? '', arguments: read.value, error: null };
      calls.push({ start, end: end === -1 ? text.length : end, raw, ...call });
    }
    return calls;
  },
};

function eachOf(raw: string, start: number, end: number, isOpen: boolean): ParsedCall[] {
  const read = isOpen ? { error: unclosedCall(']') } : callJsonOf(raw);
  if ('error' in read) return [{ start, end, raw, ...failedCall(read.error) }];
  const values: JsonValue[] = Array.isArray(read.value) ? read.value : [read.value];
  const step = Math.max(1, Math.floor((end - start) / Math.max(1, values.length)));
  return values.map((value, i) => ({
    start: start + i * step,
    end: i === values.length - 1 ? end : start + (i + 1) * step,
    raw: values.length === 1 ? raw : printJson(value),
    ...namedCall(printJson(value), EITHER),
  }));
}

/** Gemma 4: `call:NAME{key:<|"|>text<|"|>,n:2}`. */
export const gemma4Calls: CallGrammar = {
  name: 'gemma4',
  open: '<|tool_call>',
  read(text) {
    const calls: ParsedCall[] = [];
    const [open, close] = ['<|tool_call>', '<tool_call|>'];
    for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, start + 1)) {
      const stop = text.indexOf(close, start);
      const raw = text.slice(start + open.length, stop === -1 ? text.length : stop);
      const call = stop === -1 ? failedCall(unclosedCall(close)) : gemmaCall(raw);
      calls.push({ start, end: stop === -1 ? text.length : stop + close.length, raw, ...call });
    }
    return calls;
  },
};

function gemmaCall(raw: string): ReadCall {
  const header = /^\s*call:([\w.-]+)\{/.exec(raw);
  if (header === null) return failedCall('no call:NAME{');
  const name = header[1] ?? '';
  // Keys are bare, and strings have their own quotes: rewritten as JSON it means the same.
  const parts = raw.slice(header[0].length - 1).split('<|"|>');
  const json = parts
    .map((part, i) =>
      i % 2 === 1
        ? JSON.stringify(part)
        : part
            .replace(/([{,]\s*)([\p{L}_][\p{L}\p{N}_.-]*)\s*:/gu, '$1"$2":')
            .replace(/(:\s*)([\p{L}_][^,{}[\]"]*)/gu, bareWord),
    )
    .join('');
  const read = callJsonOf(json);
  if ('error' in read) return failedCall('its arguments do not follow the grammar', name);
  return isJsonObject(read.value)
    ? { name, arguments: objectIn(read.value), error: null }
    : failedCall('no arguments', name);
}

/** A word that the model did not quote is a string, unless Python or JSON knows it. */
function bareWord(_: string, before: string, word: string): string {
  const text = word.trim();
  const lower = text.toLowerCase();
  return before + (lower === 'none' ? 'null' : WORDS.has(lower) ? lower : JSON.stringify(text));
}

const WORDS = new Set(['true', 'false', 'null']);

/** Granite: `<|tool_call|>` and a list that ends with the turn. */
export const graniteCalls: CallGrammar = {
  name: 'granite',
  read(text) {
    const open = /<\|?tool_call\|?>\s*(?=\[)/.exec(text);
    if (open === null) return [];
    const at = open.index + open[0].length;
    const end = jsonEnd(text, at);
    return eachOf(
      text.slice(at, end === -1 ? text.length : end),
      open.index,
      end === -1 ? text.length : end,
      end === -1,
    );
  },
};
