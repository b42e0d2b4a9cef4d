import { join } from 'node:path';
import envPaths from 'env-paths';

const paths = envPaths('rollout-viewer', { suffix: '' });

/** $XDG_CONFIG_HOME/rollout-viewer/config.yaml, or where this system keeps settings. */
export const configFile = (): string => join(paths.config, 'config.yaml');

/** $XDG_STATE_HOME/rollout-viewer/columns.json: the columns that were chosen last. */
export const columnsFile = (): string => join(paths.log, 'columns.json');

/** $XDG_STATE_HOME/rollout-viewer/history.jsonl; `log` is what env-paths calls the place of state. */
export const historyFile = (): string => join(paths.log, 'history.jsonl');
