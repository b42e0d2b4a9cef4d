import {
  appendFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CHAT_TEMPLATE, TOKENIZER_JSON } from '../../engine/byte-tokenizer.ts';
import { ask, directoryWith } from '../../program.ts';
import { recordedLines, truthData } from '../../support/shared-data.ts';

const IM = (role: string, text: string): string => `<|im_start|>${role}\n${text}<|im_end|>\n`;

/** A line with its turns' ends and its mask recorded. */
function line(prompt: string, answer: string, score: number | null, more: Record<string, unknown> = {}): string {
  return `${JSON.stringify({
    input: `${IM('user', prompt)}<|im_start|>assistant\n`,
    output: `${answer}<|im_end|>`,
    gts: '4',
    score,
    step: 1,
    prompt_ids: [1, 2],
    response_ids: [3, 4, 5],
    response_mask: [1, 1, 1],
    ...more,
  })}\n`;
}

const cut = (prompt: string): string => line(prompt, 'x', 0).replace('x<|im_end|>"', 'The answer is"');

const DUMP = [
  line('What is 2+2?', '4', 1),
  line('What is 2+2?', '5', 0),
  line('What is 2+2?', '22', 0),
  line('What is 3+1?', 'four', 1),
  line('What is 3+1?', 'IV', 1),
].join('');

/** A folder with a dump and a state directory. */
function workplace(dump: string) {
  const cwd = directoryWith({ '1.jsonl': dump });
  const env = { XDG_STATE_HOME: join(cwd, 'state') };
  return { cwd, go: (...args: string[]) => ask(args, { cwd, env }), path: (name: string) => join(cwd, name) };
}

const rows = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text));

