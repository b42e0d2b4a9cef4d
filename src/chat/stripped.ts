import { bestBorders, type Zone } from './borders.ts';
import { addPiece, type ChatTurn, toolTurns } from './chat-turn.ts';
import { findRoleLines, type RoleLine } from './role-lines.ts';

/** A chosen border: where the turn before ends, where the new turn's text starts, and what is known of it. */
interface Border {
  role: string;
  start: number;
  end: number;
  toolResponse: boolean;
  confidence: ChatTurn['confidence'];
}

/** What it costs to read the response's end as a user turn, against 1 for a role line left unexplained. */
const LONE_USER_END = 2;
const USER_END = 0.5;

/** What may stand behind the generation prompt's role line: nothing, or the think tags that some templates add. */
const PROMPT_TAIL = /^\s*(?:<think>\s*(?:<\/think>\s*)?)?$/;

/**
 * Turns of ChatML text that was decoded without its special tokens: only bare role lines are left between turns.
 *
 * The rule. Certain borders come first: the start of the prompt, the generation prompt at its end, the start of the
 * response, and forms that only a template writes (see RoleLine.strong). Between two certain borders every other role line is a
 * candidate, and the turns must follow each other as a conversation does (user after system, assistant after user or
 * tool, tool only behind a closed call; a user turn is not empty, and one in the response is answered). Of all legal
 * readings the one is taken that leaves the fewest turns with an unexplained role line in them, the earlier border on a tie.
 * A turn that holds an unexplained line is `inferred`, and so is, where more than one reading is legal, every turn that
 * touches a judged border.
 *
 * @param text prompt + response  @param boundary the prompt's length, in UTF-16 units
 */
export function segmentStripped(text: string, boundary: number): ChatTurn[] {
  const promptLines = findRoleLines(text, 0, boundary);
  const first = promptLines[0];
  const startsWithRole = first !== undefined && text.slice(0, first.start).trim() === '';
  if (startsWithRole) promptLines.shift();
  const opening: Border = startsWithRole
    ? { role: first.role, start: 0, end: first.end, toolResponse: first.toolResponse, confidence: 'marked' }
    : { role: 'user', start: 0, end: 0, toolResponse: false, confidence: 'inferred' };

  // The generation prompt: the last role line of the prompt, with nothing but think tags behind it.
  const last = promptLines.at(-1) ?? (startsWithRole ? first : undefined);
  const generation = last?.role === 'assistant' && PROMPT_TAIL.test(text.slice(last.end, boundary)) ? last : undefined;
  if (generation && generation === promptLines.at(-1)) promptLines.pop();

  const prefix = generation ? text.slice(generation.end, boundary) : '';
  const responseLines = findRoleLines(
    text,
    boundary,
    text.length,
    prefix.includes('<think>') && !prefix.includes('</think>'),
  );
  const header =
    responseLines[0]?.role === 'assistant' && responseLines[0].start === boundary ? responseLines.shift() : undefined;

  const borders: Border[] = [];
  if (generation === undefined || generation !== first) {
    const asks = opening.role === 'user' || promptLines.some((line) => line.role === 'user');
    const ends = generation ? ['user', 'tool', ...(asks ? [] : ['system'])] : ['system', 'user', 'assistant', 'tool'];
    borders.push(...layZones(text, opening, promptLines, { mustEnd: ends, endCost: {} }));
  }
  // The response belongs to the generation prompt's turn, or to a prompt that ends inside an assistant turn (a prefill).
  const responseStart: Border | undefined = generation
    ? {
        role: 'assistant',
        start: generation === first ? 0 : generation.start,
        end: generation.end,
        toolResponse: false,
        confidence: 'marked',
      }
    : borders.at(-1)?.role === 'assistant'
      ? borders.pop()
      : boundary < text.length
        ? {
            role: 'assistant',
            start: boundary,
            end: header?.end ?? boundary,
            toolResponse: false,
            confidence: 'marked',
          }
        : undefined;
  if (responseStart) {
    const lay = (user: number) =>
      layZones(text, responseStart, responseLines, { mustEnd: ['assistant', 'tool', 'user'], endCost: { user } });
    // A response that ends inside a user turn: likelier a stray line of the model, unless somebody answered it before.
    const once = lay(LONE_USER_END);
    borders.push(...(once.some((border) => border.role === 'user' && !border.toolResponse) ? lay(USER_END) : once));
  }

  return layTurns(text, borders, header);
}

