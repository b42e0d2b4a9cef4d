// Terminal screens as one animated picture.
import { screenRow, screenSize, svgFrame } from './screen-svg.mjs';

/**
 * Each row is written once, however many screens show it: most screens differ in a few rows.
 * @param title what made it, in the picture's title
 * @param screens `{ rows, seconds }`: each screen's rows as returned by screenRows, and how long it is shown
 */
export function movingSvg(screens, { cols, rows }, title) {
  const whole = screens.reduce((sum, { seconds }) => sum + seconds, 0);
  const ids = new Map();
  const idOf = (row) => {
    if (!ids.has(row)) ids.set(row, `r${ids.size}`);
    return ids.get(row);
  };
  let passed = 0;
  const frames = screens.map(({ rows: lines, seconds }, index) => {
    const uses = lines.flatMap((row, y) =>
      row === '' ? [] : [`<use href="#${idOf(row)}" y="${y * screenSize.line}"/>`],
    );
    const [from, to] = [passed / whole, (passed + seconds) / whole].map((share) => `${(share * 100).toFixed(3)}%`);
    passed += seconds;
    const rule =
      index === 0
        ? `@keyframes f0{0%{visibility:visible}${to},100%{visibility:hidden}}`
        : `@keyframes f${index}{0%{visibility:hidden}${from}{visibility:visible}${to},100%{visibility:${index === screens.length - 1 ? 'visible' : 'hidden'}}}`;
    return { rule, group: `<g class="f" style="animation-name:f${index}">${uses.join('')}</g>` };
  });
  const style = `<style>.f{visibility:hidden;animation:${whole}s step-end infinite}${frames.map(({ rule }) => rule).join('')}</style>`;
  const defs = `<defs>${[...ids].map(([row, id]) => `<g id="${id}">${row}</g>`).join('\n')}</defs>`;
  return svgFrame(
    { cols, rows },
    [`<title>${title}</title>`, style, defs, ...frames.map(({ group }) => group)].join('\n'),
  );
}

/** The rows currently shown by a terminal, as parts of a picture. */
export const screenRows = (terminal) => Array.from({ length: terminal.rows }, (_, y) => screenRow(terminal, y, 0));
