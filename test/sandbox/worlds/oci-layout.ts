import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry of a tar archive; `type` as in the header: 0 file, 1 hard link, 2 link, 3 and 4 device, 5 folder, 6 pipe. */
export interface TarEntry {
  name: string;
  type?: '0' | '1' | '2' | '3' | '4' | '5' | '6';
  link?: string;
  text?: string;
  mode?: number;
  /** The size by the header. */
  size?: number;
}

export function tarOf(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, type = '0', link = '', text = '', mode = 0o644, size }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0, 100, 'latin1');
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write('0000000\0', 108);
    header.write('0000000\0', 116);
    header.write(`${(size ?? Buffer.byteLength(text)).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 100, 'latin1');
    header.write('ustar\x0000', 257);
    header.write('0000001\0', 329);
    header.write('0000003\0', 337);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const body = Buffer.from(text);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

interface LayoutChoice {
  architecture?: string;
  /** Another digest than the layer's. */
  digest?: string;
}

/** Writes an image of OCI's layout with these layers, uncompressed. */
export function writeLayout(folder: string, layers: readonly Buffer[], choice: LayoutChoice = {}): void {
  const blobs = join(folder, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (bytes: Buffer) => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  const type = (name: string) => ({ mediaType: `application/vnd.oci.image.${name}` });
  const made = layers.map((bytes) => ({ ...type('layer.v1.tar'), ...put(bytes) }));
  const config = {
    architecture: choice.architecture ?? (process.arch === 'x64' ? 'amd64' : process.arch),
    os: 'linux',
    config: { Env: ['PATH=/bin', 'FROM_IMAGE=yes'], WorkingDir: '/work' },
    rootfs: { type: 'layers', diff_ids: made.map(({ digest }) => digest) },
  };
  const manifest = {
    schemaVersion: 2,
    ...type('manifest.v1+json'),
    config: { ...type('config.v1+json'), ...put(Buffer.from(JSON.stringify(config))) },
    layers: made.map((one) => ({ ...one, digest: choice.digest ?? one.digest })),
  };
  const entry = { ...type('manifest.v1+json'), ...put(Buffer.from(JSON.stringify(manifest))) };
  const annotations = { 'org.opencontainers.image.ref.name': 'x' };
  writeFileSync(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...entry, annotations }] }),
  );
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}
