import { type EncodingTools, encodingTools, type PromptMessage, type UserEncoding } from '../chat/rendered.ts';
import { itemAt } from '../lists/at.ts';
import type { EncodingComparison, PromptDifference } from '../rollout/compared.ts';
import { withEncodingFindings } from '../rollout/encoding-findings.ts';
import { maskByIds } from '../rollout/mask-by-ids.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { driftOf, endsOf, tokenTable } from '../rollout/token-table.ts';

/** The rollout with the results of the user's template and tokenizer; unchanged if nothing can be compared. */
export function withEncodingChecks(rollout: Rollout, encoding: UserEncoding | undefined): Rollout {
  const tools = encoding === undefined ? null : encodingTools(encoding);
  if (tools === null) return rollout;
  return withEncodingFindings(rollout, { ...comparedPrompt(rollout, tools), ...comparedIds(rollout, tools) });
}

function comparedPrompt(rollout: Rollout, { render, specials, tokenizer }: EncodingTools): EncodingComparison {
  const recorded = render === null ? null : givenPrompt(rollout, tokenizer);
  if (render === null || recorded === null) return {};
  const messages = rollout.turns
    .slice(0, rollout.responseTurn)
    .flatMap(({ role, text, context }): PromptMessage[] =>
      context === undefined ? [{ role: role === 'given_assistant' ? 'assistant' : role, content: text }] : [],
    );
  const strip = stripper(specials, recorded);
  try {
    const rendered = [true, false].map((opensReply) => strip(render(messages, opensReply)));
    const differences = rendered.map((text) => firstDifference(recorded, text));
    // Writers cut their prompts before or after the header of the reply.
    return { prompt: differences.includes(null) ? null : itemAt(differences, 0) };
  } catch (error) {
    return {
      prompt: {
        at: 0,
        recorded: '',
        rendered: `the template refuses it: ${String(error instanceof Error ? error.message : error)}`,
      },
    };
  }
}

/**
 * The prompt as the model saw it: its ids decoded by the tokenizer, or the text that they were decoded to. null if only
 * messages are recorded.
 */
function givenPrompt(
  { tokens, turns, spans, texts, responseTurn }: Rollout,
  tokenizer: EncodingTools['tokenizer'],
): string | null {
  if (tokens?.promptIds && tokenizer !== null) return tokenizer.pieces(tokens.promptIds).join('');
  const field = spans[0]?.field;
  const own = spans.filter((span) => span.field === field);
  const isWhole = own.every(({ turn, kind }) => turn < responseTurn || (turn < turns.length && kind === 'marker'));
  if (field === undefined || !isWhole || field.startsWith('/') || responseTurn === 0) return null;
  return texts[field] ?? null;
}

/** The special tokens of a template, for a Jinja file that does not list them. */
const MARKS = /<[|｜][^<>\n]{1,40}[|｜]>|<\/?(?:s|bos|eos|start_of_turn|end_of_turn)>/g;

/** A prompt decoded without its special tokens is compared with the template's text without them. */
function stripper(specials: readonly string[], recorded: string): (text: string) => string {
  const isRaw = specials.length > 0 ? specials.some((one) => recorded.includes(one)) : recorded.search(MARKS) !== -1;
  if (isRaw) return (text) => text;
  if (specials.length === 0) return (text) => text.replace(MARKS, '');
  return (text) => specials.reduce((rest, one) => rest.replaceAll(one, ''), text);
}

const SHOWN = 30;

function firstDifference(recorded: string, rendered: string): PromptDifference | null {
  if (recorded === rendered) return null;
  let at = 0;
  while (at < recorded.length && recorded[at] === rendered[at]) at++;
  return { at, recorded: recorded.slice(at, at + SHOWN), rendered: rendered.slice(at, at + SHOWN) };
}

function comparedIds(rollout: Rollout, { tokenizer }: EncodingTools): EncodingComparison {
  if (tokenizer === null || rollout.tokens === undefined) return {};
  const table = tokenTable(rollout, tokenizer);
  if (table === null) return {};
  const drift = driftOf(table, tokenizer);
  return {
    ids:
      drift === null
        ? null
        : { at: drift.row.index, id: drift.row.id, text: drift.row.text ?? '', instead: drift.instead },
    ends: endsOf(table),
    mask: maskByIds(rollout, table),
  };
}
