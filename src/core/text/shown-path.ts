/**
 * A cache folder with copies of another machine's files, named after the machine as in the prefix of a path, and after
 * an endpoint of the user's choice.
 */
const MIRROR = /^.*\/rollout-viewer\/remote\/([^/@]+%3A[^/@]*)(@[\da-f]+)?(\/.*)?$/s;
const STORE = /^(?:s3|gs|hf)%3A/;

/** The path as the user knows it and can type it: a copy is shown as its original. */
export const shownPath = (path: string): string => originOfCopy(path)?.shown ?? path;

/** Distinguishes one original from all others, including a store of the same name at another endpoint. */
export function pathIdentity(path: string): string {
  const origin = originOfCopy(path);
  return origin === null ? path : origin.shown + origin.endpoint;
}

function originOfCopy(path: string): { shown: string; endpoint: string } | null {
  const [, machine, endpoint = '', rest = ''] = path.includes('/rollout-viewer/remote/')
    ? (MIRROR.exec(path) ?? [])
    : [];
  if (machine === undefined) return null;
  try {
    return { shown: decodeURIComponent(machine) + (STORE.test(machine) ? keyOfCopy(rest) : rest), endpoint };
  } catch {
    return null;
  }
}

/** The folder's name for a machine. @param endpoint hexadecimal digits for where it is, if the user chose that */
export const mirrorName = (machine: string, endpoint = ''): string =>
  encodeURIComponent(machine) + (endpoint === '' ? '' : `@${endpoint}`);

/** A folder in place of a name without characters, which a key may hold. */
const NAMELESS = '%2F';

/** The path of a copy for a key of a store, another one for each key. */
export const copyOfKey = (key: string): string =>
  key
    .split('/')
    .map((name) => (name === '' ? NAMELESS : /^(?:%25)*%2F$/.test(name) ? `%25${name}` : name))
    .join('/');

/** @param path made by `copyOfKey`, after a slash or not */
export const keyOfCopy = (path: string): string =>
  path
    .split('/')
    .map((name) => (name === NAMELESS ? '' : name.replace(/^%25((?:%25)*%2F)$/, '$1')))
    .join('/');
