// Static imports name their exports, which those of a package in CommonJS lack once it is bundled and imported later.
import * as bullmq from 'bullmq';
import { Redis } from 'ioredis';

export { bullmq, Redis };
