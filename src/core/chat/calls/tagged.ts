import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import { unclosedCall } from '../../rollout/call-error.ts';
import {
  type CallGrammar,
  callJsonOf,
  failedCall,
  namedCall,
  namedValue,
  type ParsedCall,
  type ReadCall,
  type TypeOf,
} from './call.ts';
import { pythonCalls } from './pythonic.ts';
import { typedValue } from './typed-value.ts';

/** A pair of tags, and how to read the text between them: as one call, or several. */
interface Tagged {
  name: string;
  around?: RegExp;
  open: string;
  close: string;
  read(body: string, typeOf: TypeOf): ReadCall | ReadCall[];
}

function tagged({ name, around, open, close, read }: Tagged): CallGrammar {
  return {
    name,
    open,
    ...(around ? { around } : {}),
    read(text, typeOf) {
      const calls: ParsedCall[] = [];
      for (let start = text.indexOf(open); start !== -1; ) {
        const bodyStart = start + open.length;
        const end = text.indexOf(close, bodyStart);
        if (end === -1) {
          const raw = text.slice(bodyStart);
          calls.push({ start, end: text.length, raw, name: null, arguments: null, error: unclosedCall(close) });
          return calls;
        }
        const raw = text.slice(bodyStart, end);
        const next = end + close.length;
        calls.push(...shared(read(raw, typeOf), raw, start, next));
        start = text.indexOf(open, next);
      }
      return calls;
    },
  };
}

/**
 * Calls that share their tags: the first gets the opening tag, the last the closing one, and each its part of the text
 * between.
 */
function shared(read: ReadCall | ReadCall[], raw: string, start: number, end: number): ParsedCall[] {
  if (!Array.isArray(read)) return [placed(read, raw, start, end)];
  const calls = read.length === 0 ? [failedCall('no call between its tags')] : read;
  const step = Math.max(1, Math.floor((end - start) / calls.length));
  return calls.map((call, i) =>
    placed(call, raw, start + i * step, i === calls.length - 1 ? end : start + (i + 1) * step),
  );
}

const placed = ({ name, arguments: given, error }: ReadCall, raw: string, start: number, end: number): ParsedCall => ({
  start,
  end,
  raw,
  name,
  arguments: given,
  error,
});

/** Several functions may share their tags. */
const functionsXml = (body: string, typeOf: TypeOf): ReadCall[] =>
  body.split(/(?<=<\/function>)\s*(?=<function=)/).map((one) => functionXml(one, typeOf));

/** `<function=NAME><parameter=KEY>VALUE</parameter></function>`; a value has lines to itself, or is inline. */
function functionXml(body: string, typeOf: TypeOf): ReadCall {
  const open = /<function=([^>\n]*)(>?)/.exec(body);
  if (open === null) return failedCall('no <function=NAME>');
  const name = (open[1] ?? '').trim();
  if (open[2] === '') return failedCall('<function=NAME has no >', name === '' ? undefined : name);
  if (name === '') return failedCall('<function=> has no name');
  const end = body.lastIndexOf('</function>');
  const inner = body.slice(open.index + open[0].length, end === -1 ? body.length : end);
  const given: JsonObject = {};
  for (const match of inner.matchAll(/<parameter=([^>\n]*)>([\s\S]*?)(?:<\/parameter>|(?=<parameter=)|$)/g))
    given[(match[1] ?? '').trim()] = typedValue(unwrappedValue(match[2] ?? ''), typeOf(name, (match[1] ?? '').trim()));
  return { name, arguments: given, error: null };
}

/** The line breaks that a template writes around a value. */
const unwrappedValue = (value: string): string => value.replace(/^\n/, '').replace(/\n$/, '');

