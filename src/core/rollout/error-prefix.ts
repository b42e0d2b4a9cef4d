/** Blanks, and the process that speaks. */
const BEFORE = /^\s*(?:\[rank ?\d+\]: )?/;
/** The program that speaks: `bash: error …`. */
const SPEAKER = /[\w.-]{1,20}: (?=error )/iy;
/** Words that mark what follows as an error. One pattern for all that may follow each other takes V8 40 ms to compile. */
export const ERROR_WORDS =
  /(?:\[|<|\*\*|❌\s*|⚠️?\s*)?(?:tool_use_error|error (?:when|while) executing (?:the )?tool|tool call failed|tool execution (?:error|failed)(?: with error)?|an unexpected error occurred|tool[ _]?error|execution error|runtime error|api (?:request )?error|error executing (?:tool|code|command)|search error|rpc error|mcp error -?\d+|\(error\)|Code: \d+\. DB::Exception|error (?:from|in|response|while|when|during|reading|opening|loading|near)\b[^\n:]{0,60}|error \[\w+\]|error \d{3}(?=: )|Error Domain=\w+ Code=-?\d+(?= ")|error \d{4} \(\w{5}\)(?: at line \d+)?|ORA-\d{5}|Msg \d+, Level \d+, State \d+(?:, Line \d+)?|(?:npm|pnpm|yarn:?) (?:ERR!|error)(?=:? )|(?<=: )error(?= [A-Z])|(?:[\w.-]{1,30}: )?error response from daemon|fetch error|error|exception|err|fatal|failed|failure|warning: error)(?:\]|>|\*\*)?\s*(?:[:：]|-|(?<=[\]>*])|(?<=(?:npm|: )(?: ?error| ERR!)) )\s*/iy;

/** A part of each of these words. */
const WORD = /err|exception|fatal|fail|ora-|msg|db::/i;

/** @returns the words before a message that mark it as an error; null if there are none */
export function errorPrefix(text: string): string | null {
  if (!WORD.test(text)) return null;
  const start = BEFORE.exec(text)?.[0].length ?? 0;
  const speaker = endOf(SPEAKER, text, start);
  const end = (speaker === null ? null : endOfWords(text, speaker)) ?? endOfWords(text, start);
  return end === null ? null : text.slice(0, end);
}

function endOfWords(text: string, start: number): number | null {
  let end: number | null = null;
  for (let next = endOf(ERROR_WORDS, text, start); next !== null; next = endOf(ERROR_WORDS, text, next)) end = next;
  return end;
}

function endOf(sticky: RegExp, text: string, at: number): number | null {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : null;
}
