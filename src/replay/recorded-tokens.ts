import type { Rollout, Turn } from '../core/rollout/rollout.ts';
import type { RenderedPiece, Rendering } from '../engine/index.ts';
import type { Prefix } from './fork-prefix.ts';

/**
 * The recorded tokens up to the regenerated turn, as the prompt of a branch: a server that takes ids continues from what the model saw, not
 * from re-rendered text. The tokens of the turns are known if the mask has one run per reply, and are used if they decode to what was said.
 * @returns the reason as text if they are unknown
 */
export function recordedTokens(
  rollout: Rollout,
  { messages, turn }: Prefix,
  decode: (ids: number[]) => string,
): Rendering | string {
  const { tokens, turns, responseTurn, contexts } = rollout;
  if (tokens === undefined || tokens.promptIds === null || tokens.promptIds.length === 0)
    return 'the record holds no token ids of its prompt';
  if ((contexts?.length ?? 1) > 1) return 'the record holds several message histories';
  if (tokens.mask.length !== tokens.responseIds.length) return 'the record has not one bit of the mask for each token';
  const replies = turns.filter(({ index, role }) => index >= responseTurn && role === 'assistant');
  const starts = tokens.mask.flatMap((bit, at) => (bit !== 0 && (tokens.mask[at - 1] ?? 0) === 0 ? [at] : []));
  if (starts.length !== replies.length)
    return `the mask has ${starts.length} trained runs for ${replies.length} replies`;
  // A run that belongs to no reply would be taken for the beginning of one.
  const others = turns.filter((one) => one.index >= responseTurn && !replies.includes(one));
  if (!replies.every(({ trained }) => trained === true) || others.some(({ trained }) => trained !== false))
    return 'the mask trains other turns than the replies';
  const reply = replies.findIndex(({ index }) => index === turn);
  if (reply === -1) return 'the turn is not a recorded reply';
  const ids = [...tokens.promptIds, ...tokens.responseIds.slice(0, starts[reply])];
  const missing = firstMissing(turns.slice(0, turn), decode(ids));
  if (missing !== null) return `the recorded tokens do not decode to the text of t${missing}: another tokenizer?`;
  return { ids, pieces: piecesBefore(rollout, turn, turn - messages.length) };
}

/** The first turn whose text is missing from the decoded text, searching in order; null if all are found. */
function firstMissing(turns: readonly Turn[], decoded: string): number | null {
  let at = 0;
  for (const { index, text } of turns) {
    const said = text.trim();
    const found = decoded.indexOf(said, at);
    if (found === -1) return index;
    at = found + said.length;
  }
  return null;
}

/** The recorded text before the first word of a turn. @param shift turns that are not messages */
function piecesBefore({ spans, texts }: Rollout, turn: number, shift: number): RenderedPiece[] {
  const pieces: RenderedPiece[] = [];
  for (const span of spans) {
    if (span.turn > turn || (span.turn === turn && span.kind === 'text')) break;
    const text = (texts[span.field] ?? '').slice(span.start, span.end);
    pieces.push({ turn: Math.max(0, span.turn - shift), kind: span.kind, text });
  }
  return pieces;
}
