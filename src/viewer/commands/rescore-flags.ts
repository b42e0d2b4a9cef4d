import type { QueueFlags } from './queue-flags.ts';
import type { RewardFlags } from './reward-flags.ts';
import type { SandboxFlags } from './sandbox-flags.ts';
import type { WorldFlags } from './world-flags.ts';

export interface RescoreFlags extends SandboxFlags, RewardFlags, QueueFlags, Omit<WorldFlags, 'tool' | 'journal'> {
  verifier?: string;
  timeout: number;
  against?: string;
  repeat: number;
  concurrency?: number;
  overlongBuffer?: string;
  maxResponseLength?: number;
  exec: boolean;
  journal?: string;
  filter?: string;
  json?: boolean;
  validation?: string[];
}
