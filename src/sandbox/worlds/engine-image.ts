import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { errorMessage } from '../../core/text/thrown.ts';
import { fetchesOf } from './dockerfile.ts';
import type { WorldImage } from './image.ts';
import { isInstalled, runTool } from './run-tool.ts';
import { statOf } from './tree.ts';
import { unpackedImage } from './unpacked.ts';

export const ENGINES = ['podman', 'docker', 'apptainer'] as const;
/** A program that holds images. */
export type EngineName = (typeof ENGINES)[number];

interface Wishes {
  engine?: EngineName | undefined;
  network?: boolean | undefined;
  say: (text: string) => void;
}

const inspected = z
  .array(
    z.object({
      Id: z.string(),
      Architecture: z.string().optional(),
      Config: z
        .object({
          Env: z.array(z.string()).nullish(),
          WorkingDir: z.string().optional(),
          OnBuild: z.array(z.string()).nullish(),
        })
        .nullish(),
    }),
  )
  .min(1);

/** Without systemd, podman has no other manager of control groups; it needs none to build or to export. */
const FLAGS: Readonly<Record<EngineName, readonly string[]>> = {
  podman: ['--cgroup-manager', 'cgroupfs'],
  docker: [],
  apptainer: [],
};

function chosenEngine(asked: EngineName | undefined, why: string): EngineName {
  const found = (asked === undefined ? ENGINES : [asked]).find(isInstalled);
  if (found !== undefined) return found;
  throw new Error(
    asked === undefined
      ? `${why}: none of ${ENGINES.join(', ')} is installed; rootfs:DIR and oci:ARCHIVE need none of them`
      : `${why}: ${asked} is not installed`,
  );
}

/** An image that an engine holds. Nothing is pulled: the error names the command that does. */
export async function engineImage(name: string, folder: string, { engine: asked, say }: Wishes): Promise<WorldImage> {
  const engine = chosenEngine(asked, name);
  if (engine === 'apptainer') return apptainerImage(name, folder, say);
  return heldImage(engine, name, name, folder, say);
}

async function heldImage(
  engine: EngineName,
  name: string,
  shown: string,
  folder: string,
  say: (text: string) => void,
): Promise<WorldImage> {
  const flags = FLAGS[engine];
  const image = await inspect(engine, name);
  const config = {
    name: shown,
    env: image.Config?.Env ?? [],
    workdir: image.Config?.WorkingDir ?? null,
    architecture: image.Architecture ?? null,
  };
  return unpackedImage(image.Id, folder, config, async (target) => {
    say(`unpacking ${shown} from ${engine}`);
    // A container that is never started; an image without a command needs a word.
    const id =
      (await runTool(engine, [...flags, 'create', '--pull=never', '--network=none', name, '/bin/sh']))
        .trim()
        .split('\n')
        .at(-1) ?? '';
    try {
      await exportTo(target, engine, ...flags, 'export', id);
    } finally {
      await runTool(engine, [...flags, 'rm', '-f', id]).catch(() => {});
    }
  });
}

/** @throws Error with the command that brings an image which is not here */
async function inspect(engine: EngineName, name: string): Promise<z.infer<typeof inspected>[number]> {
  if (!isImageName(name)) throw new Error(`${name} is not the name of an image`);
  let text: string;
  try {
    text = await runTool(engine, [...FLAGS[engine], 'image', 'inspect', name]);
  } catch (error) {
    throw new Error(`${engine} has no image ${name}: \`${engine} pull ${name}\` gets it (${errorMessage(error)})`);
  }
  const [image] = inspected.parse(JSON.parse(text));
  if (image === undefined) throw new Error(`${engine} says nothing of ${name}`);
  return image;
}

/**
 * A build fetches images, addresses and frontends by itself; neither docker nor podman can be forbidden all of that. So it does not
 * begin where its file asks for one that is not here.
 * @throws Error that names it
 */
