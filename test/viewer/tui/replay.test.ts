import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { findOnPath } from '../../../src/sandbox/server/backends/interpreters.ts';
import { type Script, type ScriptedModel, scriptedModel } from '../../engine/scripted-model.ts';
import { lack, named } from '../../sandbox/backends.ts';
import { app, ask, close, DRIFTED, journal, open, reopen, rollout, run, SAME, startWith } from './replay-run.ts';

let model: ScriptedModel | null = null;

afterEach(async () => {
  await close();
  await model?.close();
  model = null;
});

describe('run a tool call again', () => {
  test('! says what would run and where; nothing has run, and Esc leaves no trace', async () => {
    await open({ '1.jsonl': [rollout([SAME])] });
    await ask();
    await app.sees(/! code_interpreter t2 on (bubblewrap|Pyodide)/);
    await app.sees('no sandbox URL is given');
    await app.sees(/^ rollout_data .* (bubblewrap|Pyodide)( |$)/m);
    app.press('Esc');
    await app.seesNot('Enter run');
    expect(app.screen()).not.toContain('again: ');
    expect(existsSync(journal())).toBe(false);
  });

  test('Enter runs it; the verdict, the time and the sandbox are beside the record, and are found again', async () => {
    await open({ '1.jsonl': [rollout([SAME])] });
    const before = readFileSync(join(run.dir, '1.jsonl'), 'utf8');
    await ask();
    app.press('Enter');
    await app.sees(/← \w+ +again: same, .* ms, (bubblewrap|Pyodide)|← \w+ +again: same, [\d.]+ s, /);
    await app.sees('run again: exit status 0');
    app.press('l', 'x');
    await app.sees('▾ run again');
    await app.sees('stdout');
    app.press('q');
    await app.exits();
    expect(readFileSync(join(run.dir, '1.jsonl'), 'utf8')).toBe(before);
    expect(readdirSync(run.dir)).toEqual(['1.jsonl']);
    await reopen();
    await app.sees(/← \w+ +again: same/);
  });

  test('a result that differs is shown by line and by word; the list says drift', async () => {
    await open({ '1.jsonl': [rollout([DRIFTED]), rollout([SAME])] });
    await ask();
    app.press('Enter');
    await app.sees('again: different');
    await app.sees('- left is 20');
    await app.sees('+ left is 21');
    const old = app.find('- left is 20');
    const now = app.find('+ left is 21');
    // Only the number differs: it alone is coloured, beside the sign.
    expect(app.cell(old.x + 10, old.y).colour).toBe(1);
    expect(app.cell(old.x + 2, old.y).colour).toBe(null);
    expect(app.cell(now.x + 10, now.y).colour).toBe(6);
    await app.sees(/› +1 +1 +1\.00.*drift/);
  });

  test('edited in $EDITOR it is marked, can be run again and again, and keeps its history', async () => {
    await open({ '1.jsonl': [rollout([SAME])] }, [], {
      env: { EDITOR: editor('sed -i "s/4/40/" "$1"') },
    });
    await ask();
    app.press('e');
    await app.sees('code_interpreter t2 edited on');
    app.press('Enter');
    await app.sees('edited, run 1: different');
    await app.sees('print(3 + 40)');
    await app.sees('+ 43');
    await app.sees('- 7');
    await ask();
    app.press('e');
    await app.sees('code_interpreter t2 edited on');
    app.press('Enter');
    await app.sees('edited, run 2: different');
    await app.sees('print(3 + 400)');
    await app.sees('edited, run 1: different');
    expect(app.screen()).not.toContain('again: same');
  });

  test('E edits it in the screen: newlines are indented, undone, and nothing is lost by one Esc', async () => {
    await open({ '1.jsonl': [rollout([SAME])] });
    await ask();
    app.press('E');
    await app.sees('code_interpreter t2, python');
    await app.sees(/^ 1 print\(3 \+ 4\)/m);
    app.press('End', 'Enter');
    app.type('for i in range(2):');
    app.press('Enter');
    app.type('print("größer", i)');
    await app.sees(/^ 3 {5}print\("größer", i\)/m);
    await app.sees('line 3 of 3');
    app.press('Esc');
    await app.sees('Esc once more throws the changes away');
    app.press('Up', 'Home');
    await app.sees('line 2 of 3');
    app.press('ctrl+k', 'ctrl+k');
    await app.seesNot('for i');
    app.press('ctrl+_', 'ctrl+_');
    await app.sees('for i in range(2):');
    app.press('ctrl+s');
    await app.sees('code_interpreter t2 edited on');
    app.press('Enter');
    await app.sees('edited, run 1: different');
    await app.sees('+ größer 1');
    // The next edit begins with what was written, and a text that is left is left as it was.
    await ask();
    app.press('E');
    await app.sees('line 1 of 3');
    app.type('x');
    app.press('Esc', 'Esc');
    await app.sees('Enter run');
    expect(app.screen()).not.toContain('edited on');
  });

  test('arguments that are no code are edited as JSON, and a mistake is reported at its place', async () => {
    const other = rollout([SAME]) as { output: string };
    const output = other.output.replace(
      /<tool_call>[\s\S]*?<\/tool_call>/,
      '<tool_call>\n{"name": "calculator", "arguments": {"a": 3, "b": 4, "op": "+"}}\n</tool_call>',
    );
    await open({ '1.jsonl': [{ ...other, output }] });
    await ask();
    app.press('E');
    await app.sees('calculator t2, arguments as JSON');
    await app.sees('"op": "+"');
    app.type(']');
    app.press('ctrl+s');
    await app.sees(/unexpected|expected/i);
    app.press('Backspace', 'Down', 'End', 'Backspace', 'Backspace');
    app.type('30,');
    app.press('ctrl+s');
    await app.sees('calculator t2 edited on this program');
    app.press('Enter');
    await app.sees('edited, run 1');
    await app.sees('34');
  });

  test('--exact switches rules off: what was the same but for them is another result then', async () => {
    const timed = { code: 'print(object())', result: '<object object at 0x7f0123456789>' };
    await open({ '1.jsonl': [rollout([timed])] });
    await ask();
    app.press('Enter');
    await app.sees('again: same');
    app.press('q');
    await app.exits();
    await reopen(['--exact', 'all']);
    await ask();
    app.press('Enter');
    // It is run once more, and lies elsewhere again where addresses are left to chance.
    await app.sees(/again: (?:different|flaky)/);
    await app.sees('+ <object object at 0x');
  });

  test('an editor that changes nothing runs nothing, and one that fails says so', async () => {
    await open({ '1.jsonl': [rollout([SAME])] }, [], { env: { EDITOR: editor('exit 3') } });
    await ask();
    app.press('e');
    await app.sees('exit status 3');
    app.press('Esc');
    await app.seesNot('exit status 3');
  });

  test('^C in the editor ends the editor, not the program', async () => {
    const own = editor('trap "" INT; kill -INT 0; sed -i "s/4/40/" "$1"');
    await open({ '1.jsonl': [rollout([SAME])] }, [], { env: { EDITOR: own } });
    await ask();
    app.press('e');
    await app.sees(/was interrupted; nothing is changed|edited on/);
    app.press('Esc');
    await app.seesNot('! code_interpreter');
    app.press('h');
    await app.sees('t1/t4');
  });

  test('--no-exec runs nothing, and ! says why', async () => {
    await open({ '1.jsonl': [rollout([SAME])] }, ['--no-exec']);
    app.press('!');
    await app.sees('nothing is run: opened with --no-exec');
    app.press('a');
    await app.sees('--no-exec');
  });

  test('a tool that cannot run here is reported before it is tried', async () => {
    const other = rollout([SAME]) as { output: string };
    await open({ '1.jsonl': [{ ...other, output: other.output.replaceAll('code_interpreter', 'book_flight') }] });
    app.press('!');
    await app.sees('cannot run: no tool here runs book_flight');
    expect(app.screen()).not.toContain('Enter run');
    app.press('Enter');
    await app.sees(/^ no tool here runs book_flight; --tools YAML/m);
  });
});

