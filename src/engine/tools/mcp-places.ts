import { dirname, isAbsolute, join } from 'node:path';

/** Where a tool file's servers may lie: beside it, or, as verl names it, from where the program is started. */
export const serversPlaces = (path: string, toolFile: string): string[] =>
  isAbsolute(path) ? [path] : [join(dirname(toolFile), path), path];
