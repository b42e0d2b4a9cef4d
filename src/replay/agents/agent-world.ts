import { removeTree } from '../../sandbox/worlds/layers.ts';
import { LiveWorld } from '../../sandbox/worlds/world.ts';
import { type WorldOptions, worldPlan } from '../worlds/replay-world.ts';
import { type AgentOptions, type AgentProcess, agentVariables } from './agent-process.ts';

/** An agent is ended after this time if nothing else ends it. */
const LONGEST = 24 * 3600;

/** Starts an agent in a separate world, in the image's state; the agent's tools then produce the states of the turns. */
export function startInWorld(
  options: WorldOptions,
  command: string,
  address: string,
  environment: Record<string, string>,
  { say, seconds = LONGEST }: Pick<AgentOptions, 'seconds'> & { say: (text: string) => void },
): AgentProcess {
  const folder = options.store.live();
  const plan = worldPlan(options, folder, []);
  const world = new LiveWorld({ ...plan, env: { ...plan.env, ...agentVariables(address), ...environment } });
  const run = async (): Promise<number> => {
    try {
      await world.open();
      const { exit, excess, stderr } = await world.run(command, { timeLimit: seconds, merged: false });
      if (excess !== null) say(`the agent's world was ended: it took ${excess}`);
      if (exit !== 0) for (const line of stderr.toString('utf8').split('\n').filter(Boolean).slice(-5)) say(line);
      return exit ?? 137;
    } catch (error) {
      if (isStopped) return 143;
      throw error;
    } finally {
      await world.close();
      removeTree(folder);
    }
  };
  let isStopped = false;
  return {
    status: run(),
    stop: () => {
      isStopped = true;
      void world.stop();
    },
  };
}
