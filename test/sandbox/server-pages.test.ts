// The pages of the server as a browser has them, /openapi.json, and the requests of SandboxFusion's own document on a
// server that nobody gave a file.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { lack, named } from './backends.ts';
import { type Browser, chromiumPath, startChromium } from './chromium.ts';

describe.skipIf(lack.bubblewrap !== null)(named('pages', 'bubblewrap'), () => {
  let server: SandboxServer;
  beforeAll(async () => {
    server = await startSandbox({ port: 0, backend: 'bubblewrap' });
  });
  afterAll(() => server.close('now'));

  const get = (path: string) => fetch(`${server.url}${path}`, { redirect: 'manual' });
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> & unknown[] };
  };

  test('MBPP’s prompts and a submission work without any file', async () => {
    expect((await (await get('/list_datasets')).json()) as string[]).toEqual(['humaneval_python', 'mbpp']);
    const prompts = await post('/get_prompts', { dataset: 'mbpp', config: {} });
    expect([prompts.status, prompts.json.length]).toEqual([200, 974]);
    const code =
      'def remove_Occ(s, c):\n    i, j = s.find(c), s.rfind(c)\n    return s if i < 0 else s[:i] + s[i + 1 : j] + s[j + 1 :]';
    const completion = `Here:\n\n\`\`\`python\n${code}\n\n# Test\nassert remove_Occ("hello", "l") == "heo"\n\`\`\`\n`;
    const right = await post('/submit', { dataset: 'mbpp', id: '11', completion, config: {} });
    expect(right.json).toMatchObject({ id: '11', accepted: true });
    const human = { dataset: 'humaneval_python', id: 'HumanEval/2', completion: '    return number % 1.0', config: {} };
    expect((await post('/submit', human)).json).toMatchObject({ accepted: true });
    expect((await post('/submit', { ...human, completion: '    return 0' })).json).toMatchObject({ accepted: false });
  });

  test.each([
    '/',
    '/docs',
    '/playground/sandbox',
    '/playground/datasets',
    '/SandboxFusion',
    '/SandboxFusion/playground/sandbox',
    '/SandboxFusion/playground/datasets',
  ])('%s is a page that needs nothing from elsewhere', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
    const text = await answer.text();
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  test('/openapi.json says what a request holds', async () => {
    const api = (await (await get('/openapi.json')).json()) as { paths: Record<string, Record<string, unknown>> };
    expect(Object.keys(api.paths)).toContain('/run_code');
    expect(api.paths['/v1/ping']).toHaveProperty('get');
    const schema = JSON.stringify(api.paths['/run_code']);
    for (const part of ['"required":["code","language"]', '"racket"', '"run_timeout":{"type":"number","default":10}']) {
      expect(schema).toContain(part);
    }
  });

  describe.skipIf(chromiumPath === undefined)('in Chromium (skipped without one)', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startChromium();
    });
    afterAll(() => browser?.close());

    test('a program is run, its output shown, its file fetched', { timeout: 240_000 }, async () => {
      const tab = await browser.open(`${server.url}/SandboxFusion/playground/sandbox`);
      await tab.until(`document.querySelectorAll('#language option').length === 28`);
      await tab.run(`find('code').value = 'print("<b>" + input())\\nopen("o.txt", "w").write("kept")'`);
      await tab.run(`find('stdin').value = 'given'; find('fetch').value = 'o.txt'; find('form').requestSubmit()`);
      await tab.until(`find('status').textContent === 'Success'`);
      expect(await tab.run(`find('result').innerText`)).toMatch(
        /run · Finished · exit code 0 · \d\.\d{3} s\s+stdout\s+<b>given/,
      );
      expect(await tab.run(`document.querySelector('a[download]').href`)).toContain(btoa('kept'));
    });

    test('a problem is shown, and a completion of it judged', { timeout: 240_000 }, async () => {
      const tab = await browser.open(`${server.url}/playground/datasets`);
      await tab.until(`find('id') !== null && find('id').value === 'HumanEval/0'`);
      await tab.run(`find('id').value = 'HumanEval/2'; find('show').click()`);
      await tab.until(`find('prompt').textContent.includes('def truncate_number')`);
      await tab.run(`find('completion').value = '    return number % 1.0'; find('form').requestSubmit()`);
      await tab.until(`find('status').textContent === 'accepted, 1 of 1 tests passed'`);
      await tab.run(`find('completion').value = '    return 7'; find('form').requestSubmit()`);
      await tab.until(`find('status').textContent === 'not accepted, 0 of 1 tests passed'`);
    });

    test('the endpoints are listed', { timeout: 240_000 }, async () => {
      const tab = await browser.open(`${server.url}/docs`);
      await tab.until(`document.body?.innerText.includes('POST /run_code')`);
      expect(await tab.run(`document.body.innerText`)).toMatch(/run_timeout\s+number, default 10/);
    });
  });
});
