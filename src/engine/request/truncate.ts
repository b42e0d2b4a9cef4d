import type { Limits } from './limits.ts';

/**
 * verl's cut of a long tool result (`verl/experimental/agent_loop/tool_agent_loop.py`, January 2026; the two outer sides were swapped
 * in May 2026). Lengths count code points, so that no surrogate pair is torn and the text equals Python's.
 */
export function truncateToolText(
  text: string,
  limit: number | null,
  side: Limits['tool_response_truncate_side'],
): string {
  if (limit === null || text.length <= limit) return text;
  const points = [...text];
  if (points.length <= limit) return text;
  const tail = (count: number) => (count === 0 ? '' : points.slice(-count).join(''));
  if (side === 'left') return `${points.slice(0, limit).join('')}...(truncated)`;
  if (side === 'right') return `(truncated)...${tail(limit)}`;
  const half = Math.floor(limit / 2);
  return `${points.slice(0, half).join('')}...(truncated)...${tail(half)}`;
}
