import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveImage } from '../../../src/sandbox/worlds/archive-image.ts';
import { openImage } from '../../../src/sandbox/worlds/images.ts';
import { isInstalled } from '../../../src/sandbox/worlds/run-tool.ts';
import { type TarEntry, tarOf, writeLayout } from './oci-layout.ts';
import { makeRootfs, missingPrograms } from './small-rootfs.ts';

const skips = missingPrograms().length > 0 || !isInstalled('skopeo') || !isInstalled('umoci');
const silent = () => {};
const temporary = () => mkdtempSync(join(tmpdir(), 'images-'));

it('says what is wrong with an image', async () => {
  const home = temporary();
  mkdirSync(join(home, 'empty'));
  mkdirSync(join(home, 'busy/bin'), { recursive: true });
  writeFileSync(join(home, 'busy/bin/sh'), '');
  await expect(openImage(`rootfs:${home}/none`)).rejects.toThrow('there is no such folder');
  await expect(openImage(`rootfs:${home}/empty`)).rejects.toThrow('no /bin/sh in it');
  await expect(openImage(`rootfs:${home}/busy`)).rejects.toThrow('no bash');
  await expect(openImage(`${home}/empty`)).rejects.toThrow('no Dockerfile in it');
  await expect(openImage('a name; rm -rf /')).rejects.toThrow('is not the name of an image');
  await expect(openImage(`oci:${home}/none.tar`)).rejects.toThrow('there is no such file');
});

describe.skipIf(skips)('an OCI archive (skipped where no world can be made)', () => {
  const home = temporary();
  const rootfs = join(home, 'rootfs');
  if (!skips) makeRootfs(rootfs);
  const base = skips ? Buffer.alloc(0) : execFileSync('tar', ['-C', rootfs, '-c', '.'], { maxBuffer: 1 << 30 });

  const open = async (layers: readonly Buffer[], choice = {}) => {
    const folder = temporary();
    writeLayout(join(folder, 'layout'), layers, choice);
    const canary = join(folder, 'canary');
    mkdirSync(canary);
    writeFileSync(join(canary, 'secret'), 'kept');
    const images = join(folder, 'images');
    const image = await archiveImage(join(folder, 'layout'), images, silent).catch((error: Error) => error.message);
    return { image, canary, images };
  };

  it('is unpacked once, with its variables and directory', async () => {
    const { image } = await open([base, tarOf([{ name: 'work/.wh.a' }, { name: 'work/new', text: 'n' }])]);
    if (typeof image === 'string') throw new Error(image);
    expect(image).toMatchObject({ env: { PATH: '/bin', FROM_IMAGE: 'yes' }, workdir: '/work' });
    expect(readdirSync(join(image.root, 'work')).sort()).toEqual(['b', 'd', 'new']);
  });

  it('for another machine is refused, and so are one without a shell and one with other bytes', async () => {
    expect((await open([base], { architecture: 'riscv64' })).image).toMatch(/is for riscv64, and this machine is/);
    expect((await open([tarOf([{ name: 'etc/x', text: 'x' }])])).image).toMatch(/no \/bin\/sh in it/);
    const wrong = await open([base], { digest: `sha256:${'0'.repeat(64)}` });
    expect(wrong.image).toEqual(expect.any(String));
    expect(existsSync(wrong.images) ? readdirSync(wrong.images) : []).toEqual([]);
  });

  const tricks: readonly [string, (canary: string) => TarEntry[]][] = [
    ['a name with ..', (canary) => [{ name: `../../../../../../../..${canary}/secret`, text: 'bad' }]],
    ['an absolute name', (canary) => [{ name: `${canary}/secret`, text: 'bad' }]],
    [
      'a file below a link',
      (canary) => [
        { name: 'out', type: '2', link: canary },
        { name: 'out/secret', text: 'bad' },
      ],
    ],
    [
      'a file below a link of the layer before',
      (canary) => [
        { name: 'work/d', type: '2', link: canary },
        { name: 'work/d/secret', text: 'bad' },
      ],
    ],
    [
      'a hard link to outside',
      (canary) => [
        { name: 'hard', type: '1', link: `${canary}/secret` },
        { name: 'hard', text: 'bad' },
      ],
    ],
    [
      'a hard link through a link',
      (canary) => [
        { name: 'out', type: '2', link: canary },
        { name: 'hard', type: '1', link: 'out/secret' },
        { name: 'hard', text: 'bad' },
      ],
    ],
    [
      'a whiteout outside',
      (canary) => [
        { name: `../../../../../..${canary}/.wh.secret` },
        { name: 'out', type: '2', link: canary },
        { name: 'out/.wh.secret' },
      ],
    ],
    ['an opaque folder outside', (canary) => [{ name: 'out', type: '2', link: canary }, { name: 'out/.wh..wh..opq' }]],
    [
      'a link over the root',
      (canary) => [
        { name: '.', type: '2', link: canary },
        { name: './secret', text: 'bad' },
      ],
    ],
    ['a whiteout of ..', () => [{ name: '.wh...' }, { name: 'work/.wh...' }, { name: '.wh.' }]],
    [
      'devices',
      () => [
        { name: 'dev/mem', type: '3' },
        { name: 'disk', type: '4' },
      ],
    ],
    ['a setuid program of root', () => [{ name: 'bin/su', text: 'x', mode: 0o4755 }]],
    ['a header that promises more than there is', () => [{ name: 'big', text: 'x', size: 0o77777777777 }]],
    ['a name with a newline', () => [{ name: 'work/a\nb', text: 'x' }]],
  ];
  it.each(tricks)('with %s changes nothing outside of its folder', async (_, entriesOf) => {
    const home = temporary();
    const canary = join(home, 'canary');
    mkdirSync(canary);
    writeFileSync(join(canary, 'secret'), 'kept');
    const { image, images } = await open([base, tarOf(entriesOf(canary))]);
    expect([readdirSync(canary), readFileSync(join(canary, 'secret'), 'utf8')]).toEqual([['secret'], 'kept']);
    if (existsSync(images)) expect(lstatSync(images).mode & 0o077).toBe(0);
    if (typeof image !== 'string') expect(lstatSync(image.root).isDirectory()).toBe(true);
  });
});
