import { LIMIT_SETTINGS, SAMPLING_SETTINGS } from '../../engine/collect/setting-list.ts';
import type { RewardFlags } from './reward-flags.ts';
import type { SandboxFlags } from './sandbox-flags.ts';
import type { WorldFlags } from './world-flags.ts';

/** The settings of a branch. */
export const FORK_SETTINGS = [...SAMPLING_SETTINGS, ...LIMIT_SETTINGS];

export interface ForkFlags extends SandboxFlags, RewardFlags, Omit<WorldFlags, 'tool'> {
  turn?: number;
  modelUrl: string;
  model?: string;
  agent?: string;
  n: number;
  edit?: string | true;
  eachTurn?: boolean;
  success: number;
  yes?: boolean;
  out?: string;
  journal?: string;
  toolFormat?: string;
  api: 'chat' | 'generate' | 'completions';
  tokenizer?: string;
  json?: boolean;
  validation?: string[];
  /** Sampling parameters and limits, by their camel-cased keys. */
  [flag: string]: unknown;
}