/** `<invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>`, one or several. */
function invokes(body: string, typeOf: TypeOf): ReadCall[] {
  return [...body.matchAll(/<invoke name="?([^">\n]*)"?>([\s\S]*?)(?:<\/invoke>|(?=<invoke )|$)/g)].map((match) => {
    const name = (match[1] ?? '').trim();
    if (name === '') return failedCall('<invoke> has no name');
    const given: JsonObject = {};
    for (const one of (match[2] ?? '').matchAll(
      /<parameter name="?([^">\n]*)"?>([\s\S]*?)(?:<\/parameter>|(?=<parameter )|$)/g,
    ))
      given[(one[1] ?? '').trim()] = typedValue(unwrappedValue(one[2] ?? ''), typeOf(name, (one[1] ?? '').trim()));
    return { name, arguments: given, error: null };
  });
}

/**
 * GLM: the name, then `<arg_key>` and `<arg_value>` in pairs. A value is read as JSON if possible, unless its schema
 * says text.
 */
function argPairs(body: string, typeOf: TypeOf): ReadCall {
  const first = body.indexOf('<arg_key>');
  const name = body.slice(0, first === -1 ? body.length : first).trim();
  if (name === '' || /\s/.test(name)) return failedCall('no name before <arg_key>');
  const given: JsonObject = {};
  for (const match of body.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g)) {
    const key = (match[1] ?? '').trim();
    const type = typeOf(name, key);
    const value = callJsonOf((match[2] ?? '').trim());
    given[key] = type !== null ? typedValue(match[2] ?? '', type) : 'error' in value ? (match[2] ?? '') : value.value;
  }
  return { name, arguments: given, error: null };
}

/** The beginning of the text between `<tool_call>` tags decides: JSON, XML or GLM's pairs. */
function toolCall(body: string, typeOf: TypeOf): ReadCall | ReadCall[] {
  const text = body.trimStart();
  if (text.startsWith('<function=')) return functionsXml(body, typeOf);
  if (text.startsWith('[')) return listedCalls(body);
  if (!text.startsWith('{') && (body.includes('<arg_key>') || /^[A-Za-z_][\w.-]*\s*$/.test(text)))
    return argPairs(body, typeOf);
  return namedCall(body);
}

/** A JSON list of calls. */
function listedCalls(body: string, keys?: Parameters<typeof namedValue>[1]): ReadCall[] {
  const read = callJsonOf(body);
  if ('error' in read) return [failedCall(read.error)];
  const values: JsonValue[] = Array.isArray(read.value) ? read.value : [read.value];
  return values.map((value) => namedValue(value, keys));
}

/** One JSON object per line. */
function callsByLine(body: string): ReadCall[] {
  return body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => namedCall(line));
}

const EITHER = { name: ['name'], arguments: ['arguments', 'parameters'] };

/**
 * Hermes as trainers read it: only JSON between the tags, over the whole turn, reasoning included. Other forms that
 * `tool_call` accepts (XML, a list) are unreadable calls here.
 */
export const hermesCalls: CallGrammar = tagged({
  name: 'hermes',
  open: '<tool_call>',
  close: '</tool_call>',
  read: (body) => namedCall(body),
});

/** Qwen3-Coder sometimes omits the tags around a function; a turn that has some is read by the tags only. */
export const coderCalls: CallGrammar = {
  name: 'qwen3_coder',
  read: (text, typeOf) => (text.includes('<tool_call>') ? taggedCalls : untaggedFunctions).read(text, typeOf),
};

const untaggedFunctions = tagged({
  name: 'function',
  open: '<function=',
  close: '</function>',
  read: (body, typeOf) => functionXml(`<function=${body}</function>`, typeOf),
});

const taggedCalls = tagged({ name: 'tool_call', open: '<tool_call>', close: '</tool_call>', read: toolCall });

