import { Agent } from 'undici';

const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: null });

/** One turn with nothing around it: the events of the answer, parsed. */
function ask(url: URL, body: string): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname,
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_, chunk) {
          text += chunk.toString();
        },
        onResponseEnd() {
          const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
          resolve(events.map((event) => JSON.parse(event.slice('data: '.length))));
        },
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

interface BareRun {
  url: string;
  rollouts: number;
  atOnce: number;
  turns: number;
  tools: unknown;
  prompt: string;
  result: string;
}

/**
 * The processor time of rollouts that are nothing but their requests: no limits, retries, checks, scores, masks or dump. What an engine adds
 * to it is its own.
 * @returns milliseconds a rollout
 */
export async function bareRollouts(run: BareRun): Promise<number> {
  const { rollouts, atOnce, turns, tools, prompt, result } = run;
  const url = new URL(`${run.url}/chat/completions`);
  let left = rollouts;
  let bytes = 0;
  const before = process.cpuUsage();
  const worker = async () => {
    while (left-- > 0) {
      const messages: unknown[] = [{ role: 'user', content: prompt }];
      for (let turn = 0; turn < turns; turn++) {
        const body = JSON.stringify({
          model: 'm',
          messages,
          tools,
          stream: true,
          stream_options: { include_usage: true },
        });
        const events = await ask(url, body);
        messages.push({ role: 'assistant', content: result, events: events.length });
        if (turn < turns - 1) messages.push({ role: 'tool', content: '104.5' });
      }
      bytes += JSON.stringify(messages).length;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (bytes === 0) throw new Error('nothing was made');
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / rollouts;
}
