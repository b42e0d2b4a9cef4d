import { statSync } from 'node:fs';
import { imagesFolder } from '../../core/files/places.ts';
import { archiveImage } from './archive-image.ts';
import { builtImage, type EngineName, engineImage } from './engine-image.ts';
import { hostImage, rootfsImage, type WorldImage } from './image.ts';

export type { WorldImage } from './image.ts';

export interface ImageWishes {
  engine?: EngineName | undefined;
  /** A build may use the network and pull what it is built from. */
  network?: boolean | undefined;
  /** Receives what takes long, before it begins. */
  say?: ((text: string) => void) | undefined;
}

/** The image that the user named; it is unpacked if it was not yet. @throws Error that says what is wrong with it */
export async function openImage(name: string, wishes: ImageWishes = {}): Promise<WorldImage> {
  if (name === 'host') return hostImage();
  if (name.startsWith('rootfs:')) return rootfsImage(name.slice('rootfs:'.length));
  const say = wishes.say ?? (() => {});
  if (name.startsWith('oci:')) return archiveImage(name.slice('oci:'.length), imagesFolder(), say);
  if (isFolder(name)) return builtImage(name, imagesFolder(), { ...wishes, say });
  return engineImage(name, imagesFolder(), { ...wishes, say });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
