const OPENED = '<think>';
const CLOSED = '</think>';

/** The part of a text that is shown. Offsets, because to look for a part in a text of 45 MB compares all of it. */
export type TextEdges = (text: string) => [start: number, end: number];

/** Without the line breaks at its edges, which templates add around a body. */
export const trimmed: TextEdges = (text) => within(text, 0, text.length);

function within(text: string, from: number, to: number): [start: number, end: number] {
  let start = from;
  while (start < to && text.charCodeAt(start) === 0x0a) start++;
  // No regex that ends in \s+$ here: it is quadratic in a run of whitespace.
  return [start, start + text.slice(start, to).trimEnd().length];
}

/** Reasoning without its tags. */
export const thought: TextEdges = (text) => {
  const end = text.trimEnd().length;
  return within(
    text,
    text.startsWith(OPENED) ? OPENED.length : 0,
    text.endsWith(CLOSED, end) ? end - CLOSED.length : text.length,
  );
};

/** Code without the line breaks at its end. */
export const withoutEnd: TextEdges = (text) => [0, text.trimEnd().length];
