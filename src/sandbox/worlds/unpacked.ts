import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ensureFolder } from '../../core/files/ensure-folder.ts';
import { rootfsImage, type WorldImage } from './image.ts';
import { removeTree } from './layers.ts';
import { namesIn } from './tree.ts';

const imageConfig = z.object({
  name: z.string(),
  env: z.array(z.string()),
  workdir: z.string().nullable(),
  architecture: z.string().nullable(),
});

/** An image's description of itself, apart from its files. */
export type ImageConfig = z.infer<typeof imageConfig>;

const MACHINES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', ia32: '386', ppc64: 'ppc64le' };

/** @throws Error if its programs are made for another machine */
function checkArchitecture(name: string, architecture: string | null): void {
  const here = MACHINES[process.arch] ?? process.arch;
  if (architecture !== null && architecture !== '' && architecture !== here)
    throw new Error(
      `${name} is for ${architecture}, and this machine is ${here}: use an image of the same name for ${here}`,
    );
}

/** A folder of a program that was killed while it unpacked. */
function isLeft(name: string): boolean {
  const pid = /\.new-(\d+)$/.exec(name)?.[1];
  return pid !== undefined && (Number(pid) === process.pid || !existsSync(`/proc/${pid}`));
}

/**
 * An image's files in a folder of ours, by digest. @param unpack fills a folder; a folder that it did not finish is
 * removed
 */
export async function unpackedImage(
  digest: string,
  folder: string,
  config: ImageConfig,
  unpack: (folder: string) => Promise<void>,
): Promise<WorldImage> {
  const key = digest
    .replace(/^sha256:/, '')
    .replace(/[^\w.-]/g, '_')
    .slice(0, 64);
  const place = join(folder, key);
  checkArchitecture(config.name, config.architecture);
  ensureFolder(folder, 0o700);
  chmodSync(folder, 0o700);
  if (!existsSync(join(place, 'config.json'))) {
    for (const one of namesIn(folder)) if (isLeft(one)) removeTree(join(folder, one));
    const made = join(folder, `${key}.new-${process.pid}`);
    ensureFolder(join(made, 'rootfs'), 0o700);
    try {
      await unpack(join(made, 'rootfs'));
      chmodSync(join(made, 'rootfs'), 0o755);
      writeFileSync(join(made, 'config.json'), JSON.stringify(config));
      removeTree(place);
      renameSync(made, place);
    } finally {
      removeTree(made);
    }
  }
  const { name, env, workdir } = imageConfig.parse(JSON.parse(readFileSync(join(place, 'config.json'), 'utf8')));
  const image = rootfsImage(join(place, 'rootfs'), config.name || name);
  const pairs = env.map((one) => /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(one)).filter((match) => match !== null);
  return {
    ...image,
    key: key.slice(0, 16),
    env: Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value])),
    workdir: workdir === '' ? null : workdir,
  };
}
