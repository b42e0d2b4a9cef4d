import { parentPort, workerData } from 'node:worker_threads';
import { serveDesk } from '../sandbox/server/desk.ts';
import type { DeskData } from '../sandbox/server/desk-protocol.ts';

if (parentPort) await serveDesk(parentPort, workerData as DeskData);
