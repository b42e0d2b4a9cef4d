import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, directoryWith, verlLine } from '../../program.ts';
import { type Browser, chromiumPath, startChromium } from '../../sandbox/chromium.ts';

/** Everything that a page may be made to do by text that is put into it. */
const HOSTILE = (url: string) =>
  [
    '<script>window.hacked = 1</script>',
    `<img src=x onerror="window.hacked = 2"><img src="${url}/image.png">`,
    '</pre></section></article></main><script>window.hacked = 3</script>',
    `"><svg onload='window.hacked = 4'>'`,
    `<a href="javascript:window.hacked = 5" id=r1>click</a><base href="${url}/">`,
    `<style>@import url(${url}/style.css); body { display: none }</style><link rel=stylesheet href=${url}/a.css>`,
    `<meta http-equiv=refresh content="0;url=${url}/gone"><iframe src="${url}/frame"></iframe>`,
    `<form action="${url}/form"><input autofocus onfocus="window.hacked = 6"></form>`,
    '<!-- --><![CDATA[ ]]> &lt;script&gt; \u202eevil\u202c \u0000 \u2028',
    'needle one',
  ].join('\n');

const hostileDump = (url: string) => {
  const text = HOSTILE(url);
  const call = `<tool_call>\n${JSON.stringify({ name: text, arguments: { [text]: text } })}\n</tool_call>`;
  const output = `<think>\n${text}\n</think>\n${text}\n${call}\nuser\n<tool_response>\n${text}\n</tool_response>\nassistant\n${text}`;
  const keys = { output, gts: text, [text]: text, note: text };
  return directoryWith({ "<b>'1.jsonl": verlLine(keys) + verlLine({ output: 'Needle two' }) });
};

describe.skipIf(chromiumPath === undefined)('the page in a browser (skipped where there is no Chromium)', () => {
  let browser: Browser;
  let url = '';
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('');
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  const open = async () => {
    const directory = hostileDump(url);
    const page = join(directory, 'page.html');
    const { code } = await ask(['show', directory, '--html', page]);
    expect(code).toBe(0);
    const tab = await browser.open(pathToFileURL(page).href);
    await tab.until("document.readyState === 'complete' && document.querySelector('footer') !== null");
    return tab;
  };
  const press = (key: string) =>
    `document.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`;

  test('hostile text is text: nothing runs, nothing is fetched, nothing is outside its place', async () => {
    const tab = await open();
    expect(await tab.run('typeof window.hacked')).toBe('undefined');
    expect(await tab.run("document.querySelectorAll('script').length")).toBe(1);
    expect(await tab.run("document.querySelectorAll('img, iframe, svg, form, link, base, main style').length")).toBe(0);
    expect(await tab.run("document.querySelectorAll('main > article').length")).toBe(2);
    expect(await tab.run("[...document.links].every(({ protocol }) => protocol === 'file:')")).toBe(true);
    expect(await tab.run('getComputedStyle(document.body).display')).toBe('flex');
    const shown = String(await tab.run("document.querySelector('#r1t1').textContent"));
    expect(shown).toContain('<script>window.hacked = 1</script>');
    expect(shown).toContain('<U+202E>evil');
    // The policy holds: it refuses attempts of a page's own script.
    expect(await tab.run(`fetch('${url}/fetched').then(() => 'came', () => 'refused')`)).toBe('refused');
    expect(
      await tab.run(
        "(() => { const one = document.createElement('script'); one.textContent = 'window.hacked = 9'; document.body.append(one); return typeof window.hacked })()",
      ),
    ).toBe('undefined');
    expect(asked).toEqual([]);
  });

  test('search finds, in what is folded too; keys go from turn to turn and change the light', async () => {
    const tab = await open();
    await tab.run(
      "(() => { const field = document.querySelector('input'); field.value = 'needle'; field.dispatchEvent(new Event('input')) })()",
    );
    await tab.until("document.querySelector('output').textContent !== ''");
    const found = String(await tab.run("document.querySelector('output').textContent"));
    expect(found).toMatch(/^1 of \d+$/);
    expect(Number(found.slice(5))).toBeGreaterThan(5);
    await tab.run(press('n'));
    expect(await tab.run("document.querySelector('output').textContent")).toMatch(/^2 of/);
    expect(await tab.run("CSS.highlights.get('hit').size > 5")).toBe(true);
    await tab.run(press('l'));
    await tab.run(press('l'));
    expect(await tab.run("document.querySelector('.here').id")).toBe('r1t1');
    await tab.run(press('m'));
    expect(await tab.run("document.querySelector('#r1t0').offsetParent === null")).toBe(true);
    const before = await tab.run('getComputedStyle(document.body).backgroundColor');
    await tab.run(press('d'));
    expect(await tab.run('getComputedStyle(document.body).backgroundColor')).not.toBe(before);
    await tab.run(press('X'));
    expect(await tab.run("[...document.querySelectorAll('details')].every(({ open }) => !open)")).toBe(true);
  });
});

test('a finding says which exception it was, and a ground truth is laid out', async () => {
  const traceback =
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nZeroDivisionError: division by <zero>';
  const output = `a <tool_call>\n{"name": "python", "arguments": {"code": "1/0"}}\n</tool_call>\nuser\n<tool_response>\n${traceback}\n</tool_response>\nassistant\nb`;
  const gts = JSON.stringify([
    { name: 'book', kwargs: { from: 'New York', to: 'Seattle', seats: 12, text: 'x'.repeat(60) } },
  ]);
  const directory = directoryWith({ '1.jsonl': verlLine({ output, gts }) });
  const page = join(directoryWith({}), 'page.html');
  expect((await ask(['show', directory, '--html', page])).code).toBe(0);
  const html = readFileSync(page, 'utf8');
  expect(html).toMatch(/<li class="error">t\d: [^<]*<code>ZeroDivisionError: division by &#60;zero&#62;<\/code><\/li>/);
  expect(html).toContain('&#34;kwargs&#34;: {\n');
});
