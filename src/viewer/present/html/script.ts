/** The page's own script: search and keys. It reads the page's text and writes only attributes; it never runs or parses data. */
export const SCRIPT = `'use strict';
(() => {
  const $ = (selector) => [...document.querySelectorAll(selector)];
  const field = document.querySelector('input'), counter = document.querySelector('output');
  const canMark = typeof Highlight === 'function' && CSS.highlights;
  let hits = [], at = -1, here = -1;
  const turns = () => $('.turn').filter((turn) => turn.offsetParent !== null);
  const open = (node) => { for (let up = node; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true; };
  const go = (turn) => {
    $('.here').forEach((one) => one.classList.remove('here'));
    if (!turn) return;
    turn.classList.add('here');
    turn.scrollIntoView({ block: 'start' });
  };
  const step = (by) => {
    const all = turns();
    const now = all.findIndex((one) => one.classList.contains('here'));
    here = now === -1 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, now + by));
    go(all[here]);
  };
  const rollout = (by) => {
    const all = $('article');
    const top = (one) => one.getBoundingClientRect().top - 72;
    const next = by > 0 ? all.find((one) => top(one) > 2) : all.findLast((one) => top(one) < -2);
    if (next) next.scrollIntoView({ block: 'start' });
    $('.here').forEach((one) => one.classList.remove('here'));
  };
  const show = () => {
    if (canMark) CSS.highlights.delete('now');
    counter.textContent = field.value === '' ? '' : hits.length === 0 ? 'no hit' : at + 1 + ' of ' + hits.length;
    const hit = hits[at];
    if (!hit) return;
    open(hit.node.parentElement);
    const range = rangeOf(hit);
    if (canMark) CSS.highlights.set('now', new Highlight(range));
    hit.node.parentElement.scrollIntoView({ block: 'center' });
  };
  const rangeOf = ({ node, start, end }) => {
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, end);
    return range;
  };
  const MOST = 10000;
  const search = () => {
    const wanted = field.value.toLowerCase();
    hits = [];
    at = -1;
    if (canMark) CSS.highlights.clear();
    if (wanted !== '') {
      const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      for (let node = walk.nextNode(); node && hits.length < MOST; node = walk.nextNode()) {
        const text = node.data.toLowerCase();
        if (text.length !== node.data.length) continue;
        for (let start = text.indexOf(wanted); start !== -1 && hits.length < MOST; start = text.indexOf(wanted, start + wanted.length))
          hits.push({ node, start, end: start + wanted.length });
      }
      if (canMark) CSS.highlights.set('hit', new Highlight(...hits.map(rangeOf)));
      at = hits.length > 0 ? 0 : -1;
    }
    show();
  };
  const hit = (by) => {
    if (hits.length === 0) return;
    at = (at + by + hits.length) % hits.length;
    show();
  };
  const theme = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
  };
  const fold = () => {
    const all = $('details');
    const isOpen = all.every((one) => one.open);
    for (const one of all) one.open = !isOpen;
  };
  const keys = {
    l: () => step(1), h: () => step(-1), J: () => rollout(1), K: () => rollout(-1), n: () => hit(1), N: () => hit(-1),
    X: fold, d: theme, m: () => document.body.classList.toggle('trained-only'), '/': () => field.focus(),
  };
  let timer = 0;
  field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === field) {
      if (event.key === 'Escape') field.blur();
      if (event.key === 'Enter') hit(event.shiftKey ? -1 : 1);
      return;
    }
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.querySelector('button').addEventListener('click', theme);
})();
`;