describe('export', () => {
  test('refuses what the format cannot hold, and writes nothing', async () => {
    const { go, cwd, path } = workplace(DUMP + cut('What is 9?'));
    const refused = await go('export', '1.jsonl', '--to', 'trl', '--out', 'a.jsonl');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('trl refuses a rollout that was cut');
    expect(refused.stderr).toContain('1.jsonl:6');
    expect(readdirSync(cwd).filter((name) => name.startsWith('a.jsonl'))).toEqual([]);
    const dropped = await go('export', '1.jsonl', '--to', 'trl', '--out', 'a.jsonl', '--drop');
    expect(dropped.code).toBe(0);
    expect(dropped.stdout).toContain('left out: 1 (cut)');
    expect(rows(path('a.jsonl')).length).toBe(5);
    expect(JSON.parse(readFileSync(path('a.jsonl.card.json'), 'utf8'))).toMatchObject({
      rows: 5,
      prompts: 2,
      dropped: { cut: 1 },
      tokens: { rollouts: 5, trained_share: 1 },
    });
    const card = readFileSync(path('a.jsonl.card.md'), 'utf8');
    expect(card).toContain('rollout-viewer export 1.jsonl --to trl --out a.jsonl --drop');
    expect(card).toContain('- 5 rows for `trl`, 2 prompts');
    expect(card).toContain('| cut | 1 |');
  });

  test('never replaces a file unasked, and writes the same bytes for the same command', async () => {
    const { go, path } = workplace(DUMP);
    const command = ['export', '1.jsonl', '--to', 'messages', '--out', 'a.jsonl'];
    expect((await go(...command)).code).toBe(0);
    const [first, card] = [readFileSync(path('a.jsonl')), readFileSync(path('a.jsonl.card.json'), 'utf8')];
    const again = await go(...command);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('a.jsonl is there already; --force replaces it');
    expect((await go(...command, '--force')).code).toBe(0);
    expect(readFileSync(path('a.jsonl'))).toEqual(first);
    expect(readFileSync(path('a.jsonl.card.json'), 'utf8')).toBe(card);
  });

  test('never replaces a file that it reads, by whatever name', async () => {
    const { go, path } = workplace(DUMP);
    mkdirSync(path('d'));
    linkSync(path('1.jsonl'), path('d/1.jsonl'));
    symlinkSync('1.jsonl', path('link.jsonl'));
    writeFileSync(path('eval.jsonl'), '"x"\n');
    await go('set', 'all', 'add', '1.jsonl');
    const command = ['--to', 'messages', '--force', '--out'];
    for (const args of [
      ['1.jsonl', ...command, '1.jsonl'],
      ['1.jsonl', ...command, './d/../1.jsonl'],
      ['link.jsonl', ...command, '1.jsonl'],
      ['1.jsonl', ...command, 'link.jsonl'],
      ['1.jsonl:2', ...command, '1.jsonl'],
      ['d', ...command, 'd/1.jsonl', '--filter', 'score > 9'],
      ['all', ...command, '1.jsonl'],
      ['1.jsonl', ...command, 'eval.jsonl', '--against', 'eval.jsonl'],
    ]) {
      const { code, stderr } = await go('export', ...args);
      expect(stderr).toContain('the command reads this file');
      expect(code).toBe(2);
    }
    expect(readFileSync(path('1.jsonl'), 'utf8')).toBe(DUMP);
    expect(readFileSync(path('d/1.jsonl'), 'utf8')).toBe(DUMP);
    expect(readFileSync(path('eval.jsonl'), 'utf8')).toBe('"x"\n');
  });

  test('makes pairs of a group; equal scores make none', async () => {
    const { go, path } = workplace(DUMP);
    expect((await go('export', '1.jsonl', '--to', 'trl-dpo', '--out', 'p.jsonl', '--pairs', 'all')).code).toBe(0);
    const pairs = rows(path('p.jsonl'));
    expect(pairs.map(({ chosen, rejected }) => [chosen[0].content, rejected[0].content])).toEqual([
      ['4', '5'],
      ['4', '22'],
    ]);
    expect(pairs[0].prompt).toEqual([{ role: 'user', content: 'What is 2+2?' }]);
    const none = await go('export', '1.jsonl', '--to', 'trl-dpo', '--out', 'q.jsonl', '--margin', '2');
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('5 left out: no_pair');
    expect(none.stderr).toContain('no row is left to write');
    expect(existsSync(path('q.jsonl'))).toBe(false);
  });

  test('locators give the rows that their file gives, also where a rollout is in no pair or class', async () => {
    const { go, path } = workplace(DUMP);
    const locators = [1, 2, 3, 4, 5].map((at) => `1.jsonl:${at}`);
    for (const more of [['trl-dpo'], ['trl', '--balance', 'difficulty']]) {
      expect((await go('export', '1.jsonl', '--to', ...more, '--out', 'a.jsonl', '--force')).code).toBe(0);
      const { code, stderr } = await go('export', ...locators, '--to', ...more, '--out', 'b.jsonl', '--force');
      expect(code, stderr).toBe(0);
      expect(rows(path('b.jsonl')).length).toBeLessThan(5);
      expect(readFileSync(path('b.jsonl'), 'utf8')).toBe(readFileSync(path('a.jsonl'), 'utf8'));
    }
  });

  test('a rollout that is named twice goes out once, and counts once in a pass rate', async () => {
    const { go, cwd, path } = workplace(DUMP);
    symlinkSync(path('1.jsonl'), path('other.jsonl'));
    const twice = ['1.jsonl:2', '1.jsonl', './1.jsonl', cwd, 'other.jsonl', '1.jsonl:1', '--filter', 'score <= 1'];
    expect((await go('export', ...twice, '--to', 'trl', '--out', 'out/a')).code).toBe(2);
    mkdirSync(path('out'));
    expect((await go('export', ...twice, '--to', 'prompts', '--out', 'out/p')).code).toBe(0);
    expect(rows(path('out/p')).map(({ scores }) => [...scores].sort())).toEqual([
      [0, 0, 1],
      [1, 1],
    ]);
    expect((await go('export', ...twice, '--to', 'trl-dpo', '--pairs', 'all', '--out', 'out/d')).code).toBe(0);
    expect(rows(path('out/d')).length).toBe(2);
  });

  test('prompts have their pass rate; a range and an order choose them', async () => {
    const { go, path } = workplace(DUMP);
    expect((await go('export', '1.jsonl', '--to', 'prompts', '--out', 'p.jsonl', '--pass', '0<pass<1')).code).toBe(0);
    const found = rows(path('p.jsonl'));
    expect(found.length).toBe(1);
    expect(found[0]).toMatchObject({ ground_truth: '4', pass_rate: 1 / 3, scores: [1, 0, 0] });
    const card = JSON.parse(readFileSync(path('p.jsonl.card.json'), 'utf8'));
    expect(card.dropped).toEqual({ '--pass': 2 });
  });

  test('a filter says which answers are good, for pairs and for labels', async () => {
    const { go, path } = workplace(DUMP);
    const good = ['--good', 'output ~ "22"'];
    expect((await go('export', '1.jsonl', '--to', 'trl-dpo', '--out', 'p.jsonl', ...good)).code).toBe(0);
    const [pair, ...more] = rows(path('p.jsonl'));
    expect([pair.chosen[0].content, pair.rejected[0].content, pair.chosen_score]).toEqual(['22', '5', 0]);
    expect(more).toEqual([]);
    expect((await go('export', '1.jsonl', '--to', 'trl-kto', '--out', 'k.jsonl.gz', ...good)).code).toBe(0);
    const lines = gunzipSync(readFileSync(path('k.jsonl.gz')))
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.map((text) => JSON.parse(text).label)).toEqual([false, false, true, false, false]);
    expect((await go('export', '1.jsonl', '--to', 'trl', '--out', 't.jsonl', ...good)).code).toBe(2);
  });

  test('buckets and a balance by difficulty', async () => {
    const { go, path } = workplace(DUMP + line('What is 9?', '9', 1));
    const args = ['--to', 'prompts', '--out', 'p.jsonl', '--buckets', '3', '--balance', 'difficulty'];
    const { code, stdout } = await go('export', '1.jsonl', ...args);
    expect(code).toBe(0);
    expect(stdout).toContain('left out: 2 (--balance)');
    const buckets = rows(path('p.jsonl')).map(({ bucket }) => bucket);
    expect(new Set(buckets).size).toBe(buckets.length);
  });

  test('a split puts no prompt into two files', async () => {
    const dump = Array.from({ length: 60 }, (_, at) => line(`Question ${at % 20}`, `${at}`, 1)).join('');
    const { go, path } = workplace(dump);
    const { code } = await go(
      'export',
      '1.jsonl',
      '--to',
      'messages',
      '--out',
      'a.jsonl',
      '--split',
      'train=0.5,val=0.5',
    );
    expect(code).toBe(0);
    const asked = (name: string) => rows(path(name)).map(({ messages }) => messages[0].content);
    const [train, val] = [asked('a.train.jsonl'), asked('a.val.jsonl')];
    expect(train.length + val.length).toBe(60);
    expect(train.filter((text) => val.includes(text))).toEqual([]);
  });

  test('text without a recorded mask goes out only with --inferred', async () => {
    const plain = `${JSON.stringify({ input: 'user\nWhat is 1+1?\nassistant\n', output: '2', gts: '2', score: 1, step: 1 })}\n`;
    const { go } = workplace(plain);
    expect((await go('export', '1.jsonl', '--to', 'trl', '--out', 'a.jsonl')).stderr).toContain('--inferred');
    const { code, stdout } = await go('export', '1.jsonl', '--to', 'trl', '--out', 'a.jsonl', '--inferred');
    expect(code).toBe(0);
    expect(stdout).toContain('accepted: 1 (inferred)');
  });

  test('tags of results are no end tokens: text without them is not called cut', async () => {
    const output =
      '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\n4\n</tool_response>\nassistant\n#### 4';
    const { go } = workplace(
      `${JSON.stringify({ input: 'user\n2+2?\nassistant\n', output, gts: '4', score: 1, step: 1 })}\n`,
    );
    expect((await go('export', '1.jsonl', '--to', 'trl', '--out', 'a.jsonl', '--inferred')).code).toBe(0);
  });

  test('a secret is masked in what a set names, too', async () => {
    const key = `sk-${'a1B2'.repeat(12)}`;
    const { go, path } = workplace(line('What is 2+2?', `4 ${key}`, 1));
    await go('set', 'a', 'add', '1.jsonl');
    expect((await go('export', 'a', '--to', 'trl', '--out', 'a.jsonl', '--redact')).code).toBe(0);
    expect(readFileSync(path('a.jsonl'), 'utf8')).not.toContain(key);
  });

  test('NaN scores make no pairs and no labels, and are counted', async () => {
    const { go, path } = workplace(DUMP + line('What is 2+2?', '3', 7).replace('"score":7', '"score":NaN'));
    for (const format of ['trl-dpo', 'trl-kto']) {
      expect((await go('export', '1.jsonl', '--to', format, '--out', format)).stdout).toContain(
        'left out: 1 (no_score)',
      );
      expect(readFileSync(path(format), 'utf8')).not.toContain('NaN');
    }
  });

  test('ids of another tokenizer are refused by the first one that spells other text', async () => {
    const { go, cwd, path } = workplace(DUMP);
    writeFileSync(path('tokenizer.json'), JSON.stringify(TOKENIZER_JSON));
    writeFileSync(path('tokenizer_config.json'), JSON.stringify({ chat_template: CHAT_TEMPLATE }));
    const args = ['--to', 'trl', '--out', 'a.jsonl', '--tokenizer', join(cwd, 'tokenizer.json')];
    const { code, stderr } = await go('export', '1.jsonl', ...args);
    expect(code).toBe(1);
    expect(stderr).toContain('1.jsonl:1: token 2 is 3 ');
    expect(stderr).toContain('a rollout whose ids come from another tokenizer (5 of them');
  });

  test('an unwritable place is an error that names it', async () => {
    const { go } = workplace(DUMP);
    const { code, stderr } = await go('export', '1.jsonl', '--to', 'trl', '--out', 'no/such/a.jsonl');
    expect(code).toBe(2);
    expect(stderr).toContain('no/such/a.jsonl');
  });

  test('a device, a pipe or a folder is never replaced, also behind a link', async () => {
    const { go, path } = workplace(DUMP);
    symlinkSync('/dev/null', path('sink'));
    mkdirSync(path('folder'));
    for (const name of ['sink', 'folder']) {
      const { code, stderr } = await go('export', '1.jsonl', '--to', 'trl', '--out', name, '--force');
      expect(code).toBe(2);
      expect(stderr).toContain(`${name}: not a regular file; nothing was written`);
    }
    expect(lstatSync(path('sink')).isSymbolicLink()).toBe(true);
  });
});

