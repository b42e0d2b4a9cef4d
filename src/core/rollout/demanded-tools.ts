/** Words that demand, before the verb. */
const MUST =
  /\b(?:must|shall|should|need to|have to|has to|(?:is|are) (?:required|expected) to|always|mandatory to|make sure to|be sure to)\b/i;
const ENDS_IN_VERB =
  /\b(?:use|call|invoke|run|execute|query|consult)(?:s|ing)?\s+(?:(?:the|a|an|your|to|code with|code in|code using|programs? in)\s+)?(?:(?:tool|function)s?\s+)?[`"'*]{0,2}$/i;
/** Words by which a demand is one of several ways, or holds for some cases. */
const OPTIONAL =
  /\b(?:if|when|whenever|unless|where|only|optional(?:ly)?|may|might|can|could|in case|needed|necessary|appropriate|either|not|never|don't|avoid|example|e\.g)\b/i;

/** A prompt lists its tools in a block of schemas, in which no sentence demands. */
const SCHEMAS = /<tools>[\s\S]*?<\/tools>/g;
const LONGEST = 20_000;
const LONGEST_SENTENCE = 300;

/**
 * The sentences of a prompt that demand tools by name, each as the tools in it: one call of any of them meets it.
 * @param names of the tools that the model was given
 */
export function demandedTools(prompt: string, names: readonly string[]): string[][] {
  const demands: string[][] = [];
  if (names.length === 0) return demands;
  const text = prompt.slice(0, LONGEST).replace(SCHEMAS, '');
  for (const name of names)
    for (let at = wordIn(text, name); at !== -1; at = wordIn(text, name, at + 1)) {
      const sentence = sentenceAt(text, at);
      if (isDemanded(sentence, name)) demands.push(names.filter((other) => wordIn(sentence, other) !== -1));
    }
  return demands;
}

function sentenceAt(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - LONGEST_SENTENCE), at);
  const behind = text.slice(at, at + LONGEST_SENTENCE);
  const end = behind.search(/[.!?;:](?:\s|$)|\n/);
  return before.slice(lastEnd(before)) + (end === -1 ? behind : behind.slice(0, end));
}

/** The place behind the last end of a sentence. */
function lastEnd(text: string): number {
  for (let at = text.length - 1; at >= 0; at--)
    if (text[at] === '\n' || (at + 1 < text.length && /[.!?;:]/.test(text[at]!) && /\s/.test(text[at + 1]!)))
      return at + 1;
  return 0;
}

function isDemanded(sentence: string, name: string): boolean {
  const at = wordIn(sentence, name);
  const before = sentence.slice(0, at);
  const behind = sentence.slice(at + name.length);
  // The rest of the sentence decides: "if it is unclear, call it", "call it if it is unclear".
  if (OPTIONAL.test(behind) || OPTIONAL.test(before)) return false;
  if (/\bat least (?:once|one)\b/i.test(sentence)) return true;
  const verb = ENDS_IN_VERB.exec(before);
  if (verb === null) return false;
  const lead = before.slice(0, verb.index);
  // "First call it to …", "Use it before you answer".
  const isOrder = /^\W*(?:first|then|always|\d+\W+|for (?:each|every|all) \w+)?\W*$/i.test(lead);
  return MUST.test(lead) || (isOrder && /\b(?:before|first|every|each|always)\b/i.test(lead + behind));
}

/** The place of a name as a whole word, from `from` on, or -1. */
function wordIn(text: string, name: string, from = 0): number {
  if (name === '') return -1;
  for (let at = text.indexOf(name, from); at !== -1; at = text.indexOf(name, at + 1))
    if (!/[\w-]/.test(text[at - 1] ?? ' ') && !/[\w-]/.test(text[at + name.length] ?? ' ')) return at;
  return -1;
}
