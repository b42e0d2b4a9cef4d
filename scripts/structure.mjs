// node scripts/structure.mjs: prints each folder of src/ with its imports, and fails on an import that the table does not allow, or on a
// cycle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** The seven parts of src/ from the lowest to the highest, and which others each may import. */
export const PARTS = {
  core: [],
  // SandboxFusion's protocol and servers must be usable without the viewer, so they may import only core's plumbing.
  sandbox: ['core/lists', 'core/json', 'core/text', 'core/http', 'core/async', 'core/files'],
  analysis: ['core'],
  engine: ['core', 'sandbox'],
  replay: ['core', 'sandbox', 'analysis', 'engine'],
  cluster: ['core', 'sandbox', 'analysis', 'engine', 'replay'],
  viewer: ['core', 'sandbox', 'analysis', 'engine', 'replay', 'cluster'],
};

/**
 * The folders inside a part, and which of their neighbours each may import. A folder that is not listed may import no neighbour; "*" is
 * any.
 */
export const FOLDERS = {
  'core/lists': [],
  'core/async': ['core/lists'],
  'core/text': ['core/lists', 'core/async'],
  'core/json': ['core/lists'],
  'core/files': ['core/lists', 'core/text'],
  'core/rollout': ['core/lists', 'core/async', 'core/json', 'core/text'],
  'core/http': ['core/lists', 'core/async', 'core/json', 'core/text'],
  'core/chat': ['core/lists', 'core/rollout', 'core/json'],
  'core/formats': ['core/lists', 'core/chat', 'core/rollout', 'core/json'],
  'core/dump': [
    'core/lists',
    'core/async',
    'core/chat',
    'core/files',
    'core/formats',
    'core/rollout',
    'core/text',
    'core/json',
  ],
  'core/workers': ['core/lists', 'core/async', 'core/chat', 'core/dump', 'core/rollout', 'core/json'],
  // The engine, from its basic types up to the collector.
  'engine/common': [],
  'engine/python': [],
  'engine/retrieval': [],
  'replay/compare': [],
  'replay/journal': [],
  'engine/model': ['engine/common'],
  'engine/rewards': ['engine/common'],
  'replay/sets': ['replay/journal'],
  // The agent that made a rollout, answered from its record.
  'replay/agents': ['replay/journal', 'replay/worlds'],
  'engine/interactions': ['engine/common', 'engine/model', 'engine/rewards'],
  'engine/session': ['engine/common', 'engine/interactions', 'engine/rewards'],
  'engine/tools': ['engine/common', 'engine/rewards', 'engine/session'],
  'engine/request': ['engine/common', 'engine/interactions', 'engine/model', 'engine/python', 'engine/tools'],
  'engine/agents': ['engine/common', 'engine/model', 'engine/request', 'engine/rewards', 'engine/tools'],
  // A recorder between agents and models.
  'engine/record': ['engine/model'],
  'engine/workers': ['engine/request', 'engine/tools'],
  'engine/own': [
    'engine/agents',
    'engine/common',
    'engine/interactions',
    'engine/python',
    'engine/rewards',
    'engine/tools',
  ],
  'engine/collect': [
    'engine/agents',
    'engine/common',
    'engine/interactions',
    'engine/model',
    'engine/own',
    'engine/request',
    'engine/rewards',
    'engine/session',
    'engine/tools',
  ],
  'viewer/config': [],
  // Copies of remote files.
  'viewer/remote': ['viewer/config'],
  // Other programs of this user point at what a screen shows.
  'viewer/listen': [],
  'viewer/judge': [],
  'viewer/present': ['viewer/config'],
  'viewer/tui': ['viewer/listen', 'viewer/present', 'viewer/config'],
  // The command line as tools of an agent.
  'viewer/mcp': ['viewer/listen'],
  'viewer/workers': ['viewer/present'],
  'viewer/commands': [
    'viewer/judge',
    'viewer/mcp',
    'viewer/remote',
    'viewer/listen',
    'viewer/tui',
    'viewer/present',
    'viewer/config',
  ],
  'viewer/tui/screen': [],
  'viewer/tui/state': ['viewer/tui/screen'],
  // The lines of a question, and how many they are.
  'viewer/tui/questions': ['viewer/tui/state'],
  'viewer/tui/rows': ['viewer/tui/questions', 'viewer/tui/state'],
  // The content of pages: titles, columns, words; one builder per page.
  'viewer/tui/pages': ['viewer/tui/rows', 'viewer/tui/state'],
  'viewer/tui/keys': ['viewer/tui/rows', 'viewer/tui/state', 'viewer/tui/screen'],
  'viewer/tui/update': [
    'viewer/tui/keys',
    'viewer/tui/questions',
    'viewer/tui/rows',
    'viewer/tui/state',
    'viewer/tui/screen',
  ],
  'viewer/tui/views': [
    'viewer/tui/update',
    'viewer/tui/keys',
    'viewer/tui/questions',
    'viewer/tui/rows',
    'viewer/tui/state',
    'viewer/tui/screen',
  ],
  'viewer/tui/runner': ['viewer/tui/rows', 'viewer/tui/state'],
  'viewer/tui/shell': [
    'viewer/tui/views',
    'viewer/tui/runner',
    'viewer/tui/update',
    'viewer/tui/keys',
    'viewer/tui/pages',
    'viewer/tui/rows',
    'viewer/tui/state',
    'viewer/tui/screen',
  ],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+'(\.[^']+)'|import\(\s*'(\.[^']+)'\s*\)|^import\s+'(\.[^']+)'/gm;

