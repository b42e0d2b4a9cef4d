import { type JsonValue, keysIn } from '../../core/json/value.ts';
import { type ContextNode, contextTree } from '../../core/rollout/contexts.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';

/** A filter's question to the histories of a rollout; it holds if it holds for any of them. */
const PARTS = {
  'context.kind': ({ context }) => context.kind,
  'context.name': ({ context }) => context.name,
  'context.turns': ({ turns, context }) => context.own?.turns.length ?? turns.length,
  /** From 0 to 1; unknown if the mask is. */
  'context.trained_share': ({ trained, chars }) => (trained === null || chars === 0 ? null : trained / chars),
  'context.depth': ({ depth }) => depth,
} as const satisfies Record<string, (node: ContextNode) => JsonValue>;

export type ContextPart = keyof typeof PARTS;

export const CONTEXT_NAMES = keysIn(PARTS);

export const isContextPart = (name: string): name is ContextPart => Object.hasOwn(PARTS, name);

export const contextValues = (rollout: Rollout | null, part: ContextPart): JsonValue[] =>
  rollout === null ? [] : contextTree(rollout).map((node) => PARTS[part](node));
