// Static imports name their exports, which those of a package in CommonJS lack once it is bundled and imported later.
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** What the queue uses of it: the rest, Postgres among it, is not bundled. */
export const bullmq = { Queue, QueueEvents, Worker };

export { Redis };