/** Every source file with the files it imports, types included; paths are relative to src/. */
export function importsOf() {
  const files = readdirSync(src, { recursive: true })
    .map(String)
    .filter((name) => /\.tsx?$/.test(name));
  return new Map(
    files.map((file) => {
      const targets = [...readFileSync(join(src, file), 'utf8').matchAll(IMPORT)].map((match) =>
        relative(src, join(src, dirname(file), match[1] ?? match[2] ?? match[3])),
      );
      return [file, targets.filter((target) => files.includes(target))];
    }),
  );
}

const partName = (file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : null);

/** Whether a path is in a listed folder, or anywhere below it. */
const isListed = (path, list) => list.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** The two sibling folders below their nearest common ancestor that an import crosses; null if one file is beside or below the other. */
function siblings(file, target) {
  const [from, to] = [dirname(file).split('/'), dirname(target).split('/')];
  const depth = from.findIndex((name, at) => name !== to[at]);
  if (depth < 1 || to[depth] === undefined) return null;
  return [from.slice(0, depth + 1).join('/'), to.slice(0, depth + 1).join('/')];
}

/** The public interface of a part, as listed in its README under "## Entries": files, or folders whose direct files are all public. */
export function entriesOf(part) {
  const page = readFileSync(join(src, part, 'README.md'), 'utf8');
  const list = page.slice(page.indexOf('## Entries'));
  return [...list.matchAll(/`([^`]+)`/g)].map(([, path]) => path.replace(/^\.\//, ''));
}

const isEntry = (target, entries) => {
  const path = target.slice(target.indexOf('/') + 1);
  return entries.includes(path) || entries.includes(path.slice(0, path.lastIndexOf('/') + 1));
};

/** Imports that the tables do not allow, one sentence each. */
export function brokenWalls(imports = importsOf()) {
  const broken = [];
  const entries = new Map(Object.keys(PARTS).map((part) => [part, entriesOf(part)]));
  for (const [file, targets] of imports) {
    const part = partName(file);
    if (part === null) {
      if (file !== 'main.ts') broken.push(`src/${file}: only main.ts lies beside the seven parts`);
      continue;
    }
    if (PARTS[part] === undefined) broken.push(`src/${file}: ${part}/ is none of the seven parts`);
    for (const target of targets) {
      const other = partName(target);
      if (other !== part && !isListed(target, PARTS[part] ?? []))
        broken.push(`src/${file} imports ${target}: ${part}/ may not import ${dirname(target)}/`);
      if (other !== part && other !== null && !isEntry(target, entries.get(other) ?? []))
        broken.push(`src/${file} imports ${target}, which is no entry of ${other}/: its README lists them`);
      const pair = other === part ? siblings(file, target) : null;
      if (pair === null) continue;
      const isTabled = pair.some((folder) => FOLDERS[folder] !== undefined);
      if (isTabled && !FOLDERS[pair[0]]?.includes(pair[1]))
        broken.push(`src/${file} imports ${target}: ${pair[0]}/ may not import ${pair[1]}/`);
    }
  }
  return broken;
}

/** Groups of files that import each other cyclically (strongly connected components, Tarjan 1972). */
export function importCycles(imports = importsOf()) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const cycles = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!index.has(target)) {
        visit(target);
        low.set(file, Math.min(low.get(file), low.get(target)));
      } else if (stack.includes(target)) {
        low.set(file, Math.min(low.get(file), index.get(target)));
      }
    }
    if (low.get(file) !== index.get(file)) return;
    const cycle = stack.splice(stack.indexOf(file));
    if (cycle.length > 1) cycles.push(cycle);
  };
  for (const file of imports.keys()) if (!index.has(file)) visit(file);
  return cycles;
}

/** The folders of src/, and the folders that each imports from. */
function structure(imports) {
  const folders = new Map();
  for (const [file, targets] of imports) {
    const folder = dirname(file);
    const arrows = folders.get(folder) ?? { files: 0, to: new Set() };
    arrows.files++;
    for (const target of targets) if (dirname(target) !== folder) arrows.to.add(dirname(target));
    folders.set(folder, arrows);
  }
  return [...folders].sort(([a], [b]) => a.localeCompare(b));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const imports = importsOf();
  for (const [folder, { files, to }] of structure(imports))
    console.log(`${folder} (${files}) → ${[...to].sort().join(' ') || '–'}`);
  const faults = [
    ...brokenWalls(imports),
    ...importCycles(imports).map((cycle) => `a circle of imports: ${cycle.join(', ')}`),
  ];
  for (const fault of faults) console.error(fault);
  process.exit(faults.length > 0 ? 1 : 0);
}