test.skipIf(lack.bubblewrap !== null)(named('--tool says what a tool of another name runs', 'bubblewrap'), async () => {
  const other = rollout([{ code: 'echo $((3 + 4))', result: '7' }]) as { output: string };
  const own = { ...other, output: other.output.replaceAll('code_interpreter', 'run_sh') };
  await open({ '1.jsonl': [own] }, ['--tool', 'run_sh=bash', '--sandbox', 'bubblewrap']);
  await ask();
  await app.sees('! run_sh t2 on bubblewrap');
  app.press('Enter');
  await app.sees('again: same');
});

describe('run many again', () => {
  test('a runs the calls of the rollout in order and goes to the first that differs', async () => {
    await open({ '1.jsonl': [rollout([SAME, SAME, SAME, DRIFTED, SAME])] }, [], { rows: 20 });
    await ask();
    app.press('a');
    await app.sees('the first result that differs');
    await app.sees('›tool');
    await app.sees('t9/t12');
    await app.sees('+ left is 21');
  });

  test('f runs the calls of the whole list, and each rollout has its word', async () => {
    await open({
      '1.jsonl': [rollout([SAME]), rollout([DRIFTED]), rollout([]), rollout([SAME, SAME])],
      '2.jsonl': [rollout([SAME, DRIFTED], { step: 2 })],
    });
    // The newest step is shown before the others are counted.
    await app.sees('5 rollouts');
    await ask();
    await app.sees('f list 5');
    app.press('f');
    await app.sees('6 calls: 4 same, 2 drift');
    await app.sees(/1 +1 +1\.00.*same/);
    await app.sees(/1 +2 +1\.00.*drift/);
    await app.sees(/1 +4 +1\.00.*same/);
    await app.sees(/2 +1 +1\.00.*drift/);
    expect(app.screen()).not.toMatch(/1 +3 +1\.00.*(same|drift)/);
    await app.sees('again: different');
    await app.sees('again: same');
    app.press('K', 'K', 'K');
    await app.sees('1.jsonl:2');
    await app.sees('again: different');
  });

  test('f and g r take the rollouts of the filter, and no others', async () => {
    await open({
      '1.jsonl': [0, 1, 0, 1, 1].map((score) => rollout([DRIFTED], { score, data_source: 'openai/gsm8k' })),
    });
    app.press('&');
    app.type('score > 0.5\r');
    await ask();
    await app.sees('f list 3');
    app.press('f');
    await app.sees('3 calls: 3 drift');
    const lines = readFileSync(join(journal(), 'replay.jsonl'), 'utf8').trim().split('\n');
    const of = lines.map((line) => (JSON.parse(line) as { locator: string }).locator.replace(/.*:/, ''));
    expect(of.sort()).toEqual(['2', '4', '5']);
    app.press('g', 'r');
    await app.sees('scored again: 3 unchanged');
  });

  test('impossible flags are reported before the screen opens', async () => {
    await open({ '1.jsonl': [rollout([SAME])] });
    await app.stop();
    for (const [args, told] of [
      [['--sandbox', 'bwrap'], '--sandbox bwrap: neither auto, bubblewrap, pyodide, unconfined nor the http(s) URL'],
      [['--tools', 'none.yaml'], '--tools none.yaml: no such file or directory'],
      [['--temperature', 'hot'], '--temperature hot: expected a number'],
      [['--reward', 'none.py'], '--reward: none.py: no such file'],
      [['--exact', 'time'], "'time' is not a rule"],
    ] as const) {
      startWith(args, { columns: 160 });
      expect((await app.exits()).code).toBe(2);
      await app.sees(told);
      expect(app.lastMode(1049)).toBeNull();
      await app.stop();
    }
  });

  test('many calls on a server are asked for once more', async () => {
    await open({ '1.jsonl': [rollout([SAME]), rollout([SAME])] }, ['--sandbox', 'http://127.0.0.1:9']);
    app.press('!');
    await app.sees('on http://127.0.0.1:9');
    app.press('f');
    await app.sees('run the calls of 2 rollouts on http://127.0.0.1:9');
    app.press('Esc');
    await app.seesNot('run the calls');
    expect(existsSync(journal())).toBe(false);
  });

  test('k runs a call several times: a flaky one is distinguished from a drifted one', async () => {
    const flaky = { code: 'import random\nprint(random.random())', result: '0.5' };
    await open({ '1.jsonl': [rollout([flaky])] });
    await ask();
    app.press('k');
    await app.sees('k ×3');
    app.press('Enter');
    await app.sees(/again: flaky, 3 runs, \d+ (ms )?(to \d+ )?m?s/);
    await app.sees(/› +1 +1 +1\.00.*flaky/);
  });
});

