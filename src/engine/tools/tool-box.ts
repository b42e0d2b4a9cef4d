import type { Tool } from './tool.ts';

/** Tools that are brought from elsewhere, such as those of a container: one world for each rollout, shared by its tools. */
export interface ToolBox {
  readonly tools: readonly Tool[];
  /** Identifies what they work in; part of a run's fingerprint. */
  readonly key: string;
  /** Ends the worlds of rollouts that did not release them. */
  close(): Promise<void>;
}
