import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { itemAt, lastItem } from '../lists/at.ts';
import type { RecordedOutcome } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { resultMessage } from './blocks.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { chatMessage } from './openai-message.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/**
 * An answer of ToolBench (`toolbench/inference`): a tree of thoughts, actions and their inputs. The path to the answer
 * is the main history, and each abandoned path a rejected one; a turn shared by several paths is listed in the first.
 */
export const toolBench: Format = messageFormat({
  name: 'toolbench',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'the messages of answer_generation up to the query, then tree.tree, or trys[].chain',
    calls: 'nodes Action with the node Action Input behind them',
    contexts: 'leaves of the tree; trys[]',
    status: 'answer_generation.finish_type',
    tools: 'answer_generation.function',
  },
  detects: (record) =>
    isJsonObject(record.answer_generation) &&
    (Array.isArray(record.trys) || (isJsonObject(record.tree) && isJsonObject(record.tree.tree))),
  find(record) {
    const generation = objectIn(record.answer_generation);
    const ways = waysOf(record);
    const main = ways.find(isAnswered) ?? ways.at(-1) ?? [];
    const ordered = [main, ...ways.filter((way) => way !== main)];
    const contexts = ordered.map(
      (_, at): Context => ({ kind: at === 0 ? 'main' : 'rejected', name: at === 0 ? null : `way ${at}`, after: null }),
    );
    const messages = generationPrompt(generation);
    const seen = new Map<JsonObject, number>();
    for (const [place, way] of ordered.entries()) {
      const shared = way.filter(({ node }) => seen.has(node)).at(-1);
      if (place > 0 && shared !== undefined) itemAt(contexts, place).after = seen.get(shared.node)!;
      const own = way.filter(({ node }) => !seen.has(node));
      for (const { node, message } of wayTurns(own)) {
        messages.push({ ...message, context: place });
        for (const one of node) seen.set(one, messages.length - 1);
      }
    }
    return {
      known: new Set(['tree', 'trys', 'compare_candidates', 'answer_generation', 'forward_args']),
      messages,
      hasCallsApart: true,
      contexts,
      status: idOf(generation.finish_type),
      tools: generation.function,
      extras: isJsonObject(record.forward_args) ? { forward_args: record.forward_args } : {},
    };
  },
});

interface PlacedNode {
  node: JsonObject;
  at: string;
}

/** The paths from the root to each leaf, without the root, which has no content. */
function waysOf(record: JsonObject): PlacedNode[][] {
  if (Array.isArray(record.trys))
    return objectsOf(record.trys).map((one, i) =>
      objectsOf(one.chain).map((node, j) => ({ node, at: `/trys/${i}/chain/${j}` })),
    );
  const root = objectIn(objectIn(record.tree).tree);
  const ways: PlacedNode[][] = [];
  const open: { way: PlacedNode[]; node: JsonObject; at: string }[] = [{ way: [], node: root, at: '/tree/tree' }];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const { way, node, at } = one;
    const children = objectsOf(node.children);
    const own = at === '/tree/tree' ? way : [...way, { node, at }];
    if (children.length === 0) ways.push(own);
    for (let i = children.length - 1; i >= 0; i--)
      open.push({ way: own, node: itemAt(children, i), at: `${at}/children/${i}` });
  }
  return ways;
}

const FINISHED = 3;
const isAnswered = (way: readonly PlacedNode[]): boolean =>
  way.at(-1)?.node.observation_code === FINISHED && !contentText(lastItem(way).node.description).includes('give_up');

/** The question: the first messages of the model's last input. */
function generationPrompt(generation: JsonObject): FoundMessage[] {
  const lists = Array.isArray(generation.train_messages) ? generation.train_messages : [];
  const last = lists.length - 1;
  const found: FoundMessage[] = [];
  for (const [i, message] of objectsOf(lists[last] as JsonValue | undefined).entries()) {
    if (message.role !== 'system' && message.role !== 'user') break;
    found.push(chatMessage(message, `/answer_generation/train_messages/${last}/${i}`));
  }
  if (found.length === 0 && typeof generation.query === 'string')
    found.push({ role: 'user', texts: [{ pointer: '/answer_generation/query', text: generation.query }] });
  return found;
}

/** A thought, an action and its input form one reply; the result is the tool's. */
function wayTurns(way: readonly PlacedNode[]): { node: JsonObject[]; message: FoundMessage }[] {
  const turns: { node: JsonObject[]; message: FoundMessage }[] = [];
  let reply: { node: JsonObject[]; message: FoundMessage } | null = null;
  for (const { node, at } of way) {
    const text = contentText(node.description);
    if (reply === null) {
      reply = { node: [], message: { role: 'assistant', texts: [] } };
      turns.push(reply);
    }
    reply.node.push(node);
    if (node.node_type === 'Thought') reply.message.texts.push({ pointer: `${at}/description`, text });
    else if (node.node_type === 'Action') reply.message.calls = [{ id: null, name: text, arguments: undefined }];
    else {
      const [call] = reply.message.calls ?? [];
      reply.message.calls = [{ id: null, name: call?.name ?? null, arguments: text }];
      if (node.observation !== undefined) {
        const said = contentText(node.observation);
        const message: FoundMessage = resultMessage(
          null,
          `${at}/observation`,
          said,
          outcomeOfCode(numberOf(node.observation_code)),
        );
        turns.push({ node: [node], message });
      }
      reply = null;
    }
  }
  return turns;
}

/** The codes of ToolBench's server (`toolbench/inference/Downstream_tasks/rapidapi.py`). */
const CODES: Readonly<Record<number, RecordedOutcome>> = {
  0: { isFailure: false, evidence: 'observation_code 0' },
  1: { isFailure: true, evidence: 'observation_code 1', kind: 'unknown_tool', fault: 'model' },
  2: { isFailure: true, evidence: 'observation_code 2', kind: 'bad_arguments', fault: 'model' },
  3: { isFailure: false, evidence: 'observation_code 3' },
  5: { isFailure: true, evidence: 'observation_code 5', kind: 'timeout' },
  6: { isFailure: true, evidence: 'observation_code 6', kind: 'http' },
  7: { isFailure: true, evidence: 'observation_code 7', kind: 'http', fault: 'world' },
  8: { isFailure: true, evidence: 'observation_code 8', kind: 'http', fault: 'world' },
  9: { isFailure: true, evidence: 'observation_code 9', kind: 'rate_limit', fault: 'world' },
  10: { isFailure: true, evidence: 'observation_code 10', kind: 'rate_limit', fault: 'world' },
  11: { isFailure: true, evidence: 'observation_code 11', kind: 'rejected' },
  12: { isFailure: true, evidence: 'observation_code 12', kind: 'unavailable', fault: 'world' },
};

const outcomeOfCode = (code: number | null): RecordedOutcome | undefined => (code === null ? undefined : CODES[code]);
