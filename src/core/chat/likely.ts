import { itemAt, numberInAt } from '../lists/at.ts';
import type { Header } from './scan-headers.ts';
import type { Zone } from './zone.ts';

/** A possible header of a zone, and how much it reads like one: positive like a header, negative like prose. */
export interface Weighed {
  header: Header;
  weight: number;
}

/** Below this the words are not a header. */
export const PROSE_WEIGHT = -3;
/** How much better a reading must be with a border than without it, or the reverse, to be chosen. */
const MARGIN = 3;
/** The penalty for a response that ends after words of the user: nobody samples those. */
const ENDS_UNSAID = 2.5;

/** How a reply begins in templates that write its channel, its reasoning or its call first. */
const REPLY = /^(?:<think>|\[THINK\]|analysis|commentary|final| to=\w|<\|?tool_call)/;
/** A user's last message to an agent that ends a dialogue. */
const LAST_WORD = /#{2,}\s*[A-Z][A-Z _-]+\s*#{2,}\s*$/;

/** How a system message begins. */
const INSTRUCTS = /^(?:You are|You're|Your (?:task|role|job|name)|Act as)\b/;
/** The bonus for a user's last message. */
const SAYS_LAST = 3;

/** How much a header reads like one, by the characters around it and by how its text begins. */
export function weightOf({ text }: Zone, { start, bodyStart, endStart, rule, role }: Header): number {
  if (rule.weight !== undefined) return rule.weight;
  const words = text.slice(start, bodyStart);
  const before = text[start - 1] ?? '\n';
  const after = text[bodyStart] ?? '';
  // A header with more than a role word in it is unambiguous.
  if (words.trim().length > role.length + 12) return 5;
  if (/\n$/.test(words))
    return (
      (before === '\n' || endStart < start ? 3 : weightBefore(before)) +
      bodyWeight(text.slice(bodyStart, bodyStart + 20), role)
    );
  if (/[_\-'’=/\\@]/.test(after) || /[_\-/\\@=]/.test(before)) return -6;
  if (rule.weak === true && /["'`]/.test(before) && before === after) return -6;
  return weightBefore(before) + weightAfter(text, bodyStart, role);
}

function bodyWeight(begin: string, role: string): number {
  if (role === 'assistant') return REPLY.test(begin) ? 2 : 0;
  return role === 'system' && INSTRUCTS.test(begin) ? 2 : 0;
}

function weightBefore(before: string): number {
  if (/[.!?。！？…]/.test(before)) return 2;
  if (/[)\]}"'`*|>:~]/.test(before)) return 1.5;
  if (/\s/.test(before)) return -1;
  if (/[A-Za-z]/.test(before)) return -0.5;
  return 1;
}

function weightAfter(text: string, at: number, role: string): number {
  const after = text[at] ?? '';
  if (role === 'assistant' && REPLY.test(text.slice(at, at + 12))) return 3;
  if (after === '') return 2;
  if (/\p{Lu}/u.test(after)) return 2;
  if (/[<#[{("*\d]/.test(after)) return 1.5;
  if (/\p{Ll}/u.test(after)) return -1.5;
  if (/\s/.test(after)) return -2;
  if (/[.,;:)!?\]}]/.test(after)) return -4;
  return 1;
}

/** The penalty for a reading in which the text ends after this header. */
function endCost(zone: Zone, last: { role: string; bodyStart: number }, isDialogue: boolean): number {
  if (zone.next !== null || !zone.sampled || last.role !== 'user') return 0;
  if (LAST_WORD.test(zone.text.slice(-80))) return -SAYS_LAST;
  return isDialogue ? 0 : ENDS_UNSAID;
}

/** Does a reply follow words of a user? */
const isAnswer = ({ text }: Zone, asked: Header, { header, weight }: Weighed): boolean =>
  header.role === 'assistant' && weight > 1 && text.slice(asked.bodyStart, header.start).trim() !== '';

/**
 * The most likely reading: for each header whether it is a border, or null if both readings are about equally likely.
 */
export function likelyBorders(
  zone: Zone,
  weighed: readonly Weighed[],
  mayFollow: (before: Zone['first'] | Header, header: Header, adjacent: boolean) => boolean,
): (boolean | null)[] | null {
  const count = weighed.length;
  const nodes = [zone.first, ...weighed.map(({ header }) => header)];
  const end = count + 1;
  const isDialogue = weighed.some(
    ({ header, weight }, i) =>
      header.role === 'user' && weight > 1 && weighed.slice(i + 1).some((one) => isAnswer(zone, header, one)),
  );
  const edges: { to: number; value: number }[][] = nodes.map((node, from) => {
    const found: { to: number; value: number }[] = [];
    for (let to = from + 1; to <= count; to++)
      if (mayFollow(node, itemAt(weighed, to - 1).header, to === from + 1))
        found.push({ to, value: itemAt(weighed, to - 1).weight });
    if (zone.next === null || mayFollow(node, zone.next, from === count))
      found.push({ to: end, value: -endCost(zone, node, isDialogue) });
    return found;
  });
  const NEVER = Number.NEGATIVE_INFINITY;
  const forward = new Array<number>(end + 1).fill(NEVER);
  forward[0] = 0;
  for (let from = 0; from <= count; from++)
    for (const { to, value } of itemAt(edges, from))
      forward[to] = Math.max(numberInAt(forward, to), numberInAt(forward, from) + value);
  if (forward[end] === NEVER) return null;
  const backward = new Array<number>(end + 1).fill(NEVER);
  backward[end] = 0;
  for (let from = count; from >= 0; from--)
    for (const { to, value } of itemAt(edges, from))
      backward[from] = Math.max(numberInAt(backward, from), value + numberInAt(backward, to));
  const without = new Array<number>(end + 1).fill(NEVER);
  for (let from = 0; from <= count; from++)
    for (const { to, value } of itemAt(edges, from)) {
      const whole = numberInAt(forward, from) + value + numberInAt(backward, to);
      for (let over = from + 1; over < to; over++) without[over] = Math.max(numberInAt(without, over), whole);
    }
  return weighed.map((_, i) => {
    const gain = numberInAt(forward, i + 1) + numberInAt(backward, i + 1) - numberInAt(without, i + 1);
    if (Number.isNaN(gain)) return null;
    return gain >= MARGIN ? true : gain <= -MARGIN ? false : null;
  });
}
