// The files that run the program where npm did not install it: in the wheel and in the single executable.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Files below a folder, by their path below `to`
 * @returns {[string, Buffer][]}
 */
export function filesBelow(folder, to, isWanted = () => true) {
  return readdirSync(join(root, folder), { recursive: true })
    .map(String)
    .sort()
    .filter((name) => statSync(join(root, folder, name)).isFile() && isWanted(name))
    .map((name) => [`${to}/${name.split('\\').join('/')}`, readFileSync(join(root, folder, name))]);
}

/** @returns {[string, Buffer][]} */
export function programFiles(to) {
  if (!existsSync(join(root, 'dist/rollout-viewer.js'))) throw new Error('dist/ is missing: npm run build makes it');
  return [
    // Without it Node goes by the package.json of a project around the program.
    [`${to}/package.json`, Buffer.from('{ "type": "module" }\n')],
    // Files for JavaScript programs are left to npm.
    ...filesBelow('dist', `${to}/dist`, (name) => !name.startsWith('types/')),
    ...filesBelow('docs', `${to}/docs`, (name) => name.endsWith('.md')),
    ...filesBelow('node_modules/node-sqlite3-wasm', `${to}/node_modules/node-sqlite3-wasm`),
  ];
}
