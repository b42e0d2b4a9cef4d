/**
 * The rows of a CSV (RFC 4180). A quoted cell may contain commas, line ends and doubled quotes; CRLF, LF and CR end
 * rows; blank rows are skipped. An unclosed quote extends to the end of the text.
 */
export function* csvRows(text: string): Generator<string[]> {
  let row: string[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    let cell: string;
    if (text[at] === '"') ({ cell, at } = quotedField(text, at + 1));
    else {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== '\n' && text[at] !== '\r') at++;
      cell = text.slice(start, at);
    }
    row.push(cell);
    if (text[at] === ',') {
      at++;
      if (at === text.length) row.push('');
      continue;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    if (text[at] === '\r' || text[at] === '\n' || at >= text.length) {
      at++;
      if (row.length > 1 || row[0] !== '') yield row;
      row = [];
    }
  }
  if (row.length > 0) yield row;
}

/** @param at after the opening quote. Text between the closing quote and the next comma stays part of the cell. */
function quotedField(text: string, at: number): { cell: string; at: number } {
  let cell = '';
  for (;;) {
    const end = text.indexOf('"', at);
    if (end === -1) return { cell: cell + text.slice(at), at: text.length };
    cell += text.slice(at, end);
    if (text[end + 1] !== '"') {
      const rest = /[^,\r\n]*/y;
      rest.lastIndex = end + 1;
      const tail = rest.exec(text)![0];
      return { cell: cell + tail, at: end + 1 + tail.length };
    }
    cell += '"';
    at = end + 2;
  }
}
