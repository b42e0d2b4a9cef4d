// Static imports name their exports, which those of a package in CommonJS lack once it is bundled and imported later.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

/** The queue uses only these; the rest, including Postgres, is not bundled. */
export const bullmq = { Queue, Worker };

export { Redis };
