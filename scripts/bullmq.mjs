// BullMQ as far as the program uses it: its package's own entry brings queues in Postgres, and clients of three other packages for Redis.
export { Queue } from '../node_modules/bullmq/dist/esm/classes/queue.js';
export { Worker } from '../node_modules/bullmq/dist/esm/classes/worker.js';
