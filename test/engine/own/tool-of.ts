// A user's tool class in a separate folder, loaded as a tool file names it.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { loadTools } from '../../../src/engine/own/load-tools.ts';
import { OwnCode } from '../../../src/engine/own/own-code.ts';
import type { OwnCodeError } from '../../../src/engine/python/own-error.ts';
import type { Tool } from '../../../src/engine/tools/tool.ts';
import { directoryWith } from '../../program.ts';
import { python, toolYaml } from './python.ts';

const open: OwnCode[] = [];

/** Ends what the last test has started. */
export function closeTools(): void {
  for (const code of open.splice(0)) code.close();
}

export interface Loaded {
  tool: Tool;
  printed: () => string;
  folder: string;
}

export async function toolOf(files: Record<string, string>, yaml: string, interpreter = python()): Promise<Loaded> {
  const folder = directoryWith({ ...files, 'tools.yaml': yaml });
  let printed = '';
  const own = new OwnCode({
    python: interpreter,
    log: (text) => {
      printed += text;
    },
  });
  open.push(own);
  const [tool] = await loadTools(join(folder, 'tools.yaml'), { own });
  return { tool: tool!, printed: () => printed, folder };
}

/** A tool with a body of `execute`, and nothing else of interest. */
export const toolThat = (body: string, before = '') => {
  const lines = body.split('\n').map((line) => `        ${line}`);
  return toolOf(
    {
      'mine.py': `${before}\nclass Mine:\n    async def execute(self, instance_id, parameters, **kwargs):\n${lines.join('\n')}\n`,
    },
    toolYaml('mine.Mine'),
  );
};

export const executed = async ({ tool }: Loaded, parameters = {}): Promise<unknown> => {
  const { instanceId } = await tool.create('a');
  return tool.execute(instanceId, parameters).catch((error: OwnCodeError) => error);
};
export const message = async (loaded: Promise<Loaded>): Promise<string> =>
  ((await executed(await loaded)) as Error).message;

export const isAlive = (pattern: string): boolean => {
  const { stdout } = { stdout: execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }) };
  return stdout.split('\n').some((line) => line.includes(pattern));
};
