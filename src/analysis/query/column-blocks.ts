import { IN_RECORD } from '../../core/dump/cell-column.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { float64At, itemAt, uint8At } from '../../core/lists/at.ts';
import { CHECK_COLUMNS, Facts } from '../../core/rollout/fact-row.ts';
import { FACTS, factAt } from '../../core/rollout/facts.ts';
import { ASK, type FilterVerdict, NO, termTest, type ValueTerm, YES } from './evaluator.ts';
import type { Expression } from './expression.ts';
import type { Field } from './fields.ts';
import { knownValue, verdictOn } from './on-columns.ts';

/** Records of a file that are judged together. Their file's facts are all known. */
export interface RecordBlock {
  file: DumpFile;
  from: number;
  /** At most BLOCK. */
  count: number;
}

export const BLOCK = 4096;

/** Writes the numbers of a block, NaN for none: false if a value is something else, or not known. */
type NumberBlocks = (block: RecordBlock, target: Float64Array) => boolean;

/** Writes the verdicts of a block. */
type VerdictBlocks = (block: RecordBlock, target: Uint8Array) => void;

/** Numbers of a field, a column at a time: those of `knownValue` where it says a number or nothing. null for a field without such columns. */
export function numberBlocks(field: Field): NumberBlocks | null {
  if (field.type === 'number') return ofRecords(field.name);
  if (field.type === 'fact') {
    const at = factAt(field.name);
    const { words, isSignature } = itemAt(FACTS, at);
    if (words !== undefined || isSignature !== undefined) return null;
    return ({ file, from, count }, target) => {
      itemAt(file.index.columns.rows, at).copyTo(target, 0, count, from);
      return true;
    };
  }
  if (field.type === 'group')
    return ({ file, from, count }, target) => {
      const measure = file.measures?.(field.name);
      if (measure === undefined) return false;
      target.set(measure.subarray(from, from + count));
      target.fill(Number.NaN, Math.max(0, measure.length - from), count);
      return true;
    };
  if (field.type === 'extra')
    return ({ file, from, count }, target) =>
      file.index.columns.cells.get(field.path)?.copyNumbers(target, count, from) ?? false;
  return null;
}

function ofRecords(name: Extract<Field, { type: 'number' }>['name']): NumberBlocks | null {
  switch (name) {
    case 'score':
      return ({ file, from, count }, target) => {
        const { scores, hasScore } = file.index.columns;
        scores.copyTo(target, 0, count, from);
        // A recorded NaN is a value.
        for (let i = 0; i < count; i++)
          if (Number.isNaN(float64At(target, i)) && hasScore.at(from + i) === 1) return false;
        return true;
      };
    case 'step':
      return ({ file, from, count }, target) => {
        for (let i = 0; i < count; i++) target[i] = file.stepOf(from + i) ?? Number.NaN;
        return true;
      };
    case 'bytes':
      return ({ file: { index }, from, count }, target) => {
        for (let i = 0; i < count; i++) target[i] = index.length(from + i);
        return true;
      };
    case 'sample':
      return ({ from, count }, target) => {
        for (let i = 0; i < count; i++) target[i] = from + i + 1;
        return true;
      };
    default:
      return null;
  }
}

/** The same as `verdictOn` for neighbours, a column at a time. */
export function verdictBlocks(expression: Expression): VerdictBlocks {
  switch (expression.op) {
    case 'not': {
      const verdicts = verdictBlocks(expression.of);
      return (block, target) => {
        verdicts(block, target);
        for (let i = 0; i < block.count; i++) {
          const verdict = uint8At(target, i);
          target[i] = verdict === ASK ? ASK : verdict === YES ? NO : YES;
        }
      };
    }
    case 'and':
    case 'or': {
      const [left, right] = [verdictBlocks(expression.left), verdictBlocks(expression.right)];
      const decisive = expression.op === 'and' ? NO : YES;
      const others = new Uint8Array(BLOCK);
      return (block, target) => {
        left(block, target);
        right(block, others);
        for (let i = 0; i < block.count; i++) {
          const [one, other] = [uint8At(target, i), uint8At(others, i)];
          if (one !== decisive && (other === decisive || one !== ASK)) target[i] = other;
        }
      };
    }
    case 'finding': {
      const isFound = Facts.inBits(expression.check);
      const numbers = new Float64Array(BLOCK);
      return ({ file, from, count }, target) => {
        itemAt(file.index.columns.rows, CHECK_COLUMNS.found).copyTo(numbers, 0, count, from);
        // Most records have the same findings as others nearby.
        let [last, verdict]: [number, FilterVerdict] = [Number.NaN, NO];
        for (let i = 0; i < count; i++) {
          const bits = float64At(numbers, i);
          if (bits !== last) [last, verdict] = [bits, isFound(bits) ? YES : NO];
          target[i] = verdict;
        }
      };
    }
    case 'signal':
      return ({ file, from, count }, target) => {
        const verdict = verdictOn(expression, file);
        for (let i = 0; i < count; i++) target[i] = verdict(from + i);
      };
    default:
      return ofValues(expression);
  }
}

function ofValues(term: ValueTerm): VerdictBlocks {
  const { field } = term;
  const holds = termTest(term);
  const verdictOf = (value: JsonValue | undefined | typeof IN_RECORD): FilterVerdict =>
    value === IN_RECORD ? ASK : holds(value) ? YES : NO;
  const oneByOne: VerdictBlocks = ({ file, from, count }, target) => {
    const read = knownValue(file, field);
    for (let i = 0; i < count; i++) target[i] = verdictOf(read(from + i));
  };
  if (field.type === 'extra')
    return (block, target) => {
      const { file, from, count } = block;
      const verdict = file.index.columns.cells.get(field.path)?.judged(verdictOf);
      if (verdict === undefined) oneByOne(block, target);
      else for (let i = 0; i < count; i++) target[i] = verdict(from + i);
    };
  const numbers = numberBlocks(field);
  if (numbers === null) return oneByOne;
  const values = new Float64Array(BLOCK);
  const missing = verdictOf(undefined);
  return (block, target) => {
    if (!numbers(block, values)) oneByOne(block, target);
    else
      for (let i = 0; i < block.count; i++) {
        const value = float64At(values, i);
        target[i] = Number.isNaN(value) ? missing : holds(value) ? YES : NO;
      }
  };
}
