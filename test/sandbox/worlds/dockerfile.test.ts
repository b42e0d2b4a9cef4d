import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { fetchesOf } from '../../../src/sandbox/worlds/dockerfile.ts';
import { builtImage } from '../../../src/sandbox/worlds/engine-image.ts';

const names = (text: string) => fetchesOf(text).map(({ kind, name, line }) => `${kind} ${name} ${line}`);

it('names nothing where a build stays in its folder', () => {
  expect(
    names(`FROM scratch AS base
ADD rootfs.tar /
FROM base
COPY --from=base /a /b
COPY --from=0 /a $HOME/b
RUN --network=none --mount=type=cache,target=/c pip install --from=x
ADD a b $HOME/
# FROM a comment
ENTRYPOINT ["sh"]
`),
  ).toEqual([]);
});

const ASKS: readonly [string, string, string[]][] = [
  ['an image', 'FROM python:3.12', ['image python:3.12 1']],
  ['a platform and an alias', 'from --platform=linux/arm64 a/b AS x\nFROM X', ['image a/b 1']],
  ['an argument', 'ARG V=3\nARG T="x:$V"\nFROM p:$V\nFROM $\u007bW:-q}-$V', ['image p:3 3', 'image q-3 4']],
  ['an argument without a value', 'ARG V\nFROM p:$V', ['image p:$V 2']],
  ['an argument that a stage sets again', 'ARG V=a\nFROM scratch\nARG V=scratch\nFROM $V', ['image a 4']],
  ['continued lines', 'FROM \\\n# between\n\n  evil', ['image evil 1']],
  ['blanks behind the escape', 'FROM \\ \t\nevil', ['image evil 1']],
  ['another escape', '# escape=`\nFROM scratch\nCOPY `\n--from=evil a b', ['image evil 3']],
  ['a comment like that directive', '# x\n# escape=`\nFROM scratch\nCOPY \\\n--from=evil a b', ['image evil 4']],
  ['a copy', 'FROM scratch\nCOPY --chown=1 --from=evil/x:1 /a /b', ['image evil/x:1 2']],
  ['a copy from a later stage', 'FROM scratch\nCOPY --from=late /a /b\nFROM scratch AS late', ['image late 2']],
  ['a stage by number', 'FROM scratch\nFROM 0', ['image 0 2']],
  ['a mount', 'FROM scratch\nRUN --mount=type=bind,target="/x y",from=evil true', ['image evil 2']],
  ['a mount in quotes and escapes', 'FROM scratch\nRUN --mount=type=bind,"fr\\om=evil" true', ['image evil 2']],
  ['an address', 'FROM scratch\nADD --chmod=1 https://a.example/x /x', ['address https://a.example/x 2']],
  ['addresses as JSON', 'FROM scratch\nADD ["a","git@a.example:x","/x"]', ['address git@a.example:x 2']],
  ['an address in an argument', 'FROM scratch\nARG U=https://a.example\nADD $U /x', ['address $U 3']],
  ['the network for a step', 'FROM scratch\nRUN --network=host true', ['address the network 2']],
  ['a later build', 'FROM scratch\nONBUILD ADD http://a.example/x /x', ['address http://a.example/x 2']],
  ['a frontend', '# syntax=evil/front\nFROM scratch', ['frontend evil/front 1']],
  ['a heredoc that older builders do not know', 'FROM scratch\nRUN <<E\nFROM evil\nE', ['image evil 3']],
];
it.each(ASKS)('names what %s asks for', (_, text, found) => {
  expect(names(text)).toEqual(found);
});

afterEach(() => vi.unstubAllEnvs());

/** A program named docker that writes down its arguments, and holds one image. */
function fakeDocker(driver: string): { log: string; task: string } {
  const home = mkdtempSync(join(tmpdir(), 'dockerfile-'));
  const log = join(home, 'log');
  mkdirSync(join(home, 'bin'));
  const script = `#!/bin/sh
echo "$@" >> '${log}'
case "$1 $2 $3" in
  "image inspect here:1") echo '[{"Id":"sha256:1","Config":{}}]' ;;
  "image inspect trap:1") echo '[{"Id":"sha256:2","Config":{"OnBuild":["ADD https://a.example/x /x"]}}]' ;;
  "image inspect"*) echo 'no such image' >&2; exit 1 ;;
  "buildx inspect"*) echo 'Driver: ${driver}' ;;
  build*) echo 'stopped here' >&2; exit 1 ;;
esac
`;
  writeFileSync(join(home, 'bin/docker'), script);
  chmodSync(join(home, 'bin/docker'), 0o755);
  vi.stubEnv('PATH', `${join(home, 'bin')}${delimiter}${process.env.PATH ?? ''}`);
  mkdirSync(join(home, 'task'));
  writeFileSync(log, '');
  return { log, task: join(home, 'task') };
}

it.each([
  ['FROM gone:1', 'docker', 'Dockerfile:1: docker has no image gone:1'],
  ['FROM trap:1', 'docker', 'trap:1 brings an instruction that asks for https://a.example/x'],
  ['# syntax=docker/dockerfile:1\nFROM here:1', 'docker', 'the frontend docker/dockerfile:1'],
  ['FROM here:1', 'docker-container', 'docker buildx use default'],
])('docker builds nothing of %j by its builder %s', async (text, driver, why) => {
  const { log, task } = fakeDocker(driver);
  writeFileSync(join(task, 'Dockerfile'), text);
  await expect(builtImage(task, join(task, 'images'), { engine: 'docker', say: () => {} })).rejects.toThrow(why);
  expect(readFileSync(log, 'utf8')).not.toMatch(/^build /m);
});

it('docker builds from what it holds, without the network', async () => {
  const { log, task } = fakeDocker('docker');
  writeFileSync(join(task, 'Dockerfile'), 'FROM here:1\nRUN true\n');
  const built = builtImage(task, join(task, 'images'), { engine: 'docker', say: () => {} });
  await expect(built).rejects.toThrow('stopped here');
  expect(readFileSync(log, 'utf8')).toMatch(/^build --tag \S+ --network=none --file/m);
});
