import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonValue } from '../../json/value.ts';
import { parseFloatText } from '../../sandbox/pydantic.ts';
import { pythonText } from '../agents/python-text.ts';
import { evaluate } from './arithmetic.ts';
import { extractGsm8kAnswer, gsm8kScore } from './gsm8k.ts';
import { mathScore } from './math.ts';
import { type RewardFn, RewardRegistry } from './reward.ts';

/** A ground truth as text: data sets hold numbers as numbers and as strings. */
export const truthText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : printJson(value);

const exactMatch: RewardFn = (task, action) => {
  // As Python's str() of it, where the truth is no text.
  const score = action.trim() === (task.ground_truth === undefined ? '' : pythonText(task.ground_truth)).trim() ? 1 : 0;
  return { reward: score, metadata: { exact_match: score } };
};

const isTwo: RewardFn = (_task, action) => {
  const score = parseFloatText(action) === 2 ? 1 : 0;
  return { reward: score, metadata: { is_two: score } };
};

const calculateReward: RewardFn = (task, action) => {
  if (typeof task.question !== 'string') throw new TypeError('reward calculate: the task has no question');
  const expected = evaluate(
    task.question
      .replaceAll('= ?', '')
      .replaceAll('=', '')
      .replace(/(\d)_(?=\d)/g, '$1'),
  );
  const answer = action.replaceAll('The answer is ', '').trim().replace(/\.+$/, '');
  const given = parseFloatText(answer) ?? Number.NaN;
  const score = expected !== null && Math.abs(given - expected) < 1e-6 ? 1 : 0;
  return { reward: score, metadata: { calculate_correct: score } };
};

const gsm8k: RewardFn = (task, action) => {
  const score = gsm8kScore(action, truthText(task.ground_truth));
  return { reward: score, metadata: { acc: score, pred: extractGsm8kAnswer(action) } };
};

const math: RewardFn = (task, action) => {
  const { score, answer } = mathScore(action, truthText(task.ground_truth));
  return { reward: score, metadata: { acc: score, pred: answer } };
};

/** The sum of what the rollout's own tools say of it at its end (verl's `reward_scores`): a session's reward, a checked answer. */
const toolReward: RewardFn = (task) => {
  const scores = isJsonObject(task.reward_scores) ? task.reward_scores : {};
  const numbers = Object.values(scores).filter((score) => typeof score === 'number');
  return { reward: numbers.reduce((sum, score) => sum + score, 0), metadata: {} };
};

/** The functions that need nothing but the text. Tunix's names and rules, and verl's two most used scores. */
export function builtinRewards(): RewardRegistry {
  const registry = new RewardRegistry();
  registry.register('exact_match', exactMatch);
  registry.register('is_two', isTwo);
  registry.register('dummy', () => ({ reward: 0, metadata: {} }));
  registry.register('calculate', calculateReward);
  registry.register('gsm8k', gsm8k);
  registry.register('math', math);
  registry.register('tool_reward', toolReward);
  return registry;
}
