// The forms of trainers that the recorders were written for, held against the trainers' own sources where those are here.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directoryWith, execute, root } from '../../program.ts';
import { lacksPackages, trainersPython } from '../../support/python.ts';

interface Form {
  repository?: string;
  package?: string;
  commit?: string;
  file: string;
  class?: string;
  method?: string;
  methods?: string[];
  fields?: string[];
  strings?: string[];
  caller?: string;
  call?: string;
  arguments?: string[];
}

const FORMS = JSON.parse(readFileSync(join(root, 'test/engine/python/trainer-forms.json'), 'utf8')) as Record<
  string,
  Form
>;
const trainers = [...new Set(Object.values(FORMS).map((form) => form.repository ?? form.package ?? ''))];

async function moved(trainer: string, folder: string, python = 'python3'): Promise<string[]> {
  const { code, stdout, stderr } = await execute(python, [
    join(root, 'test/engine/python/moved_forms.py'),
    trainer,
    folder,
  ]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

const isOf = (trainer: string) => (form: Form) => (form.repository ?? form.package) === trainer;

/** A source with all of a form but what is left out. */
function source(form: Form, without: (name: string) => boolean): string {
  const names = (list: readonly string[] = []) => list.filter((name) => !without(name));
  if (form.strings) return `KNOWN = ${JSON.stringify(names(form.strings))}\n`;
  const given = names(form.arguments).join(', ');
  if (form.call) return `def ${form.caller}():\n    ${form.call}(${given})\n`;
  const body = form.fields
    ? names(form.fields).map((name) => `${name}: int`)
    : form.methods
      ? names(form.methods).map((name) => `def ${name}(self): pass`)
      : [`async def ${form.method}(${given}): pass`];
  return `class ${form.class}:\n${['pass', ...body].map((line) => `    ${line}\n`).join('')}`;
}

function sources(trainer: string, without: (form: Form, name: string) => boolean): string {
  const folder = directoryWith({});
  for (const form of Object.values(FORMS).filter(isOf(trainer))) {
    const path = join(folder, form.file);
    mkdirSync(dirname(path), { recursive: true });
    // A method and the events of one class are of one class.
    if (form.method && Object.values(FORMS).some((one) => one.methods && one.class === form.class)) continue;
    const methods = form.methods && Object.values(FORMS).find((one) => one.method && one.class === form.class);
    let text = source(form, (name) => without(form, name));
    if (methods)
      text = text.replace(
        `def ${methods.method}(self)`,
        `def ${methods.method}(${methods.arguments?.filter((name) => !without(methods, name)).join(', ')})`,
      );
    writeFileSync(path, text, { flag: 'a' });
  }
  return folder;
}

describe.each(trainers)('%s', (trainer) => {
  const forms = Object.entries(FORMS).filter(([, form]) => isOf(trainer)(form));

  test('what moved is named, and nothing that did not', async () => {
    expect(
      await moved(
        trainer,
        sources(trainer, () => false),
      ),
    ).toEqual([]);
    const [first] = forms;
    const [name, form] = first ?? ['', undefined];
    const lost = (form?.strings ?? form?.fields ?? form?.arguments ?? []).at(-1);
    const said = await moved(
      trainer,
      sources(trainer, (one, part) => one === form && part === lost),
    );
    expect(said).toEqual([expect.stringContaining(name)]);
  });

  const place = process.env[`${trainer.split('/').at(-1)?.toUpperCase().replaceAll('-', '_')}_SOURCE`];
  if (forms.some(([, form]) => form.repository))
    test.skipIf(place === undefined)(
      `nothing moved in its sources${place === undefined ? ' (skipped: no checkout of it is named)' : ''}`,
      async () => {
        expect(await moved(trainer, place ?? '')).toEqual([]);
      },
    );
});

const missing = lacksPackages('trl');
test.skipIf(missing !== '')(`nothing moved in the installed TRL${missing}`, async () => {
  const { stdout } = await execute(trainersPython, [
    '-c',
    'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("trl").origin))',
  ]);
  expect(await moved('trl', stdout.trim(), trainersPython)).toEqual([]);
});
