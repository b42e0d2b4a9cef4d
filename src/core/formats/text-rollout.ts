import { templateOf } from '../chat/own-template.ts';
import { segmentChat, type TemplateChoice } from '../chat/segment.ts';
import { readToolSchemas, typesOf } from '../chat/tool-schemas.ts';
import { completeRollout } from '../rollout/complete.ts';
import { countMask, inferLossMask, type LossMask } from '../rollout/loss-mask.ts';
import type { ReadingClass, Rollout, Span } from '../rollout/rollout.ts';
import { type FoundMessage, type FoundRollout, layMessages, namedParts, wholeRewards } from './build.ts';
import { type EndRule, type LaidOut, layOut, UNKNOWN_END } from './conversation.ts';
import type { ReadContext } from './format.ts';

/** A rollout whose prompt and response are texts, with or without the special tokens of their template. */
export interface FoundTexts
  extends Omit<FoundRollout, 'messages' | 'firstReply' | 'contexts' | 'returns' | 'hasCallsApart'> {
  prompt: string;
  response: string;
  promptField: string;
  /** The response includes the prompt: the whole text, at its places in the record. */
  isWhole?: true;
  /** Whether the writer trains the ends of sampled turns; unknown if not recorded. */
  end?: EndRule;
  /** The prompt is recorded only as messages, without text. */
  promptMessages?: readonly FoundMessage[];
  /**
   * The response includes the prompt; the model's text, and what it was given in between, are recorded as messages
   * after it.
   */
  replies?: readonly FoundMessage[];
  /** The place of the response: one, or several concatenated. */
  responseField: string | readonly { pointer: string; length: number }[];
}

/** The user's settings for the templates of texts. */
export const chatOf = ({ chatTemplate, templates, forms }: ReadContext): TemplateChoice => ({
  name: chatTemplate ?? null,
  own: templates?.map(templateOf) ?? [],
  ...(forms === undefined ? {} : { forms }),
});

/** Declared if the user named the template of the text, and nothing of it is unknown. */
export function inferredMask(
  spans: readonly Span[],
  fields: readonly string[],
  { chatTemplate }: ReadContext,
): LossMask {
  const mask = inferLossMask(spans, fields);
  return chatTemplate !== undefined && mask.unknownChars === 0 ? { ...mask, source: 'declared' } : mask;
}

export function textRollout(found: FoundTexts, context: ReadContext): Rollout {
  const { prompt, response, promptField } = found;
  const { validation } = context;
  const pieces = typeof found.responseField === 'string' ? null : found.responseField;
  const responseField = pieces === null ? (found.responseField as string) : '/response';
  const toolSchemas = Array.isArray(found.tools) ? found.tools : readToolSchemas(prompt);
  const end = found.end ?? UNKNOWN_END;
  let reading: ReadingClass = 'lost';
  const lay = (given: string, replied: string, field = promptField): LaidOut => {
    const chat = segmentChat(given, replied, chatOf(context));
    reading = chat.class;
    return layOut(chat.turns, {
      promptField: field,
      responseField,
      prompt: given,
      response: replied,
      validation,
      end,
      grammars: chat.template?.calls ?? [],
      typeOf: typesOf(toolSchemas),
    });
  };
  const replies = found.replies ? layMessages(found.replies, context) : null;
  const laid = replies
    ? joinBehind(lay(response, '', responseField), replies)
    : found.isWhole
      ? byRole(lay(response, '', responseField), validation)
      : isHalfStripped(prompt, response)
        ? behindPrompt(prompt, response, responseField, lay)
        : found.promptMessages
          ? behindMessages(found.promptMessages, response, responseField, context, lay)
          : lay(prompt, response);
  if (found.isUnsampled) forgetMask(laid);
  const { turns, responseTurn } = laid;
  const spans = pieces === null ? laid.spans : inPieces(laid.spans, responseField, pieces);
  const texts: Record<string, string> = found.promptMessages
    ? layMessages(found.promptMessages, context).texts
    : promptField === '' && prompt === ''
      ? {}
      : { [promptField]: prompt };
  if (pieces === null) texts[responseField] = response;
  let at = 0;
  for (const { pointer, length } of pieces ?? []) {
    texts[pointer] = response.slice(at, at + length);
    at += length;
  }
  Object.assign(texts, replies?.texts);
  const fields = [...(pieces?.map(({ pointer }) => pointer) ?? [responseField]), ...Object.keys(replies?.texts ?? {})];
  const { tokens, mask } = found;
  const lossMask =
    mask === undefined || mask === 'inferred'
      ? inferredMask(spans, fields, context)
      : {
          source: mask,
          ...countMask(spans, fields),
          trainedTokens: tokens?.mask.reduce((sum, bit) => sum + (bit === 0 ? 0 : 1), 0) ?? null,
          totalTokens: tokens?.mask.length ?? null,
        };
  return completeRollout(
    {
      ...namedParts(found),
      texts,
      turns,
      spans,
      responseTurn,
      toolSchemas,
      validation,
      reading,
      lossMask: validation && mask !== 'recorded' ? null : lossMask,
      rewards: {
        ...wholeRewards(found),
        perTurn: null,
        returns: null,
      },
    },
    context.errors,
  );
}

