import type { JsonValue } from '../../../core/json/value.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import { type TruthCall, truthCalls } from '../../../core/rollout/truth-calls.ts';
import { truncate } from '../../../core/text/fit.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Block } from './block.ts';
import { footLine } from './score-foot.ts';

/** Cells of a value that differs. */
const VALUE = 60;

const valueWords = (value: JsonValue | undefined): string =>
  value === undefined ? 'none' : truncate(sanitiseLine(formatJson(value)), VALUE);

const SIGNS = { made: '✓', other: '≠', missing: '✗', extra: '+' } as const;

/** The calls that the ground truth lists beside those that were made; nothing if it is no list of calls. */
export function truthBlocks(rollout: Rollout): Block[] {
  const calls = truthCalls(rollout);
  if (calls === null) return [];
  const first = calls.find(({ how }) => how !== 'made');
  return [
    footLine('truth-calls', 'calls of the ground truth', 'quiet'),
    ...calls.flatMap((call, i): Block[] => {
      const id = `truth-calls.${i}`;
      const isFirst = call === first && calls.length > 1 ? ', the first difference' : '';
      const text = `${SIGNS[call.how]} ${sanitiseLine(call.name)}  ${callWords(call)}${isFirst}`;
      return [
        { ...footLine(id, text, call.how === 'made' && !call.failed ? 'plain' : 'warning'), indent: 2 },
        ...call.differs.map(({ key, wanted, given }, at) => ({
          ...footLine(`${id}.${at}`, `${sanitiseLine(key)}: ${valueWords(given)}, expected ${valueWords(wanted)}`),
          indent: 6,
        })),
      ];
    }),
  ];
}

function callWords({ how, turn, failed }: TruthCall): string {
  const at = `t${turn}${failed ? ', and failed' : ''}`;
  if (how === 'made') return `called in ${at}`;
  if (how === 'other') return `called in ${at}, with other arguments`;
  return how === 'missing' ? 'never called' : `called in ${at}, not listed`;
}
