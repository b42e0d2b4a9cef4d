/**
 * Finds the lines that may be role headers in text whose special tokens were stripped, and says what speaks for each.
 *
 * A candidate is a line that is exactly a role word, or one that ends with a role word glued to `</tool_call>` or
 * `</tool_response>` (agent loops lost the newline behind what the model sampled from 2025-06 to 2026-07). `user` glued to other
 * text counts only where the next role line is `assistant`: then somebody answers it. Lines inside a closed code fence, a closed
 * `<think>` or a closed `<tool_call>` are a turn's own text and no candidates.
 */
export interface RoleLine {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** Where the role word starts, and where the text behind its newline does. */
  start: number;
  end: number;
  /**
   * Only a template writes this form: `tool` or `user` + `<tool_response>` behind `</tool_call>`, and `assistant` or
   * another response behind the `</tool_response>` of an open result. It is a border, wherever it stands.
   */
  strong: boolean;
  /** `user` whose text begins with `<tool_response>`. */
  toolResponse: boolean;
  /** A tool call was closed since the role line before. */
  callBefore: boolean;
  /** Glued to text that is not a closing tag. */
  glued: boolean;
}

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
const TAGS = ['<think>', '</think>', '<tool_call>', '</tool_call>', '</tool_response>'] as const;
const FENCE = / {0,3}(`{3,}|~{3,})([^\n]*)/y;
/** The end of an open tool result: its closing tag, then the header of the next turn. */
const RESULT_END = /<\/tool_response>\s*(?:(?=assistant(?:\n|$))|(?=user\n<tool_response>))/g;

interface Fence {
  char: string;
  length: number;
  since: number;
}

export function findRoleLines(text: string, from: number, to: number, insideThink = false): RoleLine[] {
  const found: RoleLine[] = [];
  const hidden = new Set<RoleLine>();
  // How many candidates were known when the region that is now open began; they become hidden when it closes.
  let think = insideThink ? 0 : -1;
  let call = -1;
  let fence: Fence | null = null;
  let callBefore = false;
  let resultsEnd = true;
  const hide = (since: number) => {
    for (let i = since; i < found.length; i++) if (!found[i]!.strong) hidden.add(found[i]!);
  };

  let bracket = -1;
  let line = from;
  while (line < to) {
    let lineEnd = text.indexOf('\n', line);
    if (lineEnd === -1 || lineEnd > to) lineEnd = to;

    FENCE.lastIndex = line;
    const mark = isFenceStart(text, line) ? FENCE.exec(text) : null;
    if (mark !== null) {
      const [, run, info] = mark as unknown as [string, string, string];
      // A closing fence, too, may have the next header glued to it.
      const bare = info.trim() === '' || (fence !== null && info === 'user');
      if (fence === null) {
        fence = { char: run[0] as string, length: run.length, since: found.length };
      } else if (run[0] === fence.char && run.length >= fence.length && bare) {
        hide(fence.since);
        fence = null;
      } else if (!bare && found.length > fence.since) {
        // A fence with a language opens a block: with role lines before it, the earlier one was never closed.
        fence = { char: run[0] as string, length: run.length, since: found.length };
      }
    }

    // Looked for once, not once a line: the next one may be far away.
    if (bracket < line) bracket = indexOrEnd(text, '<', line);
    for (; bracket < lineEnd; bracket = indexOrEnd(text, '<', bracket + 1)) {
      const at = bracket;
      const tag = TAGS.find((name) => text.startsWith(name, at));
      if (tag === '<think>') think = found.length;
      else if (tag === '</think>') {
        if (think !== -1) hide(think);
        think = -1;
      } else if (tag === '<tool_call>') call = found.length;
      else if (tag === '</tool_call>') {
        if (call !== -1) hide(call);
        call = -1;
        callBefore = true;
      }
    }

    const role = roleOf(text, line, lineEnd);
    if (role !== null) {
      const start = lineEnd - role.length;
      const end = lineEnd < to ? lineEnd + 1 : lineEnd;
      const toolResponse =
        role === 'user' && end + '<tool_response>'.length <= to && text.startsWith('<tool_response>', end);
      const answersCall = endsWithTag(text, from, start, '</tool_call>');
      const candidate: RoleLine = {
        role,
        start,
        end,
        strong: toolResponse || (answersCall && role === 'tool'),
        toolResponse,
        callBefore,
        glued: start > line && !/<\/tool_(?:call|response)>$/.test(text.slice(Math.max(line, start - 16), start)),
      };
      // Results are only written after a call: inside an open region the same words are an example that the model gives.
      const isExample = !callBefore && toolResponse && (fence !== null || think !== -1 || call !== -1);
      if (isExample) candidate.strong = false;
      found.push(candidate);
      callBefore = false;
      if (candidate.strong) {
        think = -1;
        call = -1;
        fence = null;
        if (toolResponse && resultsEnd) {
          const next = resultEnd(text, end, to);
          if (next === -1) {
            // Once no result ends, none further on does: look no more, or hostile text would cost its length squared.
            resultsEnd = false;
          } else {
            line = next;
            const header = roleOf(text, next, lineEndOf(text, next, to));
            if (header === 'assistant') {
              const headerEnd = Math.min(next + 'assistant\n'.length, to);
              found.push({
                role: 'assistant',
                start: next,
                end: headerEnd,
                strong: true,
                toolResponse: false,
                callBefore: false,
                glued: false,
              });
              line = headerEnd;
            }
            continue;
          }
        }
      }
    }
    line = lineEnd + 1;
  }
  const open = found.filter((candidate) => !hidden.has(candidate));
  return open.filter((candidate, i) => !candidate.glued || (open[i + 1]?.role === 'assistant' && !open[i + 1]!.strong));
}

const indexOrEnd = (text: string, part: string, from: number): number => {
  const at = text.indexOf(part, from);
  return at === -1 ? text.length : at;
};

/** Where the header behind the open result starts; -1 when the result never ends. */
function resultEnd(text: string, from: number, to: number): number {
  RESULT_END.lastIndex = from;
  const match = RESULT_END.exec(text);
  return match === null || match.index + match[0].length > to ? -1 : match.index + match[0].length;
}

function roleOf(text: string, line: number, lineEnd: number): RoleLine['role'] | null {
  for (const role of ROLES) {
    const start = lineEnd - role.length;
    if (start < line || !text.startsWith(role, start)) continue;
    if (start === line) return role;
    const before = text.slice(Math.max(line, start - '</tool_response>'.length), start);
    if (before.endsWith('</tool_call>') || before.endsWith('</tool_response>')) return role;
    if (role === 'user' && !/\s$/.test(before)) return role;
  }
  return null;
}

const lineEndOf = (text: string, line: number, to: number): number => {
  const end = text.indexOf('\n', line);
  return end === -1 || end > to ? to : end;
};

function isFenceStart(text: string, line: number): boolean {
  let at = line;
  while (at < line + 3 && text[at] === ' ') at++;
  return text[at] === '`' || text[at] === '~';
}

/** Does the text before `at`, blanks aside, end with the tag? */
function endsWithTag(text: string, from: number, at: number, tag: string): boolean {
  let end = at;
  while (end > from && (text[end - 1] === '\n' || text[end - 1] === ' ')) end--;
  return text.startsWith(tag, end - tag.length);
}
