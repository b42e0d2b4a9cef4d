// The licences of everything the build has bundled, read from the packages.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/** @param builds esbuild's results, with their metafiles */
export function noticesOf(root, builds) {
  const folders = new Set();
  for (const { metafile } of builds) {
    for (const output of Object.values(metafile.outputs)) {
      for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
        const folder = bytesInOutput > 0 ? /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] : undefined;
        if (folder !== undefined) folders.add(folder);
      }
    }
  }
  // Equal licences side by side: the package is smaller by what then repeats within reach.
  const parts = [...folders]
    .sort()
    .map((folder) => notice(join(root, folder)))
    .sort((a, b) => compareText(wordsOf(a), wordsOf(b)));
  return `The program contains code of these packages.\n\n${parts.join('\n')}`;
}

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => LICENCE_FILE.test(file)) : [];
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const terms = texts.length > 0 ? texts.join('\n\n') : 'The package brings no text of its licence.';
  return `${'='.repeat(80)}\n${name} ${version} (${license ?? 'licence not named'})\n\n${terms}\n`;
}

/** A notice from its licence on, without the holders of the copyright. */
const wordsOf = (text) => text.slice(text.indexOf('(')).replace(/^.*Copyright.*$/gm, '');

const compareText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
