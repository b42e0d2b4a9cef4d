import { formatCount, plural } from '../../present/numbers.ts';
import { scoreText, sizeText } from '../../present/quantities.ts';
import { contextTitle } from '../../present/transcript/context-blocks.ts';
import { type ContextNode, contextTree, historyAt, keptBy } from '../../rollout/contexts.ts';
import type { Rollout } from '../../rollout/rollout.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { PageSubject } from '../state/page.ts';
import type { Data } from './data.ts';
import type { Page } from './page.ts';

/** The histories of a rollout as a tree: where each left another one, how long it is, how much of it is trained. */
export function contextsPage({ place }: Extract<PageSubject, { kind: 'contexts' }>, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const nodes = rollout === null ? [] : contextTree(rollout);
  return {
    title: sanitiseLine(`the histories of ${locator}`),
    note: plural(nodes.length, 'history'),
    head: ['what a subagent, a compaction or a branch saw is a history of its own; Enter reads it'],
    columns: [
      { title: 'history', width: 46, isText: true, isFixed: true, grows: true },
      { title: 'turns', width: 6 },
      { title: 'chars', width: 8 },
      { title: 'trained', width: 8 },
      { title: 'score', width: 7 },
      { title: 'what it kept of the one before', width: 34, isText: true },
    ],
    length: nodes.length,
    empty: 'no rollout here',
    sort: null,
    row: (index) => {
      const node = nodes[index]!;
      const { context, turns, chars, trained, depth } = node;
      const own = context.own;
      const first = turns[0] ?? context.after;
      return {
        cells: [
          `${'  '.repeat(Math.min(depth, 12))}${depth > 0 ? '└ ' : ''}${contextTitle(context)}`,
          formatCount(own === undefined ? turns.length : own.turns.length),
          sizeText(own === undefined ? chars : own.turns.reduce((sum, { text }) => sum + text.length, 0)),
          trained === null || chars === 0 ? '–' : `${Math.round((100 * trained) / chars)} %`,
          own === undefined ? (index === 0 ? scoreText(rollout?.score ?? null) : '–') : scoreText(own.score),
          keptText(rollout!, node),
        ],
        ...(first === null ? {} : { open: () => ({ type: 'page-read', place, turn: first }) }),
      };
    },
  };
}

function keptText(rollout: Rollout, node: ContextNode): string {
  const change = keptBy(rollout, node);
  if (change === null) return '';
  const { kept, dropped, added } = change;
  return `kept ${kept.length}, dropped ${dropped.length}, added ${added.length} of ${kept.length + dropped.length} turns`;
}

/** What the model saw when it made a turn: the tools that it was shown, then every turn before it. */
export function historyPage({ place, turn }: Extract<PageSubject, { kind: 'history' }>, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const turns = rollout === null ? [] : historyAt(rollout, turn);
  const tools = (rollout?.toolSchemas ?? []).map(toolName);
  const dropped = new Set(
    (rollout === null ? [] : contextTree(rollout)).flatMap((node) => keptBy(rollout!, node)?.dropped ?? []),
  );
  return {
    title: sanitiseLine(`what the model saw for t${turn} of ${locator}`),
    note: plural(turns.length, 'turn'),
    head: [
      tools.length === 0
        ? 'no tool schemas are recorded'
        : sanitiseLine(
            `${plural(tools.length, 'tool')}: ${tools.slice(0, 12).join(', ')}${tools.length > 12 ? ' …' : ''}`,
          ),
    ],
    columns: [
      { title: 'turn', width: 6, isFixed: true },
      { title: 'role', width: 10, isText: true },
      { title: 'chars', width: 8 },
      { title: 'history', width: 22, isText: true },
      { title: 'text', width: 30, isText: true, grows: true },
    ],
    length: turns.length,
    empty: 'no rollout here',
    sort: null,
    row: (index) => {
      const one = turns[index]!;
      const context = rollout?.contexts?.[one.context ?? 0];
      return {
        cells: [
          `t${one.index}`,
          sanitiseLine(one.role),
          sizeText(one.text.length),
          `${context === undefined || (one.context ?? 0) === 0 ? 'main history' : contextTitle(context)}${dropped.has(one.index) ? ', dropped later' : ''}`,
          sanitiseLine(one.text.slice(0, 300)).trim(),
        ],
        open: () => ({ type: 'page-read', place, turn: one.index }),
      };
    },
  };
}

function toolName(schema: unknown): string {
  const inner = (schema as { function?: { name?: unknown }; name?: unknown } | null) ?? {};
  const name = inner.function?.name ?? inner.name;
  return typeof name === 'string' ? name : 'a tool without a name';
}
