import { dirname, isAbsolute, join } from 'node:path';

/** The places of a tool file's servers: beside it, or, as verl names it, from where the program is started. */
export const serversPlaces = (path: string, toolFile: string): string[] =>
  isAbsolute(path) ? [path] : [join(dirname(toolFile), path), path];
