// node scripts/readme-tables.mjs [--check]: writes the tables of keys, formats, findings and facts in docs/ from the program; --check only compares them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-tables-'));

async function load(source) {
  const outfile = join(folder, source.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  const banner = {
    js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
  };
  await build({
    entryPoints: [join(root, source)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    banner,
  });
  return import(pathToFileURL(outfile).href);
}

/** Names of formats, grouped by what their reader was built from. */
function formatTable(formats) {
  const named = (basis) =>
    [...new Set(formats.filter((format) => (format.basis ?? 'files') === basis).map(({ name }) => name))]
      .sort()
      .join(', ');
  const documented = named('documentation');
  return [
    '| built from | `--format` |',
    '|---|---|',
    `| files that the writers made | ${named('files')} |`,
    ...(documented === '' ? [] : [`| their documentation alone | ${documented} |`]),
  ].join('\n');
}

/** Replaces the text between its two marks. */
function between(text, name, table) {
  const [begin, end] = [`<!-- ${name}: node scripts/readme-tables.mjs -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/${name}.md: the marks of its table are missing`);
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
}

/** Findings with their word in the list and their weight. */
function findingTable(checks) {
  return [
    '| finding | in the list | |',
    '|---|---|---|',
    ...checks.map(([name, word, severity]) => `| \`${name}\` | ${word} | ${severity} |`),
  ].join('\n');
}

/** Facts with their help. */
const factTable = (facts) =>
  ['| fact | |', '|---|---|', ...facts.map(({ name, help }) => `| \`${name}\` | ${help} |`)].join('\n');

try {
  const { keyTable } = await load('src/viewer/tui/keys/key-table.ts');
  const { FORMATS } = await load('src/core/formats/registry.ts');
  const { CHECKS, checkWord, ERROR_CHECKS } = await load('src/core/rollout/checks.ts');
  const { FACTS } = await load('src/core/rollout/facts.ts');
  const findings = CHECKS.map((name) => [
    name,
    checkWord(name),
    ERROR_CHECKS.includes(name) ? 'error' : 'a place to look at',
  ]);
  const tables = {
    keys: keyTable(),
    formats: formatTable(FORMATS),
    findings: findingTable(findings),
    json: factTable(FACTS),
  };
  for (const [name, table] of Object.entries(tables)) {
    const page = join(root, `docs/${name}.md`);
    const before = readFileSync(page, 'utf8');
    const after = between(before, name, table);
    if (before !== after && process.argv.includes('--check')) {
      console.error(`docs/${name}.md: the table differs from the program's; node scripts/readme-tables.mjs writes it`);
      process.exitCode = 1;
    } else if (before !== after) writeFileSync(page, after);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
