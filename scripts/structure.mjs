// node scripts/structure.mjs: prints each folder of src/ with what it imports, and fails on an import that the table does not allow, or on a cycle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** The rooms from the lowest to the highest, and which other rooms each may import. A room that is missing here is an error. */
export const ALLOWED = {
  async: [],
  text: [],
  json: [],
  // Files that may not be what they seem.
  files: ['text'],
  rollout: ['json'],
  http: ['async', 'json', 'text'],
  python: ['async', 'json', 'text'],
  // Copies of what lies on other machines.
  remote: ['config', 'dump', 'files', 'text'],
  // Other programs of this user point at what a screen shows.
  listen: [],
  chat: ['rollout', 'json'],
  formats: ['chat', 'rollout', 'json'],
  dump: ['files', 'formats', 'rollout', 'text', 'json'],
  analysis: ['dump', 'formats', 'chat', 'rollout', 'text', 'json'],
  config: ['rollout', 'text', 'json'],
  journal: ['files', 'config', 'text', 'json'],
  sandbox: ['http', 'async', 'text', 'json'],
  engine: ['async', 'dump', 'formats', 'chat', 'rollout', 'sandbox', 'python', 'http', 'text', 'json'],
  replay: [
    'async',
    'engine',
    'analysis',
    'journal',
    'files',
    'sandbox',
    'dump',
    'formats',
    'chat',
    'rollout',
    'python',
    'http',
    'config',
    'text',
    'json',
  ],
  // Rollouts, replays and scores by workers on many machines.
  queue: ['async', 'engine', 'replay', 'sandbox', 'files', 'text', 'json'],
  judge: ['engine', 'analysis', 'journal', 'rollout', 'json'],
  present: ['replay', 'analysis', 'journal', 'config', 'dump', 'chat', 'rollout', 'text', 'json'],
  tui: [
    'async',
    'listen',
    'present',
    'replay',
    'engine',
    'sandbox',
    'analysis',
    'journal',
    'config',
    'dump',
    'chat',
    'rollout',
    'http',
    'files',
    'text',
    'json',
  ],
  // The command line as tools of an agent.
  mcp: ['async', 'dump', 'listen', 'json', 'text'],
  // What `rollout-viewer/engine`, `/sandbox` and `/session` give to programs.
  library: ['engine', 'sandbox', 'python', 'rollout', 'http', 'async', 'json'],
  workers: [
    'async',
    'present',
    'analysis',
    'dump',
    'formats',
    'chat',
    'rollout',
    'sandbox',
    'engine',
    'replay',
    'text',
    'json',
  ],
  commands: [
    'judge',
    'async',
    'queue',
    'mcp',
    'remote',
    'listen',
    'tui',
    'present',
    'replay',
    'engine',
    'sandbox',
    'analysis',
    'journal',
    'config',
    'dump',
    'formats',
    'chat',
    'rollout',
    'python',
    'http',
    'text',
    'json',
  ],
};

/** The layers of tui/ from the lowest to the highest, and which other layers each may import. */
export const LAYERS = {
  'tui/screen': [],
  'tui/state': ['tui/screen'],
  'tui/rows': ['tui/state'],
  'tui/keys': ['tui/rows', 'tui/state', 'tui/screen'],
  'tui/update': ['tui/keys', 'tui/rows', 'tui/state', 'tui/screen'],
  'tui/views': ['tui/update', 'tui/keys', 'tui/rows', 'tui/state', 'tui/screen'],
  'tui/runner': ['tui/rows', 'tui/state'],
  'tui/shell': ['tui/views', 'tui/runner', 'tui/update', 'tui/keys', 'tui/rows', 'tui/state', 'tui/screen'],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+'(\.[^']+)'|import\(\s*'(\.[^']+)'\s*\)|^import\s+'(\.[^']+)'/gm;

/** Every source file with the files that it imports, types included; paths are relative to src/. */
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

const roomOf = (file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : null);

/** Imports that the table does not allow, a sentence each. */
export function brokenWalls(imports = importsOf()) {
  const broken = [];
  for (const [file, targets] of imports) {
    const room = roomOf(file);
    if (room === null) continue;
    if (ALLOWED[room] === undefined)
      broken.push(`src/${file}: the room ${room}/ is not in the table of scripts/structure.mjs`);
    for (const target of targets) {
      const other = roomOf(target);
      if (other !== null && other !== room && !ALLOWED[room]?.includes(other))
        broken.push(`src/${file} imports ${target}: ${room}/ may not import ${other}/`);
      const [layer, below] = [dirname(file), dirname(target)];
      if (room === 'tui' && other === 'tui' && layer !== below && !LAYERS[layer]?.includes(below))
        broken.push(`src/${file} imports ${target}: ${layer}/ may not import ${below}/`);
    }
  }
  return broken;
}

/** Groups of files that import each other in a circle (strongly connected components, Tarjan 1972). */
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
