// docs/deploy: its files parse, start commands with flags that the program has, and copy files that the package brings.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commandTree } from '../../src/viewer/commands/command-tree.ts';
import { VERBS } from '../../src/viewer/commands/commands.ts';
import { root } from '../program.ts';

const deploy = (name: string): string => readFileSync(join(root, 'docs/deploy', name), 'utf8');

/** The words of a command of the program that it does not have. */
async function unknownWords([verb, ...words]: readonly string[]): Promise<string[]> {
  const load = VERBS[verb ?? ''];
  if (load === undefined) return [verb ?? ''];
  const command = (await commandTree([load])).find(({ name }) => name === verb);
  const flags = new Set(command?.flags.flatMap(({ names }) => names));
  return words.filter((word) => word.startsWith('--') && !flags.has(word));
}

interface Container {
  image: string;
  args: string[];
  ports: { name?: string; containerPort: number }[];
  readinessProbe?: { httpGet: { port: string } };
}
interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: {
    selector: { matchLabels?: Record<string, string>; app?: string };
    template?: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } };
  };
}

const manifests = parseAllDocuments(deploy('kubernetes.yaml')).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as Manifest;
});
const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
const own = containers.filter(({ image }) => image.includes('rollout-viewer'));

test('manifests: selectors meet their pods, probes their ports, and each address has a service', () => {
  const pods = manifests.flatMap(({ spec }) => (spec.template === undefined ? [] : [spec.template.metadata.labels]));
  for (const { spec } of manifests) {
    const labels = spec.selector.matchLabels ?? { app: spec.selector.app };
    expect(pods).toContainEqual(expect.objectContaining(labels));
  }
  const services = manifests.flatMap(({ kind, metadata }) => (kind === 'Service' ? [metadata.name] : []));
  const addresses = own.flatMap(({ args }) => args).flatMap((word) => /^redis:\/\/([^:]+)/.exec(word)?.[1] ?? []);
  expect(addresses.length).toBeGreaterThan(0);
  expect(addresses.filter((name) => !services.includes(name))).toEqual([]);
  for (const { readinessProbe, ports, args } of own) {
    const probed = ports.find(({ name }) => name === readinessProbe?.httpGet.port);
    expect(args[args.indexOf('--metrics') + 1]).toBe(`0.0.0.0:${probed?.containerPort}`);
  }
});

test('every command has flags of the program, and images are of this version', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(own.map(({ image }) => image.split(':')[1])).toEqual([version]);
  const compose = parse(deploy('compose.yaml')) as { services: Record<string, { build?: object; command: string[] }> };
  const docker = deploy('Dockerfile');
  const started = [
    ...own.map(({ args }) => args),
    ...Object.values(compose.services).flatMap(({ build, command }) => (build === undefined ? [] : [command])),
    ...[...docker.matchAll(/^CMD (\[.*\])$/gm)].map(([, words]) => JSON.parse(words ?? '') as string[]),
    ...[...deploy('workers.sbatch').matchAll(/^rollout-viewer (.*)$/gm)].map(([, line]) => (line ?? '').split(' ')),
  ].filter(([word]) => word !== '--help');
  expect(started.length).toBe(4);
  for (const words of started) expect([words, await unknownWords(words)]).toEqual([words, []]);
  expect(await unknownWords(['worker', '--nosuch'])).toEqual(['--nosuch']);
});

test('compose builds a target of the Dockerfile, which copies what the package brings', () => {
  const docker = deploy('Dockerfile');
  const targets = [...docker.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);
  const { services } = parse(deploy('compose.yaml')) as { services: Record<string, { build?: { target: string } }> };
  for (const { build } of Object.values(services)) if (build !== undefined) expect(targets).toContain(build.target);
  const { files, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: string[];
    dependencies: Record<string, string>;
  };
  const brought = new Set([
    'package.json',
    ...files,
    ...Object.keys(dependencies).map((name) => `node_modules/${name}`),
  ]);
  const copied = [...docker.matchAll(/^COPY (\S+) /gm)].map(([, path]) => path ?? '');
  expect(copied.filter((path) => ![...brought].some((one) => one === path || one.startsWith(`${path}/`)))).toEqual([]);
});