/** Grammars whose calls have unambiguous tags. */
export const TAGGED: readonly CallGrammar[] = [
  taggedCalls,
  tagged({
    name: 'function_calls',
    open: '<function_calls>',
    close: '</function_calls>',
    read: (body, typeOf) => (body.includes('<invoke') ? invokes(body, typeOf) : pythonCalls(body)),
  }),
  tagged({ name: 'minimax', open: '<minimax:tool_call>', close: '</minimax:tool_call>', read: invokes }),
  tagged({ name: 'seed', open: '<seed:tool_call>', close: '</seed:tool_call>', read: functionsXml }),
  tagged({ name: 'minimax-m1', open: '<tool_calls>', close: '</tool_calls>', read: callsByLine }),
  tagged({
    name: 'phi4-mini',
    open: '<|tool_call|>',
    close: '<|/tool_call|>',
    read: (body) => listedCalls(body, EITHER),
  }),
  tagged({
    name: 'command-r',
    open: '<|START_ACTION|>',
    close: '<|END_ACTION|>',
    read: (body) => listedCalls(body, { name: ['tool_name', 'name'], arguments: ['parameters', 'arguments'] }),
  }),
  tagged({
    name: 'internlm',
    open: '<|action_start|><|plugin|>',
    close: '<|action_end|>',
    read: (body) => namedCall(body, { name: ['name'], arguments: ['parameters', 'arguments'] }),
  }),
  tagged({
    name: 'kimi',
    around: /<\|tool_calls_section_(?:begin|end)\|>/g,
    open: '<|tool_call_begin|>',
    close: '<|tool_call_end|>',
    read: (body) => {
      const [id, ...rest] = body.split('<|tool_call_argument_begin|>');
      const name = /^\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*$/.exec(id ?? '')?.[1];
      if (name === undefined || rest.length === 0) return failedCall('no name before <|tool_call_argument_begin|>');
      const read = callJsonOf(rest.join('<|tool_call_argument_begin|>'));
      return 'error' in read ? failedCall(read.error, name) : { name, arguments: read.value, error: null };
    },
  }),
  tagged({
    name: 'deepseek',
    around: /<｜tool▁calls▁(?:begin|end)｜>/g,
    open: '<｜tool▁call▁begin｜>',
    close: '<｜tool▁call▁end｜>',
    read: deepseekCall,
  }),
  tagged({
    name: 'deepseek-dsml',
    around: /<\/?｜DSML｜(?:tool_calls|function_calls)>\s*/g,
    open: '<｜DSML｜invoke name=',
    close: '</｜DSML｜invoke>',
    read: (body) => {
      const name = /^"?([^">\n]+)"?>/.exec(body)?.[1];
      if (name === undefined) return failedCall('no name');
      const given: JsonObject = {};
      for (const match of body.matchAll(
        /<｜DSML｜parameter name="([^"\n]*)"(?: string="(true|false)")?>([\s\S]*?)<\/｜DSML｜parameter>/g,
      )) {
        const value = match[2] === 'true' ? null : callJsonOf(match[3] ?? '');
        given[match[1] ?? ''] = value === null || 'error' in value ? (match[3] ?? '') : value.value;
      }
      return { name, arguments: given, error: null };
    },
  }),
];

/** V3: `function<sep>NAME` and fenced JSON; V3.1: `NAME<sep>JSON`. */
function deepseekCall(body: string): ReadCall {
  const [before, ...rest] = body.split('<｜tool▁sep｜>');
  if (rest.length === 0) return failedCall('no <｜tool▁sep｜>');
  const behind = rest.join('<｜tool▁sep｜>');
  const fenced = /^([^\n]*)\n```(?:json)?\n([\s\S]*?)\n?```\s*$/.exec(behind);
  const name = (fenced === null ? before! : (fenced[1] ?? '')).trim();
  if (name === '') return failedCall('no name');
  const read = callJsonOf(fenced === null ? behind : (fenced[2] ?? ''));
  if ('error' in read) return failedCall(read.error, name);
  return isJsonObject(read.value)
    ? { name, arguments: read.value, error: null }
    : failedCall('the arguments are not a JSON object', name);
}
