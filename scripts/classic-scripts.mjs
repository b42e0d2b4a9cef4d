// Node 20 resolves, reads and compiles ES modules one by one at each start; only of a classic script can it keep what it compiled. So each
// file that esbuild wrote becomes a script (.cjs) that core/files/compiled.ts runs. A module with the file's old name remains where an
// import needs one: it exports what the script returns.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Script } from 'node:vm';

/** The module that runs scripts, in dist/. */
const RUNNER = 'compiled.js';

const IMPORT = /(?<=^|[;}\n])import(?:\s*([\w$*{][^"';]*?)from)?"([^"\\;]+)";?/g;
/** Comments on licences may follow. */
const EXPORT = /export\{([^{}]*)\};?((?:\s*\/\*(?:(?!\*\/)[\s\S])*\*\/)*\s*)$/;
const DYNAMIC = /(?<![\w$.])import\((?:"([^"\\]+)"\))?/g;

/**
 * @param root that the paths of the metafiles start from
 * @param dist the folder of all files
 * @param metafiles of the builds that wrote them
 * @param banner that each file begins with
 * @param named whether a file of this name in dist/, such as 'engine' or 'workers/record-worker', is imported from elsewhere
 */
export function classicScripts(root, dist, metafiles, banner, named) {
  const outputs = new Map(
    metafiles.flatMap((one) =>
      Object.entries(one.outputs).map(([path, output]) => [relative(dist, join(root, path)), output]),
    ),
  );
  const files = new Map([...outputs].map(([file, output]) => [file, partsOf(dist, file, output, banner)]));
  // Scripts cannot wait for a module, nor import one that does; and what a script returns is final, while a module that CommonJS requires
  // sets what it exports later.
  const modules = new Set(
    [...files].filter(([, parts]) => !isScript(parts) || parts.body.includes('__esm(')).map(([file]) => file),
  );
  for (let size = -1; size !== modules.size; ) {
    size = modules.size;
    for (const [file, { imports }] of files) if (imports.some(({ from }) => modules.has(from))) modules.add(file);
  }
  refuseCircles(files);
  const scripts = new Set([...files.keys()].filter((file) => !modules.has(file)));
  const wanted = new Set([...modules].flatMap((file) => files.get(file).imports.map(({ from }) => from)));
  for (const [file, parts] of files) {
    const path = join(dist, file);
    if (modules.has(file)) {
      writeFileSync(path, moduleText(file, parts, scripts, banner));
      continue;
    }
    const script = asciiOf(scriptText(file, parts, scripts), file);
    const id = createHash('sha256').update(script).digest('hex').slice(0, 16);
    const needs = parts.imports.filter(({ from }) => scripts.has(from)).map(({ from }) => ` ${nameOf(from)}`);
    writeFileSync(path.replace(/\.js$/, '.cjs'), `//${id}${needs.join('')}\n${script}`);
    if (wanted.has(file) || named(nameOf(file))) writeFileSync(path, facade(file, id, outputs.get(file).exports));
    else rmSync(path);
  }
}

/**
 * A module of Node's own modules alone imports them without their facades as ES modules, which take a twentieth of a start to fill.
 * @param path of a file that esbuild wrote, beside the one that runs scripts; it imports scripts at run time alone
 */
export function plainModule(path, banner) {
  const { imports, body, exports } = split(readFileSync(path, 'utf8').replace(banner, ''));
  const heads = imports.map((one) => declaration(one, `process.getBuiltinModule("${one.from}")`));
  const text = body.replace(DYNAMIC, (whole, name = '') =>
    /^\.\/[\w-]+\.js$/.test(name) && last(name) !== RUNNER ? loading(`./${RUNNER}`, nameOf(last(name))) : whole,
  );
  writeFileSync(path, `${heads.join('')}${text}${exports === '' ? '' : `export{${exports}};`}\n`);
}

const loading = (runner, name) => `import(${quoted(runner)}).then((one)=>one.laterPart(${quoted(name)}))`;

const nameOf = (file) => file.replace(/\.js$/, '');
const quoted = (name) => JSON.stringify(name);

/** The imports, the statements and the export of a file: esbuild writes them without blanks, the imports of packages anywhere. */
function split(text) {
  const imports = [];
  const rest = text.replace(IMPORT, (_, what = '', from) => {
    imports.push({ what, from });
    return '';
  });
  const exports = EXPORT.exec(rest)?.[1] ?? '';
  return { imports, body: rest.replace(EXPORT, '$2'), exports };
}

function partsOf(dist, file, output, banner) {
  const text = readFileSync(join(dist, file), 'utf8');
  if (!text.startsWith(banner)) throw new Error(`${file} does not begin with the banner`);
  const parts = split(text.slice(banner.length));
  // esbuild also lists modules that nothing uses, which it does not import.
  const expected = new Set(
    output.imports.filter((one) => one.kind === 'import-statement').map((one) => last(one.path)),
  );
  const found = new Set(parts.imports.map(({ from }) => last(from)));
  const wrong = [
    ...[...found].filter((path) => !expected.has(path)),
    ...[...expected].filter(
      (path) => !found.has(path) && parts.body.match(new RegExp(`(?:from|import)"[./]*${path}"`)),
    ),
  ];
  if (wrong.length > 0) throw new Error(`${file}: imports that are not understood: ${wrong}`);
  for (const one of parts.imports) {
    one.isFile = one.from.startsWith('.');
    one.from = placeOf(file, one.from);
  }
  return parts;
}

const last = (path) => path.slice(path.lastIndexOf('/') + 1);

/** The file in dist/ that an import of a file in dist/ names; the name of a package as it is. */
const placeOf = (file, name) => (name.startsWith('.') ? join(dirname(file), name) : name);

/** Whether it waits for nothing at its top. */
function isScript({ body }) {
  const compiles = (kind) => {
    try {
      return (
        new Script(`(${kind} function(){"use strict";${body.replaceAll('import.meta', 'import_meta')}\n})`) !== null
      );
    } catch {
      return false;
    }
  };
  if (compiles('')) return true;
  if (compiles('async')) return false;
  throw new Error(`what remains without imports and exports is no function: ${body.slice(0, 200)}`);
}

function refuseCircles(files) {
  const done = new Set();
  const visit = (file, above) => {
    if (above.includes(file)) throw new Error(`files import each other: ${[...above, file].join(' → ')}`);
    if (done.has(file)) return;
    done.add(file);
    for (const { from } of files.get(file)?.imports ?? []) visit(from, [...above, file]);
  };
  for (const file of files.keys()) visit(file, []);
}

/** The bindings of one import statement; `value` is what the module exports. */
function declaration({ what, from }, value) {
  if (what === '') return `${value};`;
  const [, single, all] = /^\s*([\w$]+)?\s*,?\s*([\s\S]*)$/.exec(what);
  const lines = [];
  if (single !== undefined) lines.push(`const ${single}=${value}${isBuiltin(from) ? '' : '.default'};`);
  const star = /^\*\s*as\s+([\w$]+)\s*$/.exec(all);
  if (star) lines.push(`const ${star[1]}=${value};`);
  else if (all.trim() !== '')
    lines.push(
      `const ${all
        .replace(/\bdefault as (?=[\w$])/g, 'default:')
        .replace(/([\w$]+) as ([\w$]+)/g, '$1:$2')
        .trim()}=${value};`,
    );
  return lines.join('');
}

const exported = (exports) =>
  exports
    .split(',')
    .filter(Boolean)
    .map((one) => one.trim().replace(/^([\w$]+) as ([\w$]+)$/, '$2:$1'));

function scriptText(file, { imports, body, exports }, scripts) {
  const heads = imports.map((one) =>
    declaration(one, scripts.has(one.from) ? `__part(${quoted(nameOf(one.from))})` : `require(${quoted(one.from)})`),
  );
  const text = dynamic(file, body, scripts, (name) => `__load(${quoted(name)})`, '__import').replaceAll(
    'import.meta.url',
    '__url',
  );
  return `(function(__part,__load,__import,__url,require){"use strict";${heads.join('')}${text}\nreturn{${exported(exports)}};})`;
}

function moduleText(file, { imports, body, exports }, scripts, banner) {
  const runner = `./${relative(dirname(file), RUNNER)}`;
  const heads = imports.map(({ what, from, isFile }) => {
    const path = isFile ? `./${relative(dirname(file), from)}` : from;
    return `import${what === '' ? '' : `${what.startsWith('{') || what.startsWith('*') ? '' : ' '}${what}from`}${quoted(path)};`;
  });
  const text = dynamic(file, body, scripts, (name) => loading(runner, name), 'import');
  return `${banner}\n${heads.join('')}${text}${exports === '' ? '' : `export{${exports}};`}\n`;
}

/** The body with the modules that it imports at run time: scripts are loaded, others imported, by their paths from dist/. */
const dynamic = (file, body, scripts, load, otherwise) =>
  body.replace(DYNAMIC, (_, name) => {
    if (name === undefined) return `${otherwise}(`;
    const place = placeOf(file, name);
    if (scripts.has(place)) return load(nameOf(place));
    return `${otherwise}(${quoted(name.startsWith('.') && otherwise !== 'import' ? `./${place}` : name)})`;
  });

const facade = (file, id, exports) => {
  const names = exports.map((name, at) => `${name}:e${at}`);
  const values = exports.map((name, at) => `e${at} as ${name}`);
  return [
    `// ${id}`,
    `import{part}from${quoted(`./${relative(dirname(file), RUNNER)}`)};`,
    `const{${names}}=part(${quoted(nameOf(file))});`,
    `export{${values}};`,
    '',
  ].join('\n');
};

/**
 * V8 takes one byte a character. esbuild escapes all others but those in patterns and in raw templates, which hold patterns too; there the
 * escape means the same.
 */
function asciiOf(script, file) {
  const escaped = script.replace(
    /(?<!\\)[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const left = /.{0,40}[^\0-\x7f]/.exec(escaped);
  if (left !== null) throw new Error(`${file}: a character without an escape: ${left[0]}`);
  return escaped;
}