/** Splits role lines at the certain ones and chooses the borders of each zone between them. */
function layZones(text: string, opening: Border, lines: RoleLine[], end: Pick<Zone, 'mustEnd' | 'endCost'>): Border[] {
  const borders: Border[] = [];
  let start = opening;
  let weak: RoleLine[] = [];
  const finish = (constraint: Pick<Zone, 'mustEnd' | 'endCost'>) => {
    const zone: Zone = {
      text,
      startRole: start.toolResponse ? 'tool' : start.role,
      startEnd: start.end,
      lines: weak,
      ...constraint,
    };
    const { chosen, certain, tainted } = bestBorders(zone);
    const turns = [start, ...chosen.map((index): Border => ({ ...(weak[index] as RoleLine), confidence: 'inferred' }))];
    for (const [i, border] of turns.entries()) {
      const judged = i > 0 || i + 1 < turns.length || tainted.has(i);
      const isSure = certain && !tainted.has(i);
      borders.push({ ...border, confidence: isSure ? start.confidence : judged ? 'inferred' : border.confidence });
    }
    weak = [];
  };
  for (const line of lines) {
    if (!line.strong) {
      weak.push(line);
      continue;
    }
    // Results are written behind the model's calls, and the model goes on behind results.
    finish(
      line.role === 'assistant'
        ? { mustEnd: ['tool', 'user', 'assistant'], endCost: {} }
        : { mustEnd: ['assistant', 'tool'], endCost: { tool: 1 } },
    );
    start = {
      ...line,
      confidence: line.toolResponse && !line.callBefore && borders.at(-1)?.role === 'assistant' ? 'inferred' : 'marked',
    };
  }
  finish(end);
  return borders;
}

function layTurns(text: string, borders: Border[], header: RoleLine | undefined): ChatTurn[] {
  const turns: ChatTurn[] = [];
  for (const [i, border] of borders.entries()) {
    const next = borders[i + 1];
    const markerStart = i === 0 ? 0 : separatorStart(text, border.start, borders[i - 1]!.end);
    // Behind a last turn that the model did not write, the newline is the template's as well.
    const bodyEnd =
      border.role === 'assistant' || next !== undefined ? text.length : separatorStart(text, text.length, border.end);
    const textEnd = next === undefined ? bodyEnd : separatorStart(text, next.start, border.end);
    if (border.toolResponse) {
      turns.push(
        ...toolTurns(text, markerStart, border.end, next === undefined ? text.length : textEnd, border.confidence),
      );
      continue;
    }
    const turn: ChatTurn = { role: border.role, confidence: border.confidence, pieces: [] };
    addPiece(turn, 'marker', markerStart, border.end);
    if (header && header.start >= border.end && header.end <= textEnd && border.role === 'assistant') {
      addPiece(turn, 'text', border.end, header.start);
      addPiece(turn, 'marker', header.start, header.end);
      addPiece(turn, 'text', header.end, textEnd);
    } else {
      addPiece(turn, 'text', border.end, textEnd);
    }
    if (next === undefined) addPiece(turn, 'marker', bodyEnd, text.length);
    turns.push(turn);
  }
  return turns;
}

/** The newline before a role line was written by the template, unless it already ends the header before. */
const separatorStart = (text: string, start: number, previousEnd: number): number =>
  start > previousEnd && text[start - 1] === '\n' ? start - 1 : start;
