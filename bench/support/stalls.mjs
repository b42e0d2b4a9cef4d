import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Loaded into a program by NODE_OPTIONS: writes down for how long its main thread computed and answered nothing. That is time on a
// processor: others on the machine do not count.
const EVERY = 5;
const LEAST = 20;

const milliseconds = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;

if (isMainThread && process.env.STALLS_FILE) {
  let last = milliseconds();
  setInterval(() => {
    const stall = milliseconds() - last;
    if (stall > LEAST) appendFileSync(process.env.STALLS_FILE, `${stall.toFixed(0)}\n`);
    last = milliseconds();
  }, EVERY).unref();
}
