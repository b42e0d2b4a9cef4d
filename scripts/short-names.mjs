// Files in dist/ that hold packages alone get short names for what is local to them. Our own code keeps its names, for stack traces.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { transform } from 'esbuild';

/** BullMQ knows its errors by the names of their classes. */
const NAMED = 'node_modules/bullmq/';

/**
 * @param root that the paths of the metafile start from
 * @param metafile of the build that wrote the files
 * @param banner that each file begins with, and keeps
 */
export async function shortNames(root, { outputs }, banner) {
  await Promise.all(
    Object.entries(outputs).map(async ([path, { bytes, inputs }]) => {
      const paths = Object.keys(inputs);
      const foreign = paths.filter((input) => input.includes('node_modules/'));
      const size = foreign.reduce((sum, input) => sum + inputs[input].bytesInOutput, 0);
      if (size < 10_000 || size < 0.9 * bytes) return;
      const file = resolve(root, path);
      const text = readFileSync(file, 'utf8');
      if (!text.startsWith(banner)) throw new Error(`${file} does not begin with the banner`);
      const { code } = await transform(text.slice(banner.length), {
        format: 'esm',
        platform: 'node',
        target: 'node20',
        minify: true,
        keepNames: paths.some((input) => input.startsWith(NAMED)),
      });
      writeFileSync(file, `${banner}\n${code}`);
    }),
  );
}
