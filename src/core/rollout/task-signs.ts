import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../json/value.ts';
import { itemAt, lastItem } from '../lists/at.ts';
import { askedForms, bareAnswer, givenAnswer, isSameNumber } from './answer-forms.ts';
import { demandedTools } from './demanded-tools.ts';
import type { CheckDeclaration, Notice } from './finding.ts';
import { refusalIn } from './refusal.ts';
import { isResult, type ToolCall, type UncheckedRollout } from './rollout.ts';
import { isModels } from './text-scan.ts';

/** Signs that a rollout did not do what its task asked, or that its score does not reflect what it did. */
export const TASK_CHECKS = {
  answer_form: { needs: 'reply', word: 'no form', severity: 'warning' },
  tool_unused: { needs: 'reply', word: 'tool unused', severity: 'warning' },
  call_schema: { needs: 'schemas', word: 'schema', severity: 'warning' },
  budget_out: { needs: 'given', word: 'budget', severity: 'warning' },
  gave_up: { needs: 'reply', word: 'gave up', severity: 'warning' },
  junk_text: { needs: 'reply', word: 'junk', severity: 'warning' },
  near_answer: { needs: 'scored_truth', word: 'right?', severity: 'warning' },
  result_reward: { needs: 'scored_results', word: 'reward?', severity: 'warning' },
} as const satisfies Record<string, CheckDeclaration>;

type NoticeTask = Notice<keyof typeof TASK_CHECKS>;

export function checkTask(rollout: UncheckedRollout, notice: NoticeTask): void {
  const { turns, responseTurn } = rollout;
  const replies = turns.filter((turn, i) => i >= responseTurn && isModels(turn));
  checkCallSchemas(rollout, notice);
  checkBudget(rollout, notice);
  checkResultReward(rollout, notice);
  if (!replies.some(({ text }) => text.trim() !== '')) return;
  const prompt = turns
    .slice(0, responseTurn)
    .filter(({ role }) => role === 'system' || role === 'user')
    .map(({ text }) => text)
    .join('\n');
  const last = lastItem(replies);
  const said = replies.map(({ text }) => text).join('\n');
  const isPaid = rollout.score !== null && rollout.score > 0;
  if (!isPaid && last.toolCalls.length === 0 && turns.at(-1) === last) {
    const forms = askedForms(prompt);
    if (forms.length > 0 && !forms.some((form) => form.isIn(said)))
      notice(
        'answer_form',
        last.index,
        `the prompt names the form ${forms.map(({ name }) => name).join(' or ')} of an answer, and the reply has none`,
      );
  }
  const unused = unusedTool(prompt, rollout);
  if (unused !== null) notice('tool_unused', null, `the prompt demands a call of ${unused}, and none was made`);
  if (!isPaid && turns.at(-1) === last && last.toolCalls.length === 0 && !isDialogue(rollout)) {
    const words = last.text.slice(-LAST_WORDS);
    const refusal = refusalIn(words);
    const given = givenAnswer(last.text);
    if (given === null && ASKS.test(words))
      notice('gave_up', last.index, 'the last words ask somebody for more, and nobody answers');
    else if (refusal !== null && (given === null || refusalIn(given) !== null))
      notice('gave_up', last.index, `the last words read like a refusal: “${refusal.slice(0, 80)}”`);
  }
  for (const turn of replies) {
    const junk = junkIn(turn.text);
    if (junk === null) continue;
    notice('junk_text', turn.index, `words without a sentence: “${junk}”`);
    break;
  }
  checkNearAnswer(rollout, said, notice);
}

/** Somebody talks with the model in the response: a person may be refused what an environment never asks for. */
const isDialogue = ({ turns, responseTurn }: UncheckedRollout): boolean =>
  turns.some(({ role, text }, i) => i >= responseTurn && role === 'user' && !ENVIRONMENT.test(text)) ||
  turns.slice(0, responseTurn).some(({ role }) => role === 'assistant');

