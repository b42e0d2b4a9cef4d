import { remoteFolder } from '../../core/files/places.ts';
import type { Address } from './address.ts';
import type { Machine } from './machine.ts';
import { GROWS, Mirror, type MirrorOptions } from './mirror.ts';
import { RcloneSource } from './rclone.ts';
import { SshSource } from './ssh.ts';
import { WebSource } from './web.ts';

/** A machine that was never reached, with nothing cached, is given up after some seconds. */
const FIRST_ATTEMPTS = 5;

/** A password is never requested, except on the terminal before a screen is drawn. */
export async function openMirror(
  address: Address,
  options: Pick<MirrorOptions, 'follows' | 'most' | 'brings'> & {
    isAtTerminal: boolean;
    onStatus?: (status: string | null) => void;
  },
): Promise<{ mirror: Mirror; path: string }> {
  const source = await sourceOf(address, options.brings === 'parts');
  const mirror = new Mirror({
    source,
    address,
    cache: remoteFolder(),
    most: options.most,
    follows: options.follows,
    brings: options.brings ?? 'all',
    attempts: FIRST_ATTEMPTS,
  });
  const { onStatus } = options;
  if (onStatus !== undefined) mirror.onStatus(() => onStatus(mirror.status));
  // ssh itself reports why it failed, and the first list fails for the same reason.
  if (options.isAtTerminal) await source.greet?.().catch(() => {});
  try {
    return { mirror, path: await mirror.open() };
  } catch (error) {
    mirror.close();
    throw error;
  }
}

/** @param wantsParts of a file that may grow, too */
async function sourceOf(address: Address, wantsParts: boolean): Promise<Machine> {
  switch (address.kind) {
    case 'ssh':
      return new SshSource(address);
    case 'rclone':
      return new RcloneSource(address);
    case 'store':
      return (await import('./stores/open.ts')).storeSource(address);
    case 'https':
      return new WebSource(address, { isFixed: wantsParts || !GROWS.test(address.path) });
  }
}
