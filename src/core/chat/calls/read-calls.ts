import { bareJson, gemma4Calls, graniteCalls, harmonyCalls, mistralCalls } from './bare.ts';
import { type CallGrammar, NO_TYPES, type ParsedCall, type TypeOf } from './call.ts';
import { fenceCalls, retoolCalls, searchCalls } from './environment.ts';
import { coderCalls, hermesCalls, TAGGED } from './tagged.ts';

/** Grammars whose calls are recognised by their tags in any text. */
const BY_TAGS: readonly CallGrammar[] = [...TAGGED, mistralCalls, gemma4Calls];

/**
 * Grammars that must be named, or have a result after the turn, because ordinary text may look like one of their calls.
 */
const BY_NAME: readonly CallGrammar[] = [bareJson, harmonyCalls, graniteCalls, searchCalls, retoolCalls, fenceCalls];

/** All grammars that can be named; of the two that share their tags, `tool_call` reads texts of unknown origin. */
export const GRAMMARS: readonly CallGrammar[] = [hermesCalls, coderCalls, ...BY_TAGS, ...BY_NAME];

export interface ReadCallsOptions {
  /** Grammars that the template names. */
  names?: readonly string[];
  /** A result follows the text, so its end is a call, whatever it looks like. */
  answered?: boolean;
  typeOf?: TypeOf;
}

/** The first characters of the opening tags; a text without those of a grammar contains none of its calls. */
const MAY_HOLD =
  /<tool_call|<function_calls>|<minimax:|<seed:tool|<\|tool_call|<\|START_ACTION|<\|action_start|<｜|\[TOOL_CALLS\]/g;

/** All calls in a model's text, in text order, complete and broken ones. */
export function readCalls(
  text: string,
  { names = [], answered = false, typeOf = NO_TYPES }: ReadCallsOptions = {},
): ParsedCall[] {
  let calls: ParsedCall[] = [];
  const tags = text.match(MAY_HOLD);
  if (tags !== null)
    for (const grammar of BY_TAGS)
      if (tags.some((tag) => grammar.open!.startsWith(tag))) calls = calls.concat(grammar.read(text, typeOf));
  for (const grammar of BY_NAME) if (names.includes(grammar.name)) calls = calls.concat(grammar.read(text, typeOf));
  if (answered && calls.length === 0)
    for (const grammar of BY_NAME) {
      calls = calls.concat(grammar.read(text, typeOf));
      if (calls.length > 0) break;
    }
  return callsApart(calls.sort((a, b) => a.start - b.start));
}

/** In text order, without overlap; of two overlapping calls the earlier one stays. */
function callsApart(calls: ParsedCall[]): ParsedCall[] {
  let at = 0;
  return calls.filter((call) => {
    if (call.start < at) return false;
    at = call.end;
    return true;
  });
}
