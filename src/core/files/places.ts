import { join } from 'node:path';
import envPaths from 'env-paths';

/** Read when asked for: a process may answer in the environments of several users. */
const paths = () => envPaths('rollout-viewer', { suffix: '' });

/**
 * config.yaml in $XDG_CONFIG_HOME/rollout-viewer, or in the system's settings folder; the first one that exists counts.
 */
export const configFiles = (): string[] =>
  ['config.yaml', 'config.yml', 'config.json'].map((name) => join(paths().config, name));

/** $XDG_STATE_HOME/rollout-viewer/columns.json: the last chosen columns. */
export const columnsFile = (): string => join(paths().log, 'columns.json');

/** $XDG_STATE_HOME/rollout-viewer/history.jsonl; env-paths calls the state folder `log`. */
export const historyFile = (): string => join(paths().log, 'history.jsonl');

/** $XDG_STATE_HOME/rollout-viewer/views/DUMP.json: the named views of a dump. */
export const viewsFile = (dump: string): string => join(paths().log, 'views', `${dump}.json`);

/** $XDG_STATE_HOME/rollout-viewer/views/DUMP.last.json: the last view of a dump. */
export const lastViewFile = (dump: string): string => join(paths().log, 'views', `${dump}.last.json`);

/** $XDG_STATE_HOME/rollout-viewer/read.jsonl: the rollouts that this user has read. */
export const readMarksFile = (): string => join(paths().log, 'read.jsonl');

/** $XDG_STATE_HOME/rollout-viewer/facts: facts of records, kept between sessions. */
export const factsFolder = (): string => join(paths().log, 'facts');

/** $XDG_CACHE_HOME/rollout-viewer. */
export const cacheFolder = (): string => paths().cache;

/** $XDG_CACHE_HOME/rollout-viewer/remote: copies of files of other machines, one folder per machine. */
export const remoteFolder = (): string => join(paths().cache, 'remote');

/**
 * $XDG_CACHE_HOME/rollout-viewer/environments, for root /var/cache: virtual environments made from requirements files.
 */
export const environmentsFolder = (): string =>
  process.getuid?.() === 0 && process.env.XDG_CACHE_HOME === undefined
    ? '/var/cache/rollout-viewer/environments'
    : join(paths().cache, 'environments');

/** $XDG_STATE_HOME/rollout-viewer/worlds: layers of rerun rollouts, one folder per image. */
export const worldsFolder = (): string => join(paths().log, 'worlds');

/** $XDG_CACHE_HOME/rollout-viewer/images: unpacked images, one folder per digest. */
export const imagesFolder = (): string => join(paths().cache, 'images');