async function checkFetches(engine: EngineName, file: string): Promise<void> {
  const refuse = (place: string, what: string): never => {
    throw new Error(`${place}: ${what}; --network lets ${engine} fetch it`);
  };
  if (engine === 'docker') {
    const builder = await runTool('docker', ['buildx', 'inspect']).catch(() => '');
    const driver = /^Driver:\s*(\S+)/m.exec(builder)?.[1] ?? 'docker';
    if (driver !== 'docker')
      throw new Error(
        `docker's builder (${driver}) sees no local image: \`docker buildx use default\` chooses one that does`,
      );
  }
  for (const { kind, name, line } of fetchesOf(dockerfileText(file))) {
    const place = `${file}:${line}`;
    if (kind === 'address') refuse(place, `it asks for ${name}`);
    // podman knows no frontends, and --pull=never holds for its images.
    if (kind === 'frontend' && engine === 'docker') refuse(place, `it is read by the frontend ${name}`);
    if (kind !== 'image') continue;
    const image = await inspect(engine, name).catch((error: unknown) => {
      if (engine === 'docker') refuse(place, errorMessage(error));
      return null;
    });
    for (const one of fetchesOf((image?.Config?.OnBuild ?? []).map((text) => `ONBUILD ${text}`).join('\n')))
      refuse(place, `${name} brings an instruction that asks for ${one.name}`);
  }
}

/** A file of a stranger's folder. */
function dockerfileText(path: string): string {
  const stats = statOf(path);
  if (stats?.isFile() !== true || stats.size > MOST_DOCKERFILE)
    throw new Error(`${path}: it must be a file of at most ${MOST_DOCKERFILE / 2 ** 20} MB, and no link`);
  return readFileSync(path, 'utf8');
}

const MOST_DOCKERFILE = 2 ** 20;

const isImageName = (name: string): boolean => /^[\w][\w./:@-]*$/.test(name);

/**
 * GNU tar puts nothing outside of its folder: it takes `..` and roots away, and makes links to outside last. A shell joins the
 * two, because podman opens /dev/stdout by its name, which Node's pipes do not have.
 */
const EXPORT = `set -o pipefail; target=$1; shift
"$@" | tar -x -p --no-same-owner --exclude='dev/*' --exclude='./dev/*' -C "$target"`;

const exportTo = (target: string, ...command: readonly string[]): Promise<string> =>
  runTool('bash', ['-c', EXPORT, 'export', target, ...command]);

/** A file of apptainer's, or an image that a local daemon holds. */
async function apptainerImage(name: string, folder: string, say: (text: string) => void): Promise<WorldImage> {
  const isFile = existsSync(name);
  const source = isFile ? resolve(name) : `docker-daemon://${name}`;
  const config = { name, env: [], workdir: null, architecture: null };
  const digest = createHash('sha256').update(source).digest('hex');
  return unpackedImage(digest, folder, config, async (target) => {
    say(`unpacking ${name} by apptainer`);
    await runTool('apptainer', ['build', '--force', '--sandbox', target, source]);
  });
}

/** A task folder: Harbor's and terminal-bench's have their Dockerfile in `environment` or at the top. */
export async function builtImage(
  task: string,
  folder: string,
  { engine: asked, network, say }: Wishes,
): Promise<WorldImage> {
  const context = ['environment', '.', 'docker', 'client']
    .map((name) => join(task, name))
    .find((place) => existsSync(join(place, 'Dockerfile')));
  if (context === undefined)
    throw new Error(`${task}: no Dockerfile in it, nor in its folder environment; an unpacked root is rootfs:${task}`);
  const engine = chosenEngine(asked, task);
  if (engine === 'apptainer')
    throw new Error(`${task}: apptainer builds no Dockerfile; --engine podman or docker does`);
  const tag = `rollout-viewer-task:${createHash('sha256').update(resolve(task)).digest('hex').slice(0, 16)}`;
  if (network !== true) await checkFetches(engine, join(context, 'Dockerfile'));
  say(`building ${task} by ${engine}${network === true ? '' : ', without the network'}`);
  try {
    await runTool(engine, [
      ...FLAGS[engine],
      ...(engine === 'podman' ? ['--runtime', runtimeHere()] : []),
      ...['build', '--tag', tag, ...(network === true ? [] : ['--network=none'])],
      ...(engine === 'podman' && network !== true ? ['--pull=never'] : []),
      ...['--file', join(context, 'Dockerfile'), context],
    ]);
  } catch (error) {
    const pulls = /image not known|pull|no such image|not found in|resolv|initializing source/i.test(
      errorMessage(error),
    );
    throw new Error(
      `${task}: ${errorMessage(error)}${network === true ? '' : pulls ? '; its base is not here: --network lets the engine get it' : '; --network lets its steps use the network'}`,
    );
  }
  return heldImage(engine, tag, task, folder, say);
}

/** crun needs control groups of version 2. */
const runtimeHere = (): string =>
  existsSync('/sys/fs/cgroup/cgroup.controllers') || !isInstalled('runc') ? 'crun' : 'runc';
