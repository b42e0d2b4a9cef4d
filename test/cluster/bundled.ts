// A script of the tests as a separate process.
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from '../program.ts';

/** @returns its path, beside the packages that it needs; the caller removes it */
export async function bundled(name: string): Promise<string> {
  const outfile = join(root, `.bench/${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, `test/cluster/${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return outfile;
}
