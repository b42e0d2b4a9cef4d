import { itemAt } from '../lists/at.ts';
import { lazily } from '../text/lazily.ts';
import { PatternScreen } from '../text/pattern-screen.ts';
import { ERROR_CAUSES } from './error-causes.ts';
import type { ErrorCause } from './error-kind.ts';
import { CAUSE_LITERALS } from './error-literals.ts';
import { errorPrefix } from './error-prefix.ts';

/** The message of an error in JSON: the first of these keys that contains words. */
const MESSAGE =
  /^\s*\{[^{}[\]]{0,200}?"(?:error|error_message|message|errors|detail|details|reason|errmsg|msg)"\s*:\s*(?:\[\s*(?=\{))?(?:\{[^{}]{0,200}?"(?:message|msg|detail)"\s*:\s*)?"((?:[^"\\]|\\.){1,600})/;
/** A JSON answer whose words alone may be an error. */
const ANSWER =
  /^\s*\{\s*"(?:result|output|content|response|text|stdout|stderr)"\s*:\s*"((?:[^"\\]|\\.){1,600})"\s*[,}]/;

/** The title of a page, as proxies send it instead of an answer. */
const PAGE = /^\s*(?:<(?:!doctype html|html)\b[^<]*(?:<head\b[^<]*)?(?:<meta\b[^<]*)*)?<title>([^<]{1,200})<\/title>/i;
/** `Failed to fetch page: …` */
const FAILED_TO = /^\s*(?:failed|unable|could not|cannot|error) (?:to )?\w+(?:[^\n:]|:(?=\/\/)){0,60}: /i;
/** A class of a module, as Python prints an exception: `google.api_core.exceptions.NotFound: …`. */
const CLASS = /^\s*(?:[a-z_]\w*\.)+_?[A-Z]\w+: /;

/** Longer texts that do not call themselves an error are answers, whatever words they contain. */
const SHORT = 320;
const HEAD = 600;

/** The cause named in the text of a result; null if it is not an error, or names none. */
export function causeOf(text: string): { cause: ErrorCause; start: number } | null {
  const start = text.search(/\S/);
  if (start === -1) return null;
  const message = MESSAGE.exec(text);
  const quoted = message ?? ANSWER.exec(text) ?? PAGE.exec(text);
  const whole = quoted === null ? text.slice(start, start + HEAD) : (quoted[1] ?? '');
  const prefix = errorPrefix(whole) ?? FAILED_TO.exec(whole)?.[0] ?? CLASS.exec(whole)?.[0] ?? '';
  const said = whole.slice(prefix.length);
  const cause =
    message !== null
      ? (inMessage(said) ?? inMessage(text.slice(start, start + HEAD)))
      : prefix !== ''
        ? (inMessage(said) ?? (CLASS.test(whole) ? inMessage(whole) : exactIn(whole)))
        : atStart(said, (quoted === null ? text.length : whole.length) - start);
  return cause === null ? null : { cause, start };
}

const screen = lazily(() => new PatternScreen(CAUSE_LITERALS));

/** The causes with a word in the message, in their order. */
function* likelyCauses(message: string): Generator<ErrorCause> {
  for (const at of screen().candidates(message)) yield itemAt(ERROR_CAUSES, at);
}

function exactIn(message: string): ErrorCause | null {
  for (const cause of likelyCauses(message)) if (cause.exact === true && cause.pattern.test(message)) return cause;
  return null;
}

function inMessage(message: string): ErrorCause | null {
  for (const cause of likelyCauses(message)) if (cause.pattern.test(message)) return cause;
  return null;
}

/** Prefixes that programs put before their message: `curl: (7) `, `bash: line 1: `, `search failed: `. */
const PROGRAM =
  /^(?:(?:dial|read|write|accept) (?:tcp|udp)\d? \S{1,80}: |lookup \S{1,80}(?: on \S{1,60})?: |(?:Get|Post|Put|Delete|Head) "[^"\n]{1,200}": )?(?:[\w./-]{1,40}: ){0,3}(?:\(\d+\) |line \d+: |\[\w+ \d+\] )?|^[\w ]{2,30} (?:failed|error)(?: for [^\n:]{1,60})?: /i;
/** The end of a message that starts with the name of a file or host: `cat: x.csv: No such file or directory`. */
const ENDS = /^[\w./()'" -]{1,40}: [^\n]{1,200}$/;

/** A text without a word for an error is one if it begins with its cause and contains little else. */
function atStart(message: string, length: number): ErrorCause | null {
  if (length > SHORT) return null;
  const [first = '', second = ''] = message.split('\n', 2);
  // `x.c: In function 'main':` announces the message of the next line.
  const line = (first.endsWith(':') || REMARK.test(first)) && exactIn(second) !== null ? second : first;
  const program = PROGRAM.exec(line)?.[0].length ?? 0;
  const near = ENDS.test(line) ? line.length : NEAR;
  for (const cause of likelyCauses(line)) {
    if (cause.loose === true) continue;
    const at = line.search(cause.pattern);
    if (at === -1) continue;
    if (cause.exact === true) return cause;
    if (at > Math.max(program + NEAR, near)) continue;
    // An answer may quote the words of a question.
    if (QUOTED.test(line.slice(0, at))) continue;
    // A sentence about an error has a reporting verb, or an article, before it.
    const behind = line.slice(at + (cause.pattern.exec(line)?.[0].length ?? 0));
    if (at === 0 && behind.startsWith(': ')) return cause;
    if (SENTENCE.test(line.slice(0, at)) || ABOUT.test(line) || CONTINUES.test(behind)) continue;
    return cause;
  }
  return null;
}

/** A compiler's remark before its error. */
const REMARK = /:\d+(?::\d+)?: (?:warning|note): /;
const NEAR = 24;
const QUOTED = /^(?:[^"]*"[^"]*")*[^"]* "[^"]*$|\bfor '[^']*$/;
const SENTENCE =
  /\b(?:the page|article|about|how|why|when|if|explains?|means?|says?|called|word|is an?|are|was|were)\b/i;
/** The sentence continues after the words. */
const CONTINUES = /^[^:;("'\n]*\b(?:is|are|(?<!and )(?:was|were)|means|until|which|who|whose|because)\b/i;
/** A sentence about errors in general. */
const ABOUT =
  /\b(?:how to|means that|is an error|are set|people|you can|you should|page about|documentation|guide|tutorial|troubleshoot\w*|faq|happens when|occurs when|indicates)\b/i;

/** A cause more specific than the exception's class: a `RuntimeError` may be memory that ran out. */
export const worldsCause = (line: string): ErrorCause | null => {
  const cause = inMessage(line.slice(0, HEAD));
  return cause !== null && (cause.fault === 'world' || cause.fault === null) ? cause : null;
};
