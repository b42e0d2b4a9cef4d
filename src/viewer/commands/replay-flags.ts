import type { QueueFlags } from './queue-flags.ts';
import type { SandboxFlags } from './sandbox-flags.ts';
import type { WorldFlags } from './world-flags.ts';

export interface ReplayFlags extends SandboxFlags, QueueFlags, Omit<WorldFlags, 'tool' | 'journal'> {
  from?: number;
  stopAtDrift?: boolean;
  bisect?: string;
  call?: number;
  repeat: number;
  session?: boolean;
  concurrency?: number;
  timeout?: number;
  resume?: boolean;
  exec: boolean;
  sandboxPython?: string[];
  sandboxRequirements?: string;
  table?: boolean;
  prompt?: boolean;
  journal?: string;
  exact?: string[] | true;
  filter?: string;
  agent?: string;
  junit?: string;
  json?: boolean;
  validation?: string[];
}