/** Nothing says that a run sampled the reply or trained on it. */
function forgetMask({ spans, turns }: LaidOut): void {
  for (const one of [...spans, ...turns]) if (one.trained === true) one.trained = null;
}

/** The prompt kept its special tokens, and the response was decoded without them. */
const isHalfStripped = (prompt: string, response: string): boolean =>
  /<\|im_start\|>/.test(prompt) &&
  !/<\|im_(?:start|end)\|>/.test(response) &&
  /\n(?:user|tool|assistant)\n/.test(response);

/** The text of a whole conversation was laid out as given text; the model's turns in it were sampled. */
function byRole(laid: LaidOut, validation: boolean): LaidOut {
  for (const span of laid.spans)
    if (laid.turns[span.turn]?.role === 'assistant')
      span.trained = validation ? false : span.kind === 'text' ? true : null;
  for (const turn of laid.turns) if (turn.role === 'assistant') turn.trained = !validation && turn.text !== '';
  const first = laid.turns.findIndex(({ role }) => role === 'assistant');
  return { ...laid, responseTurn: first === -1 ? laid.turns.length : first };
}

type Lay = (prompt: string, response: string, promptField?: string) => LaidOut;

/** The halves are read separately, because one says nothing about the markers of the other. */
function behindPrompt(prompt: string, response: string, responseField: string, lay: Lay): LaidOut {
  const { turns, spans } = lay('assistant\n', response, '');
  return joinBehind(lay(prompt, ''), { turns, spans: spans.filter(({ field }) => field === responseField) });
}

/** The header at the end of the prompt, which waits for the response, belongs to the reply. */
function joinBehind(head: LaidOut, tail: Pick<LaidOut, 'turns' | 'spans'>): LaidOut {
  const [last] = head.turns.slice(-1);
  const waits = last?.role === 'assistant' && last.text.trim() === '' && tail.turns.length > 0;
  const first = head.turns.length - (waits ? 1 : 0);
  return joinTurns({ turns: head.turns.slice(0, first), spans: head.spans }, tail, first);
}

/** The second half's turns and calls continue the numbering of the first. */
function joinTurns(
  head: Pick<LaidOut, 'turns' | 'spans'>,
  tail: Pick<LaidOut, 'turns' | 'spans'>,
  first: number,
): LaidOut {
  const calls = head.turns.reduce((sum, turn) => sum + turn.toolCalls.length, 0);
  for (const turn of tail.turns) {
    turn.index += first;
    for (const call of turn.toolCalls) {
      call.index += calls;
      if (call.resultTurn !== null) call.resultTurn += first;
    }
  }
  for (const span of tail.spans) span.turn += first;
  return { turns: [...head.turns, ...tail.turns], spans: [...head.spans, ...tail.spans], responseTurn: first };
}

/** The template's text before a reply; the response continues from there, whoever wrote its prompt. */
const REPLY_HEADER = '<|im_start|>assistant\n';

/** The turns of a response that follow a prompt of messages. */
function behindMessages(
  messages: readonly FoundMessage[],
  response: string,
  responseField: string,
  context: ReadContext,
  lay: Lay,
): LaidOut {
  const head = layMessages(messages, context);
  const laid = response === '' ? { turns: [], spans: [] } : lay(REPLY_HEADER, response, '');
  const spans = laid.spans.filter(({ field }) => field === responseField);
  return joinTurns(head, { turns: laid.turns, spans }, head.turns.length);
}

/** Spans of a text stored in several places: each is split at the places' borders. */
function inPieces(
  spans: readonly Span[],
  field: string,
  pieces: readonly { pointer: string; length: number }[],
): Span[] {
  return spans.flatMap((span): Span[] => {
    if (span.field !== field) return [span];
    const cut: Span[] = [];
    let from = 0;
    for (const { pointer, length } of pieces) {
      const start = Math.max(span.start, from);
      const end = Math.min(span.end, from + length);
      if (end > start) cut.push({ ...span, field: pointer, start: start - from, end: end - from });
      from += length;
    }
    return cut;
  });
}