describe('a set', () => {
  test('its prompts join two runs; of the others, what was won and lost is counted', async () => {
    const { go, path } = workplace(DUMP);
    const after = [line('What is 2+2?', '4', 1), line('What is 3+1?', '5', 0)].join('');
    writeFileSync(path('after.jsonl'), after);
    await go('set', 'hard', 'add', '1.jsonl:2');
    const { stdout, stderr, code } = await go('compare', '1.jsonl', 'after.jsonl', '--set', 'hard');
    expect(code).toBe(0);
    expect(stdout + stderr).toContain('won 1, lost 0');
    expect(stdout + stderr).toContain('prompts outside of the set hard: won 0, lost 1');
    expect((await go('compare', '1.jsonl', 'after.jsonl', '--set', 'none')).code).toBe(2);
  });

  test('keeps rollouts by filter and by hand, says what changed, and exports', async () => {
    const { go, path } = workplace(DUMP);
    expect((await go('set', 'hard', 'add', '1.jsonl', '--filter', 'score == 0', '--reason', 'wrong')).stdout).toBe(
      'hard: 2 added, 2 in all\n',
    );
    expect((await go('set', 'hard', 'add', '1.jsonl:1')).stdout).toBe('hard: 1 added, 3 in all\n');
    expect((await go('set', 'hard', 'add', '1.jsonl:1')).stdout).toBe('hard: 0 added, 3 in all\n');
    expect((await go('set', 'hard', 'drop', '1.jsonl:3')).stdout).toBe('hard: 1 dropped, 2 in all\n');
    const shown = (await go('set', 'hard', 'show', '--json')).stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(shown.map(({ locator, reason, filter, state }) => [locator, reason, filter, state])).toEqual([
      [path('1.jsonl:2'), 'wrong', 'score == 0', 'same'],
      [path('1.jsonl:1'), null, null, 'same'],
    ]);
    expect((await go('set')).stdout).toBe('hard  2\n');
    expect((await go('export', 'hard', '--to', 'messages', '--out', 'a.jsonl')).code).toBe(0);
    expect(rows(path('a.jsonl')).map(({ messages }) => messages[1].content)).toEqual(['5', '4']);

    writeFileSync(path('1.jsonl'), DUMP.replace('"5<|im_end|>"', '"6<|im_end|>"'));
    expect((await go('set', 'hard')).stdout).toContain('1.jsonl:2  changed');
    const changed = await go('export', 'hard', '--to', 'messages', '--out', 'b.jsonl');
    expect(changed.code).toBe(1);
    expect(changed.stderr).toContain('a rollout that changed on disk');
    writeFileSync(path('1.jsonl'), '');
    expect((await go('set', 'hard')).stdout).toContain('gone');
    const gone = await go('export', 'hard', '--to', 'messages', '--out', 'c.jsonl');
    expect(gone.code).toBe(1);
    expect(gone.stderr).toContain('a rollout that its dump no longer holds (2 of them');
  });

  test('two sets differ by what only one holds', async () => {
    const { go } = workplace(DUMP);
    await go('set', 'a', 'add', '1.jsonl:1', '1.jsonl:2');
    await go('set', 'b', 'add', '1.jsonl:2', '1.jsonl:3');
    const { stdout, code } = await go('set', 'a', 'diff', 'b');
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\/\S*\//g, '')).toBe('- 1.jsonl:1\n+ 1.jsonl:3\n');
  });

  test('a set differs from its dumps by what changed or is gone, and loses it by name', async () => {
    const { go, path } = workplace(DUMP);
    await go('set', 'a', 'add', '1.jsonl');
    expect((await go('set', 'a', 'diff')).code).toBe(0);
    const [first = '', second = ''] = DUMP.trimEnd().split('\n');
    writeFileSync(path('1.jsonl'), `${first}\n${second.replace('2+2', '2+3')}\n`);
    const { stdout, code } = await go('set', 'a', 'diff');
    expect(code).toBe(1);
    const names = ['~ 1.jsonl:2', '- 1.jsonl:3', '- 1.jsonl:4', '- 1.jsonl:5'];
    expect(
      stdout
        .replaceAll(/\/\S*\//g, '')
        .trimEnd()
        .split('\n'),
    ).toEqual(names);
    expect((await go('set', 'a', 'drop', '1.jsonl:4')).stdout).toBe('a: 1 dropped, 4 in all\n');
    const filtered = await go('set', 'a', 'drop', '--filter', 'score == 1');
    expect(filtered.stdout).toBe('a: 1 dropped, 3 in all\n');
    expect(filtered.stderr).toContain('2 gone from their dump');
    rmSync(path('1.jsonl'));
    expect((await go('set', 'a', 'drop', '1.jsonl')).stdout).toBe('a: 3 dropped, 0 in all\n');
  });

  test('whose file is a link or no file is not called empty', async () => {
    const { go, path } = workplace(DUMP);
    await go('set', 'a', 'add', '1.jsonl');
    const sets = path('state/rollout-viewer/sets');
    symlinkSync(`${sets}/a.jsonl`, `${sets}/link.jsonl`);
    mkdirSync(`${sets}/folder.jsonl`);
    for (const [name, why] of [
      ['link', 'is a link, and is not followed'],
      ['folder', 'is not a regular file'],
    ] as const)
      for (const args of [
        ['set', name, 'show'],
        ['set', name, 'add', '1.jsonl'],
        ['set', 'a', 'diff', name],
        ['export', name, '--to', 'messages', '--out', 'x.jsonl'],
      ]) {
        const { code, stderr } = await go(...args);
        expect(stderr).toContain(why);
        expect(code).toBe(2);
      }
    const { stdout, stderr } = await go('set');
    expect(stdout).toBe('a  5\n');
    expect(stderr).toContain('is a link, and is not followed');
  });

  test('names with a slash are refused, and lines of strangers are passed over', async () => {
    const { go, path } = workplace(DUMP);
    expect((await go('set', '../x', 'add', '1.jsonl')).code).toBe(2);
    await go('set', 'a', 'add', '1.jsonl:1');
    appendFileSync(path('state/rollout-viewer/sets/a.jsonl'), '{"action":"add"}\nno json\n[[[\n');
    expect((await go('set', 'a')).stdout.trimEnd().split('\n').length).toBe(1);
  });
});

const given = join(truthData, 'exports');

describe.skipIf(!existsSync(given))('the recorded rollouts (skipped without ../shared/data/exports)', () => {
  test('are refused where no loader can hold them, and render to their ids', async () => {
    const cwd = directoryWith({});
    const tokenizer = join(given, 'tok/tokenizer.json');
    const out = join(cwd, 'a.jsonl');
    const args = ['--to', 'trl', '--out', out, '--drop', '--tokenizer', tokenizer, '--json'];
    const { code, stdout } = await ask(['export', join(given, 'rollouts.jsonl'), ...args], {
      env: { XDG_STATE_HOME: cwd },
    });
    expect(code).toBe(0);
    const truth = recordedLines(join(given, 'expect/sft.jsonl'));
    const representable = truth.filter((one) => one.representable);
    expect(JSON.parse(stdout).dropped).toEqual({ cut: truth.length - representable.length });
    expect(rows(out).map(({ id }) => id)).toEqual(representable.map(({ id }) => id));
  });

  test('make the pairs that the truth lists', async () => {
    const cwd = directoryWith({});
    const out = join(cwd, 'a.jsonl');
    const args = ['--to', 'trl-dpo', '--out', out, '--drop', '--accept', 'masked_results', '--pairs', 'all'];
    const { code } = await ask(['export', join(given, 'rollouts.jsonl'), ...args], {
      env: { XDG_STATE_HOME: cwd },
    });
    expect(code).toBe(0);
    const pair = (one: { chosen_id: number; rejected_id: number }) => [one.chosen_id, one.rejected_id];
    expect(rows(out).map(pair)).toEqual(recordedLines(join(given, 'expect/dpo.jsonl')).map(pair));
  });
});