describe('fork', () => {
  const answer: Script = (body) =>
    body.messages.at(-1).role === 'tool'
      ? { text: 'So it is eight.\n#### 8' }
      : { calls: [{ name: 'code_interpreter', arguments: JSON.stringify({ code: 'print(4 + 4)' }) }], text: 'Anew.' };

  const withTools = (): object => {
    const schema = {
      type: 'function',
      function: {
        name: 'code_interpreter',
        description: 'runs Python',
        parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
      },
    };
    const tools = `# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n${JSON.stringify(schema)}\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>`;
    return rollout([SAME], {
      input: `system\nRun Python with the tool where it helps.\n\n${tools}\nuser\nWhat is left?\nassistant\n`,
      data_source: 'openai/gsm8k',
    });
  };

  test('a goes on from the turn; branches are listed under the rollout, scored, and found again', async () => {
    model = await scriptedModel(answer);
    await open({ '1.jsonl': [withTools()] }, ['--model-url', model.url, '--model', 'qwen'], { rows: 50 });
    app.press('a');
    await app.sees('continue from t2 with qwen on http://127.0.0.1');
    await app.sees(/code_interpreter on (bubblewrap|Pyodide)/);
    expect(model.requests).toHaveLength(0);
    app.press('2');
    app.press('A');
    await app.sees('2 branches');
    await app.sees(/branch 0 from t2, qwen, score 0\.00, differs from t2, 3 turns/);
    await app.sees(/branch 1 from t2, qwen, score 0\.00, differs from t2, 3 turns/);
    await app.sees('print(4 + 4)');
    await app.sees('t3 tool');
    await app.sees('#### 8');
    await app.sees('scored by gsm8k');
    expect(readdirSync(run.dir)).toEqual(['1.jsonl']);
    app.press('q');
    await app.exits();
    await reopen([], { rows: 50 });
    app.press('G');
    await app.sees('▸ branch 1 from t2, qwen, score 0.00');
  });

  test('e edits the turn first, and the model answers what it says then', async () => {
    model = await scriptedModel(() => ({ text: 'It is nine.\n#### 9' }));
    const args = ['--model-url', model.url, '--model', 'qwen'];
    await open({ '1.jsonl': [rollout([SAME])] }, args, { env: { EDITOR: editor('echo "Nine, perhaps?" > "$1"') } });
    app.press('h', 'a');
    await app.sees('continue from t1 with qwen');
    await app.sees('one branch');
    app.press('e');
    await app.sees('continue from t1 edited with qwen');
    app.press('Enter');
    await app.sees('branch 0 from t2, qwen');
    await app.sees('#### 9');
    expect(model.requests[0].messages.at(-1)).toEqual({ role: 'user', content: 'Nine, perhaps?' });
  });

  test('E edits the turn in the screen, where a long line goes on in the next row', async () => {
    model = await scriptedModel(() => ({ text: 'It is nine.\n#### 9' }));
    await open({ '1.jsonl': [rollout([SAME])] }, ['--model-url', model.url, '--model', 'qwen'], { columns: 80 });
    app.press('h', 'a');
    await app.sees('one branch');
    app.press('E');
    await app.sees('turn t1');
    app.press('ctrl+k');
    app.type(`${'Nine, or less? '.repeat(8)}Now!`);
    await app.sees(/less\?[\s\S]*\n {3}.*Now!/);
    app.press('ctrl+s');
    await app.sees('continue from t1 edited with qwen');
    app.press('Enter');
    await app.sees('branch 0 from t2, qwen');
    await app.sees('#### 9');
    expect(model.requests[0].messages.at(-1).content).toBe(`${'Nine, or less? '.repeat(8)}Now!`);
  });

  test('turns stream in as they come, and ^c ends them', async () => {
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { choices: [{ index: 0, delta: { content: 'Word by word it ' } }] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await open({ '1.jsonl': [rollout([SAME])] }, ['--model-url', `http://127.0.0.1:${port}/v1`, '--model', 'qwen']);
    app.press('a');
    await app.sees('one branch');
    app.press('Enter');
    app.press('A');
    await app.sees('Word by word it');
    await app.sees('running, ^c cancels');
    app.press('ctrl+c');
    await app.sees('cancelled');
    await app.seesNot('running, ^c cancels');
    server.closeAllConnections();
    server.close();
  });

  test('s sets sampling parameters and limits; the flags begin with theirs', async () => {
    model = await scriptedModel(answer);
    const live = ['--model-url', model.url, '--model', 'qwen', '--temperature', '0.5', '-n', '2'];
    await open({ '1.jsonl': [withTools()] }, live, { columns: 120, rows: 50 });
    app.press('a');
    await app.sees('s temperature 0.5');
    await app.sees('Enter 2 branches');
    app.press('s');
    await app.sees('sampling n=2 temperature=0.5');
    app.press('ctrl+u');
    app.type('temprature=1\r');
    await app.sees('^ temprature is not a setting');
    app.press('ctrl+u');
    app.type('top_p=high\r');
    await app.sees('^ expected a number');
    app.press('ctrl+u');
    app.type('top_');
    app.press('Tab');
    await app.sees('sampling top_p=');
    app.type('0.9 max_tokens=64 max_assistant_turns=1\r');
    await app.sees('s top_p 0.9, max_new_tokens 64, max_assistant_turns 1');
    await app.sees('Enter one branch');
    app.press('Enter', 'A');
    await app.sees('branch 0 from t2, qwen');
    await app.sees('print(4 + 4)');
    await app.until(() => model!.requests.length > 0, 'a request');
    expect(model.requests[0]).toMatchObject({ top_p: 0.9, max_tokens: 64 });
    expect(model.requests[0]).not.toHaveProperty('temperature');
  });

  test('without the flags it asks for the model', async () => {
    model = await scriptedModel(answer);
    await open({ '1.jsonl': [rollout([SAME])] });
    app.press('a');
    await app.sees('OpenAI-compatible server');
    app.type('here qwen\r');
    await app.sees('^ not an http(s) address');
    app.press('ctrl+u');
    app.type(`${model.url} qwen\r`);
    await app.sees('continue from t2 with qwen on http://127.0.0.1');
  });
});

test('the help says what can be run again', async () => {
  await open({ '1.jsonl': [rollout([SAME])] }, [], { rows: 24 });
  app.press('?');
  await app.sees('next turn');
  app.type('run again');
  await app.sees('continue from this turn with a live model');
  await app.seesNot('next turn');
  app.press('ctrl+u');
  await app.sees('next turn');
  app.press('?');
  await app.sees('▌›assistant');
});

describe('score again', () => {
  test('r judges the rollout with the reward function of its data source', async () => {
    await open({ '1.jsonl': [rollout([SAME], { data_source: 'openai/gsm8k', score: 0 })] }, [], { rows: 50 });
    app.press('r');
    await app.sees(/score 0\.00 +again: drift, 1\.00, gsm8k/);
    await app.sees('scored again: 1.00 by gsm8k, recorded 0.00: changed');
    app.press('q');
    await app.exits();
    await reopen([], { rows: 50 });
    await app.sees(/score 0\.00 +again: drift, 1\.00, gsm8k/);
  });

  test.skipIf(findOnPath('python3') === null)(
    'a Python file is asked for first, and judges the whole list (skipped without python3)',
    async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'reward-')), 'mine.py');
      writeFileSync(
        file,
        'def compute_score(data_source, solution_str, ground_truth, extra_info=None):\n    return {"score": 0.25 if "####" in solution_str else 0.0, "why": "half"}\n',
      );
      await open({ '1.jsonl': [rollout([SAME]), rollout([SAME], { score: 0.25 })] }, ['--reward', file], { rows: 50 });
      app.press('r');
      await app.sees(/score this rollout again with compute_score of\s+\S+mine\.py/);
      await app.sees('Enter score');
      app.press('Esc');
      await app.seesNot('Enter score');
      expect(existsSync(journal())).toBe(false);
      app.press('g', 'r');
      await app.sees('score 2 rollouts again with');
      app.press('Enter');
      await app.sees('scored again: 1 changed, 1 unchanged');
      await app.sees(/1 +1 +1\.00 .*0\.25/);
      await app.sees(/score 1\.00 +again: drift, 0\.25, mine\.py/);
    },
  );

  test('a reward service is named by :reward, and asked only then', async () => {
    let asked = 0;
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => {
      asked++;
      response.end('{"reward": 0.75}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await open({ '1.jsonl': [rollout([SAME])] }, [], { rows: 50 });
    app.press('r');
    await app.sees('no reward function for a task without data_source');
    app.press(':');
    app.type(`reward http://127.0.0.1:${port}/judge\r`);
    await app.sees(`scored again by http://127.0.0.1:${port}/judge from now on`);
    app.press('r');
    await app.sees(`again with the reward service on http://127.0.0.1:${port}/judge`);
    expect(asked).toBe(0);
    app.press('e');
    await app.sees('reward');
    app.type('nowhere.py\r');
    await app.sees('^ nowhere.py: no such file');
    app.press('Esc');
    await app.sees('Enter score');
    app.press('Enter');
    await app.sees(/score 1\.00 +again: drift, 0\.75, http/);
    expect(asked).toBe(1);
    server.close();
  });

  test('--no-exec scores with the functions of this program alone', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'reward-')), 'mine.py');
    writeFileSync(file, 'open("ran", "w")\n');
    await open({ '1.jsonl': [rollout([SAME], { data_source: 'openai/gsm8k' })] }, ['--no-exec', '--reward', file]);
    app.press('r');
    await app.sees('nothing is run: opened with --no-exec');
    app.press(':');
    app.type('reward gsm8k\r');
    await app.sees('scored again by gsm8k from now on');
    app.press('r');
    await app.sees('scored again: 1.00 by gsm8k, recorded 1.00: unchanged');
  });
});

/** A script in place of an editor. */
function editor(body: string): string {
  const path = join(process.env.TMPDIR ?? '/tmp', 'editor');
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
