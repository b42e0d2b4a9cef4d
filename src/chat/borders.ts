import type { RoleLine } from './role-lines.ts';

/** The text between two certain borders, with the role lines in it that may or may not be borders. */
export interface Zone {
  text: string;
  /** The role of the turn that is open when the zone starts, and where its text starts. */
  startRole: string;
  startEnd: number;
  lines: readonly RoleLine[];
  /** Roles that the zone's last turn may have, and what an unlikely one costs. */
  mustEnd: readonly string[];
  endCost: Partial<Record<string, number>>;
}

export interface Reading {
  /** The lines that are borders, by their index in `zone.lines`. */
  chosen: number[];
  /** Only one reading is legal. */
  certain: boolean;
  /** Turns (0 = the open one, then one a border) that hold a role line which is no border. */
  tainted: Set<number>;
}

/** A turn that holds an unexplained role line costs one, however many it holds: a pasted log is one event. */
const TAINT = 1;

interface Node {
  cost: number;
  /** How many legal readings there are from here on, counted to two. */
  readings: number;
  next: number;
}

/** How a line can be reached; each class has its cheapest node so far, so that a zone of n lines costs n, not n². */
type Class = 'user' | 'assistant' | 'tool' | 'toolAfterCall';

const REACHES: Record<string, readonly Class[]> = {
  system: ['user'],
  user: ['assistant'],
  assistant: ['user', 'toolAfterCall'],
  tool: ['assistant', 'tool'],
};

function classesOf(line: RoleLine): Class[] {
  if (line.role === 'tool') return line.callBefore ? ['tool', 'toolAfterCall'] : ['tool'];
  return line.role === 'system' ? [] : [line.role];
}

/** Chooses the legal reading with the lowest cost, by going backwards once over the lines. */
export function bestBorders(zone: Zone): Reading {
  const { lines } = zone;
  const nodes: Node[] = new Array(lines.length + 1);
  // Over all nodes at least two places further on: the cheapest one and the number of readings, by class.
  const far = new Map<Class, { cost: number; index: number; readings: number }>();
  for (let i = lines.length; i >= 0; i--) {
    const line = i === 0 ? undefined : lines[i - 1];
    const role = line === undefined ? zone.startRole : line.toolResponse ? 'tool' : line.role;
    const textStart = line?.end ?? zone.startEnd;
    const skipped = nodes[i + 2] === undefined ? undefined : i + 2;
    if (skipped !== undefined) {
      for (const name of classesOf(lines[skipped - 1] as RoleLine)) {
        const known = far.get(name);
        const node = nodes[skipped] as Node;
        if (known === undefined || node.cost <= known.cost) {
          far.set(name, {
            cost: node.cost,
            index: skipped,
            readings: Math.min(2, node.readings + (known?.readings ?? 0)),
          });
        } else {
          known.readings = Math.min(2, known.readings + node.readings);
        }
      }
    }
    const node: Node = { cost: Number.POSITIVE_INFINITY, readings: 0, next: -1 };
    const reaches = REACHES[role] ?? ['user', 'assistant'];
    if (zone.mustEnd.includes(role)) {
      node.cost = (zone.endCost[role] ?? 0) + (i < lines.length ? TAINT : 0);
      node.readings = 1;
    }
    for (const name of reaches) {
      const best = far.get(name);
      if (best === undefined || best.readings === 0) continue;
      node.readings = Math.min(2, node.readings + best.readings);
      if (best.cost + TAINT <= node.cost) {
        const earlier = best.cost + TAINT < node.cost || node.next === -1 || best.index < node.next;
        if (earlier) Object.assign(node, { cost: best.cost + TAINT, next: best.index });
      }
    }
    const following = lines[i];
    const direct = nodes[i + 1];
    if (following !== undefined && direct !== undefined && direct.readings > 0) {
      const isReached = classesOf(following).some((name) => reaches.includes(name));
      const isEmpty = role === 'user' && zone.text.slice(textStart, following.start).trim() === '';
      if (isReached && !isEmpty) {
        node.readings = Math.min(2, node.readings + direct.readings);
        if (direct.cost <= node.cost) Object.assign(node, { cost: direct.cost, next: i + 1 });
      }
    }
    nodes[i] = node;
  }

  const chosen: number[] = [];
  const tainted = new Set<number>();
  let at = 0;
  for (;;) {
    const { next } = nodes[at] as Node;
    const reached = next === -1 ? lines.length + 1 : next;
    if (reached > at + 1) tainted.add(chosen.length);
    if (next === -1) break;
    chosen.push(next - 1);
    at = next;
  }
  // No legal reading at all (a prompt that ends in a way no template writes): the open turn keeps everything.
  const { readings } = nodes[0] as Node;
  return { chosen, certain: readings === 1 || lines.length === 0, tainted };
}
