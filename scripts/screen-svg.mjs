// The cells of a terminal as a picture.

const PALETTE = ['#45475a', '#f38ba8', '#a6e3a1', '#f9e2af', '#89b4fa', '#cba6f7', '#94e2d5', '#bac2de'];

/** A colour of the terminal's 256: sixteen of the palette, a cube of 6 × 6 × 6, and greys. */
function colourOf(index) {
  if (index < 16) return PALETTE[index % 8];
  const hex = (level) => level.toString(16).padStart(2, '0');
  if (index >= 232) return `#${hex(8 + 10 * (index - 232)).repeat(3)}`;
  const cube = index - 16;
  const level = (step) => hex(step === 0 ? 0 : 55 + 40 * step);
  return `#${level(Math.floor(cube / 36))}${level(Math.floor(cube / 6) % 6)}${level(cube % 6)}`;
}
const [CELL, LINE, BASELINE] = [8.43, 18, 13];
const inXml = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);
const at = (column) => (column * CELL).toFixed(1);

/** Pixels of a row. */
export const screenSize = { line: LINE };

/**
 * A row of the screen whose top is at `top`. Every word is a separate text element starting at its column, because renderers disagree about
 * spaces and the width of glyphs.
 * @param terminal of @xterm/headless
 */
export function screenRow(terminal, y, top) {
  const out = [];
  for (const { x, cells, back } of runsOf(terminal, y, (cell) => cell.back)) {
    if (back) out.push(`<rect x="${at(x)}" y="${top}" width="${at(cells)}" height="${LINE}" fill="${back}"/>`);
  }
  for (const { x, cells, text, look } of runsOf(terminal, y, (cell) => (cell.text === ' ' ? '' : cell.look))) {
    if (text.trim() === '') continue;
    const place = `x="${at(x)}" y="${top + BASELINE}" textLength="${at(cells)}" lengthAdjust="spacingAndGlyphs"`;
    out.push(`<text ${place} ${look}>${inXml(text)}</text>`);
  }
  return out.join('\n');
}

/** The window around a picture of a screen. */
export function svgFrame({ cols, rows }, content) {
  const [width, height] = [Math.ceil(cols * CELL), rows * LINE];
  const frame = `x="-12" y="-10" width="${width + 24}" height="${height + 20}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -10 ${width + 24} ${height + 20}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14"><rect ${frame} rx="8" fill="#1e1e2e"/>\n${content}\n</svg>\n`;
}

/**
 * @param terminal of @xterm/headless
 * @param title what made the picture
 */
export function screenSvg(terminal, title = '') {
  const rows = Array.from({ length: terminal.rows }, (_, y) => screenRow(terminal, y, y * LINE));
  return svgFrame(terminal, [`<title>${title}</title>`, ...rows.filter((row) => row !== '')].join('\n'));
}

/** Neighbouring cells with the same key, as runs. */
function runsOf(terminal, y, keyOf) {
  const runs = [];
  let last;
  for (const cell of cellsOf(terminal, y)) {
    const key = keyOf(cell);
    if (last?.key === key && last.x + last.cells === cell.x) {
      last.text += cell.text;
      last.cells += cell.cells;
    } else {
      last = { ...cell, key };
      runs.push(last);
    }
  }
  return runs;
}

function* cellsOf(terminal, y) {
  const row = terminal.buffer.active.getLine(y);
  for (let x = 0; x < terminal.cols; x++) {
    const cell = row.getCell(x);
    if (cell.getWidth() === 0) continue;
    const colour = cell.isFgDefault() ? '#cdd6f4' : colourOf(cell.getFgColor());
    const back = cell.isBgDefault() ? '' : colourOf(cell.getBgColor());
    const look = `fill="${colour}"${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.6"' : ''}`;
    yield { x, cells: cell.getWidth(), text: cell.getChars() || ' ', look, back };
  }
}