const DEMANDS =
  /\b(?:must|should|shall|need to|have to|has to|are required to|is required to|always)\s+(?:\w+ ){0,3}?(?:use|call|invoke)\s+(?:the |a |an )?[`"'*]{0,2}([\w.-]+)[`"'*]{0,2}\s+(?:tool|function)\b(?![^.\n]{0,80}\b(?:if|when|unless|where|only|optional)\b)/i;
const ANY_OF =
  /\b(?:must|have to|has to|(?:is|are) required to|always)\s+(?:use|call|invoke)\s+(?:(?:at least )?(?:one|some|any) of )?(?:the |your )?(?:provided |available |given |following )?(?:tools|functions)\b(?![^.\n]{0,80}\b(?:if|when|unless|where|only|optional|in order|as needed)\b)/i;
const CONDITION = /\b(?:if|when|unless|before you|in case|whenever)\b[^.\n]{0,80}$/i;
const ANY_TOOL = new Set([
  'provided',
  'available',
  'given',
  'right',
  'appropriate',
  'correct',
  'following',
  'search',
  'each',
  'every',
  'this',
  'that',
  'any',
  'one',
  'same',
  'relevant',
  'suitable',
  'necessary',
  'needed',
]);

/** The tool that the prompt requires and that was not called; null if it requires none. */
function unusedTool(prompt: string, { turns, responseTurn, toolSchemas }: UncheckedRollout): string | null {
  const calls = (name: string): boolean =>
    turns.some(({ toolCalls }, i) => i >= responseTurn && toolCalls.some((call) => call.name === name));
  const missed = demandedTools(prompt, [...schemaNames(toolSchemas)]).find((names) => !names.some(calls));
  if (missed !== undefined) return missed.join(' or ');
  const isCalled = turns.some((turn, i) => i >= responseTurn && (turn.toolCalls.length > 0 || isResult(turn)));
  const any = isCalled ? null : ANY_OF.exec(prompt);
  if (any !== null && !CONDITION.test(prompt.slice(0, any.index))) return 'a tool';
  const found = DEMANDS.exec(prompt);
  if (found === null || CONDITION.test(prompt.slice(0, found.index))) return null;
  const name = found[1] ?? '';
  const isNamed = schemaNames(toolSchemas).has(name) || /_/.test(name);
  if (isNamed) return calls(name) ? null : name;
  return ANY_TOOL.has(name.toLowerCase()) && !isCalled ? 'a tool' : null;
}

const schemaFunction = (schema: JsonValue): JsonObject | null => {
  if (!isJsonObject(schema)) return null;
  const own = isJsonObject(schema.function) ? schema.function : schema;
  return typeof own.name === 'string' ? own : null;
};

const schemaNames = (schemas: readonly JsonValue[]): Set<string> =>
  new Set(schemas.flatMap((schema) => schemaFunction(schema)?.name ?? []) as string[]);

/** A call whose tool or arguments are not in the schemas. */
function checkCallSchemas({ turns, responseTurn, toolSchemas }: UncheckedRollout, notice: NoticeTask): void {
  if (toolSchemas.length === 0) return;
  const tools = new Map(
    toolSchemas.flatMap((schema) => {
      const own = schemaFunction(schema);
      return own === null ? [] : [[stringIn(own.name), own] as const];
    }),
  );
  if (tools.size === 0) return;
  for (let i = responseTurn; i < turns.length; i++)
    for (const call of itemAt(turns, i).toolCalls) {
      const against = againstSchema(call, tools);
      if (against !== null) {
        notice('call_schema', i, against);
        return;
      }
    }
}

function againstSchema(
  { name, arguments: given, error }: ToolCall,
  tools: ReadonlyMap<string, JsonObject>,
): string | null {
  if (name === null || error !== null) return null;
  const tool = tools.get(name);
  if (tool === undefined) return `${name} is not among the tools that the prompt lists`;
  const parameters = tool.parameters ?? tool.input_schema;
  if (!isJsonObject(parameters) || !isJsonObject(parameters.properties) || !isJsonObject(given)) return null;
  const { properties } = parameters;
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  for (const key of required)
    if (typeof key === 'string' && !(key in given))
      return `${name} was called without ${key}, which its schema requires`;
  if (parameters.additionalProperties !== true && Object.keys(properties).length > 0)
    for (const key of Object.keys(given))
      if (!(key in properties)) return `${name} was called with ${key}, which its schema does not know`;
  for (const [key, value] of Object.entries(given)) {
    const schema = properties[key];
    if (isJsonObject(schema) && typeof schema.type === 'string' && !isOfType(value, schema.type))
      return `${name} was called with ${key} as ${typeOf(value)}, and its schema says ${schema.type}`;
  }
  return null;
}

const typeOf = (value: JsonValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value === 'bigint' ? 'integer' : typeof value;

function isOfType(value: JsonValue, type: string): boolean {
  const own = typeOf(value);
  // A reader may have kept the digits of a number as text, and null means an omitted argument.
  if (own === 'null' || own === type || !KNOWN_TYPES.has(type)) return true;
  if (type === 'number')
    return own === 'integer' || (own === 'string' && value !== '' && Number.isFinite(Number(value)));
  if (type === 'integer')
    return (own === 'number' && Number.isInteger(value)) || (own === 'string' && /^-?\d+$/.test(stringIn(value)));
  if (type === 'boolean') return own === 'string' && /^(?:true|false)$/i.test(stringIn(value));
  return false;
}

const KNOWN_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

const COUNTED = String.raw`(?:calls?|turns?|steps?|iterations?|rounds?|attempts?|moves?|actions?|queries|requests|searches|guesses|tries)`;
const UNIT = `(?:(?:tool|function|search)[ _-]?)?${COUNTED}`;
/** In every form of a budget, and quickly found missing. */
const NAMES_UNIT = new RegExp(String.raw`${COUNTED}\b`, 'i');
/** A user turn that an environment wrote: its name before what it says, or what is left of a budget. */
const ENVIRONMENT = new RegExp(
  String.raw`^\s*(?:observation|environment|feedback|execution|result|output)s?(?: \w{1,12})?:|\b\d+ (?:more )?${UNIT} (?:left|remaining|remain)\b`,
  'i',
);
/** Forms beside those of BUDGET: a limit behind what it limits, a counter at its end. */
const SPENT = new RegExp(
  [
    String.raw`\b${UNIT}\s+(?:limit|budget)\b[^.\n]{0,30}\b(?:exceeded|reached|exhausted|used up|hit)\b`,
    String.raw`\b${UNIT}\s+(?:left|remaining)\s*[:=]\s*0\b(?!\.\d)`,
    String.raw`\b(?:left|remaining)\s+${UNIT}\s*[:=]\s*0\b(?!\.\d)`,
    String.raw`\bno (?:more )?${UNIT}\s+(?:are |is )?(?:left|remaining|remain)\b`,
    String.raw`\bused (?:all )?(\d+) (?:of|out of|/) (?:your |the )?\1 ${UNIT}\b`,
    String.raw`\b(?:ran|run|are|is) out of ${UNIT}\b`,
  ].join('|'),
  'i',
);
const BUDGET =
  /\b(?:max(?:imum)?(?: (?:number|amount) of)?|limit (?:of|on)|budget (?:of|for)|allowed number of)\s*(?:\d+ )?(?:tool[ _-]?|function[ _-]?|search )?(?:calls?|turns?|steps?|iterations?|rounds?|attempts?|moves?|actions?|queries|requests|searches)\b[^.\n]{0,40}\b(?:reached|exceeded|exhausted|used up|hit)\b|\b(?:reached|exceeded|exhausted|used up|hit)\b[^.\n]{0,30}\b(?:max(?:imum)?|limit|budget)\b[^.\n]{0,40}\b(?:calls?|turns?|steps?|iterations?|rounds?|attempts?|moves?|actions?|queries|requests|searches)\b|\b(?:no|0|zero) (?:more )?(?:tool )?(?:calls|turns|steps|attempts|moves|actions|rounds|queries) (?:left|remaining|remain)\b|\bout of (?:moves|turns|steps|attempts|calls)\b/i;

/** The environment reported that the budget of calls or turns ran out. */
function checkBudget({ turns, responseTurn, ended }: UncheckedRollout, notice: NoticeTask): void {
  if (/turns|steps|calls|iterations/.test(ended.evidence) && ended.how === 'length') {
    notice('budget_out', null, `the budget ran out: ${ended.evidence}`);
    return;
  }
  for (let i = turns.length - 1; i >= Math.max(responseTurn, turns.length - 6); i--) {
    const turn = itemAt(turns, i);
    if (isModels(turn) || turn.text.length > 2000 || !NAMES_UNIT.test(turn.text)) continue;
    const found = BUDGET.exec(turn.text) ?? SPENT.exec(turn.text);
    if (found === null) continue;
    notice('budget_out', i, `the budget ran out: “${found[0].slice(0, 80)}”`);
    return;
  }
}

const LAST_WORDS = 400;
const ASKS =
  /(?:\b(?:would you (?:like|prefer)|do you want me to)\b(?![^?]*\b(?:more|else|another|further|additional|details?|examples?|help|explanation)\b)[^?]{0,160}\?|\b(?:which|what|who|where|when|from which|how many)\b[^?.]{0,100}\b(?:would you like|do you (?:want|prefer|mean|need)|should I)\b[^?]{0,100}\?|\b(?:which|what|when)\b[^?.]{0,60}\b(?:works?|suits?)\b[^?.]{0,20}\byou\?|\b(?:shall|should) I (?:proceed|go ahead|continue|start)\b[^?]{0,100}\?|(?:could|can|would|will) you (?:please )?(?:provide|clarify|share|specify|confirm|tell|give|upload|let me know)\b[^?]{0,200}\?|please (?:provide|clarify|share|specify|upload)\b[^.?]{0,160}[.?]|let me know (?:how|what|which|if you (?:can|could|have(?! (?:any|other|further|more|additional)\b)))\b(?! (?:you think|else)\b)[^.?]{0,160}[.?]|\bI(?:['’]d| would| will|['’]ll)? need (?:some )?(?:more|additional|further) (?:information|details|context|input)\b[^.?]{0,120}[.?])(?:\s*(?:thank|once|then I|I['’]ll|I will|I look|looking forward|with (?:that|this|it))\b[^.?!\n]{0,120}[.!])?\s*$/i;
/** Words that occur in all prose of their language. */
const COMMON =
  /\b(?:the|of|and|to|in|is|it|that|for|on|with|as|be|this|we|you|are|at|by|or|from|not|an?|so|if|de|la|el|en|y|que|und|der|die|das|ist|et|le|les|des|un|une|i|he|she|they|can|will|have|has|do|let|my|your|our|its|then|there|which|what|no)\b/i;
const JUNK_WORDS = 40;
const WORD = /[^ \t,.]+/g;

const LONGEST_WORD = 30;

/** The first run of words without any function word that makes a sentence, in a text that began as prose. */
export function junkIn(text: string): string | null {
  if (text.length < 1000 || !COMMON.test(text.slice(0, 300))) return null;
  for (const run of wordRuns(text)) {
    // A long text may be one run: its words are never held all at once.
    const some: string[] = [];
    for (const [word] of run.matchAll(WORD)) {
      if (some.push(word) < JUNK_WORDS) continue;
      if (!COMMON.test(some.join(' ')) && new Set(some).size >= JUNK_WORDS * 0.8) return some.slice(0, 8).join(' ');
      some.splice(0, JUNK_WORDS / 2);
    }
  }
  return null;
}

/**
 * The runs of at least JUNK_WORDS words of 2 to 30 Latin letters, each followed by one to three separators. One pass over the characters:
 * a regex for whole runs begins again at each letter of a run that is too short.
 */
export function* wordRuns(text: string): Generator<string> {
  let start = 0;
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const word = at;
    while (isLatin(text.charCodeAt(at))) at++;
    const end = at;
    while (at - end < 3 && isSeparator(text.charCodeAt(at))) at++;
    if (end - word >= 2 && end - word <= LONGEST_WORD && at > end) {
      if (count === 0) start = word;
      count++;
      continue;
    }
    if (count >= JUNK_WORDS) yield text.slice(start, word);
    // The end of a longer word may begin a run.
    count = end - word > LONGEST_WORD && at > end ? 1 : 0;
    start = end - LONGEST_WORD;
    if (at === word) at++;
  }
  if (count >= JUNK_WORDS) yield text.slice(start);
}

/** false for NaN, which a place behind the text has. */
const isLatin = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
/** A space, a tab, a comma or a full stop. */
const isSeparator = (code: number): boolean => code === 32 || code === 9 || code === 44 || code === 46;

/** A truth that is a single short text. */
function shortTruths(truth: JsonValue | undefined): string[] {
  const values = Array.isArray(truth)
    ? truth
    : isJsonObject(truth)
      ? [truth.target, truth.answer, truth.ground_truth].flat()
      : [truth];
  return values
    .flatMap((value) => (typeof value === 'string' || typeof value === 'number' ? [String(value).trim()] : []))
    .filter((value) => value !== '' && value.length <= 120)
    .slice(0, 20);
}

/** Whether a truth is short enough to compare with an answer. */
export const hasShortTruth = (truth: JsonValue | undefined): boolean => shortTruths(truth).length > 0;

function checkNearAnswer(
  { groundTruth, score, responseTurn }: UncheckedRollout,
  said: string,
  notice: NoticeTask,
): void {
  if (score === null || score > 0) return;
  const given = givenAnswer(said);
  if (given === null) return;
  const bare = bareAnswer(given);
  if (bare === '') return;
  for (const truth of shortTruths(groundTruth)) {
    const own = bareAnswer(givenAnswer(truth) ?? truth);
    if (own !== bare && !isSameNumber(own, bare)) continue;
    notice(
      'near_answer',
      responseTurn,
      `the answer “${given.slice(0, 60)}” reads like the truth “${truth.slice(0, 60)}”, and the score is ${score}`,
    );
    return;
  }
}

const REWARD = /\breward["'`*]{0,2}\s*[=:]\s*["'`*]{0,2}(-?\d+(?:\.\d+)?)/gi;

/** A tool reported full reward to the model, and the score is zero, or the reverse. */
function checkResultReward({ turns, responseTurn, score }: UncheckedRollout, notice: NoticeTask): void {
  if (score === null || Number.isNaN(score)) return;
  let stated: { value: number; turn: number } | null = null;
  for (let i = responseTurn; i < turns.length; i++)
    if (isResult(itemAt(turns, i)) && itemAt(turns, i).text.length < 4000)
      for (const match of itemAt(turns, i).text.matchAll(REWARD)) stated = { value: Number(match[1]), turn: i };
  if (stated === null) return;
  if ((stated.value >= 1 && score <= 0) || (stated.value <= 0 && score >= 1))
    notice('result_reward', stated.turn, `a result says reward ${stated.value}, and the score is ${score}`);
}
