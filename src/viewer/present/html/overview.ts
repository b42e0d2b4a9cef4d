import type { RunPair } from '../../../analysis/compare/runs.ts';
import type { TreeBranch } from '../../../analysis/compare/tree.ts';
import { outcomeCounts, outcomeText } from '../../../analysis/report/runs.ts';
import { numberInAt } from '../../../core/lists/at.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import { meanText } from '../../../core/text/quantities.ts';
import { escaped } from './page.ts';

/** A prompt of two runs as a page shows it. */
export interface PairRow {
  pair: RunPair;
  prompt: string;
  /** The anchor of the article with both side by side; null if absent. */
  id: string | null;
}

const mean = (value: number | null | undefined): string => (value == null ? '–' : meanText(value));

/** Two runs joined by prompt, a row each. */
export function runsArticle(names: readonly [string, string], rows: readonly PairRow[]): string {
  const head = ['outcome', 'difference', 'mean a', 'mean b', 'n a', 'n b', 'prompt'];
  const cells = rows.map(({ pair, prompt, id }) => {
    const { outcome, difference, a, b } = pair;
    const kind = outcome === 'won' ? ' class="good"' : outcome === 'lost' ? ' class="bad"' : '';
    const word = `<span${kind}>${outcomeText(pair)}</span>`;
    const change = difference === null ? '–' : `${difference > 0 ? '+' : ''}${meanText(difference)}`;
    const numbers = [change, mean(a?.mean), mean(b?.mean), formatCount(a?.n ?? 0), formatCount(b?.n ?? 0)];
    return `<tr><td>${id === null ? word : `<a href="#${id}">${word}</a>`}</td>${numbers.map((one) => `<td class="n">${one}</td>`).join('')}<td>${escaped(prompt)}</td></tr>`;
  });
  return `<article id="runs"><h2>a: ${escaped(names[0])}<br>b: ${escaped(names[1])}</h2>
<p>${outcomeCounts(rows.map(({ pair }) => pair)).join(', ')}</p>
<table><thead><tr>${head.map((title, i) => `<th scope="col"${i > 0 && i < 6 ? ' class="n"' : ''}>${title}</th>`).join('')}</tr></thead><tbody>
${cells.join('\n')}
</tbody></table></article>
`;
}

/** Longer prefixes are folded to their first words. */
const LONG = 400;
/** Deeper branches are stacked instead: browsers cannot draw endlessly nested boxes. */
const DEEPEST = 40;

/**
 * The answers of a group as nested boxes: a common prefix appears once, above the point where they diverge. @param at the locator and
 * anchor of an answer
 */
export function treeArticle(
  title: string,
  branches: readonly TreeBranch[],
  at: (member: number) => { locator: string; id: string | null },
): string {
  const html: string[] = [`<article id="tree"><h2>${escaped(title)}</h2>`];
  let open = 0;
  for (const { depth, text, n, mean: score, members } of branches) {
    const level = Math.min(depth, DEEPEST);
    for (; open > level; open--) html.push('</div>');
    const words = text.replaceAll(/\s+/g, ' ').trim();
    const said =
      words.length > LONG
        ? `<details><summary>${escaped(words.slice(0, LONG))} …</summary><pre class="prose">${escaped(text)}</pre></details>`
        : escaped(words);
    const { locator, id } = at(numberInAt(members, 0));
    const name =
      n > 1 ? plural(n, 'rollout') : id === null ? escaped(locator) : `<a href="#${id}">${escaped(locator)}</a>`;
    html.push(`<div class="branch"><b>${name}, ${n > 1 ? 'mean ' : ''}score ${mean(score)}</b> ${said}`);
    open = level + 1;
  }
  for (; open > 0; open--) html.push('</div>');
  return `${html.join('\n')}</article>\n`;
}
