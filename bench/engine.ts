import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { objectIn } from '../src/core/json/value.ts';
import {
  ChatCompletionsModel,
  collectRollouts,
  parseTools,
  rewardRouter,
  type Task,
  type Tool,
} from '../src/engine/index.ts';
import { scriptedModel } from '../test/engine/scripted-model.ts';
import { manyRollouts, serveMany } from './support/many-rollouts.ts';
import { figure, median } from './support/measure.ts';

const ROLLOUTS = 1000;
const TURNS = 4;

/** Seconds in [low, high), the same for the same numbers. */
function latency(rollout: number, turn: number, low: number, high: number): number {
  const hash = Math.imul(rollout * 31 + turn + 1, 0x9e3779b1) >>> 0;
  return low + ((high - low) * hash) / 2 ** 32;
}
const modelSeconds = (rollout: number, turn: number) => latency(rollout, turn, 0.5, 2.5);
const toolSeconds = (rollout: number, turn: number) => latency(rollout, turn + 100, 0.05, 0.5);

/** The time of the slowest rollout alone, if only the latencies cost time. */
function longestChain(): number {
  const chains = Array.from({ length: ROLLOUTS }, (_, rollout) => {
    let seconds = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      seconds += modelSeconds(rollout, turn) + (turn < TURNS - 1 ? toolSeconds(rollout, turn) : 0);
    }
    return seconds;
  });
  return Math.max(...chains);
}

/** The server has a separate process, as in reality, so its memory is not counted. */
if (process.argv[2] === '--serve-model') {
  const server = await scriptedModel(
    ({ messages }) => {
      const rollout = Number(messages[0].content.split(' ')[0]);
      const turn = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
      const delay = modelSeconds(rollout, turn) * 1000;
      return turn === TURNS - 1
        ? { text: `So it is.\n#### ${rollout}`, delay }
        : {
            text: 'Let me compute that. '.repeat(20),
            calls: [{ name: 'sleep', arguments: `{"rollout": ${rollout}, "turn": ${turn}}` }],
            delay,
          };
    },
    { keepRequests: false },
  );
  process.send!(server.url);
}

if (process.argv[2] === '--serve-many')
  process.once('message', async ({ ids }: { ids: number[][][] | null }) => process.send!(await serveMany(ids)));

const tasks: Task[] = Array.from({ length: ROLLOUTS }, (_, index) => ({
  index,
  key: `k${index}`,
  messages: [
    { role: 'user', content: `${index} ${'is the number of this problem, and there is more to read. '.repeat(10)}` },
  ],
  groundTruth: String(index),
  dataSource: 'gsm8k',
  extraInfo: {},
  toolsKwargs: {},
  needToolsKwargs: undefined,
  toolSelection: undefined,
  interactionKwargs: undefined,
}));

/** A tool that takes its time and says something of the length of a program's output. */
function slowTool(): Tool {
  const [calculator] = parseTools('tools: [{class_name: calculator}]', 'bench');
  return {
    name: 'sleep',
    getOpenAIToolSchema: () => calculator!.getOpenAIToolSchema(),
    create: async (id = '') => ({ instanceId: id, response: { text: '' } }),
    async execute(_id, parameters) {
      const { rollout, turn } = objectIn(parameters);
      await sleep(toolSeconds(Number(rollout), Number(turn)) * 1000);
      return { response: { text: 'the output of a program\n'.repeat(8) }, reward: null, metrics: null };
    },
    calcReward: async () => 0,
    release: async () => {},
  };
}

export async function run(): Promise<void> {
  await manyRollouts(fileURLToPath(import.meta.url), Number(process.env.ROLLOUTS ?? 20_000));
  if (process.env.MODE === undefined) await atOnce();
}

/** 1,000 rollouts of 4 turns at once, against a model and a tool with latency. */
async function atOnce(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const server = fork(fileURLToPath(import.meta.url), ['--serve-model']);
  const url = await new Promise<string>((resolve) => server.once('message', (message) => resolve(String(message))));
  const times: number[] = [];
  const memory: number[] = [];
  const resident: number[] = [];
  try {
    for (let round = 0; round < 3; round++) {
      collectGarbage();
      const before = process.memoryUsage();
      const start = performance.now();
      const inFlight = sleep(1000 * Math.min(4, longestChain() / 2)).then(() => {
        resident.push((process.memoryUsage().rss - before.rss) / ROLLOUTS / 1024);
        collectGarbage();
        const after = process.memoryUsage();
        memory.push((after.heapUsed + after.external - before.heapUsed - before.external) / ROLLOUTS / 1024);
      });
      let done = 0;
      const rollouts = collectRollouts({
        tasks,
        model: new ChatCompletionsModel('scripted', { url }),
        rewards: rewardRouter(),
        concurrency: ROLLOUTS,
        request: { tools: [slowTool()] },
      });
      for await (const { judgement } of rollouts) if (judgement.score === 1) done++;
      times.push((performance.now() - start) / 1000);
      if (done !== ROLLOUTS) throw new Error(`${ROLLOUTS - done} rollouts did not end well`);
      await inFlight;
    }
  } finally {
    server.kill();
  }
  const chain = longestChain();
  const took = median(times);
  figure(
    '1,000 concurrent rollouts',
    `${took.toFixed(2)} s`,
    `longest chain of latencies: ${chain.toFixed(2)} s`,
    took / chain,
    '≤ 1.1 ×',
  );
  figure(
    'memory a rollout in flight',
    `${median(memory).toFixed(0)} kB`,
    `resident: ${Math.max(...resident).toFixed(0)} kB`,
    null,
    'reported',
  );
}
