import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { WorldImage } from './image.ts';
import { removeTree } from './layers.ts';
import { isInstalled, runTool } from './run-tool.ts';
import { unpackedImage } from './unpacked.ts';

const inspected = z.object({
  architecture: z.string().optional(),
  config: z.object({ Env: z.array(z.string()).nullish(), WorkingDir: z.string().optional() }).optional(),
});

/**
 * An image in a file: an archive or a folder of OCI's layout, or what `docker save` writes. skopeo checks its digests, and
 * umoci unpacks it.
 */
export async function archiveImage(path: string, folder: string, say: (text: string) => void): Promise<WorldImage> {
  const [, file = path, tag = ''] = /^(.+?)(?::([\w][\w.-]{0,127}))?$/.exec(existsSync(path) ? `${path}` : path) ?? [];
  const place = existsSync(path) ? path : file;
  if (!existsSync(place))
    throw new Error(`oci:${path}: there is no such file; it must be an OCI archive, or the output of \`docker save\``);
  const missing = ['skopeo', 'umoci'].filter((program) => !isInstalled(program));
  if (missing.length > 0)
    throw new Error(
      `oci:${path}: it takes ${missing.join(' and ')} to read it: install them with your package manager`,
    );
  const source = `${archiveKind(place)}:${place}${place === path || tag === '' ? '' : `:${tag}`}`;
  const name = `oci:${path}`;
  const config = inspected.parse(JSON.parse(await runTool('skopeo', ['inspect', '--config', source])));
  const { Digest: digest } = z
    .object({ Digest: z.string() })
    .parse(JSON.parse(await runTool('skopeo', ['inspect', '--no-tags', source])));
  return unpackedImage(
    digest,
    folder,
    {
      name,
      env: config.config?.Env ?? [],
      workdir: config.config?.WorkingDir ?? null,
      architecture: config.architecture ?? null,
    },
    async (target) => {
      say(`unpacking ${name}`);
      const work = mkdtempSync(join(tmpdir(), 'rollout-viewer-image-'));
      try {
        await runTool('skopeo', ['copy', '--quiet', source, `oci:${join(work, 'layout')}:image`]);
        mkdirSync(join(work, 'raw'));
        await runTool('umoci', [
          'raw',
          'unpack',
          '--rootless',
          '--image',
          `${join(work, 'layout')}:image`,
          join(work, 'raw', 'rootfs'),
        ]);
        rmdirSync(target);
        moveTree(join(work, 'raw', 'rootfs'), target);
      } finally {
        removeTree(work);
      }
    },
  );
}

/** The temporary folder may lie on another disk. */
function moveTree(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    execFileSync('cp', ['-a', '--', from, to]);
  }
}

function archiveKind(place: string): 'oci' | 'oci-archive' | 'docker-archive' {
  if (statSync(place).isDirectory()) {
    if (!readdirSync(place).includes('oci-layout')) throw new Error(`oci:${place}: this folder has no file oci-layout`);
    return 'oci';
  }
  let names: string;
  try {
    names = execFileSync('tar', ['-tf', place], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    throw new Error(`oci:${place}: it is not a tar archive, or it is cut`);
  }
  if (/^(?:\.\/)?oci-layout$/m.test(names)) return 'oci-archive';
  if (/^(?:\.\/)?manifest\.json$/m.test(names)) return 'docker-archive';
  throw new Error(
    `oci:${place}: neither an OCI archive nor what \`docker save\` writes: it has no oci-layout and no manifest.json`,
  );
}
