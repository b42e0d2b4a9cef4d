import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { parseFloatText } from '../../sandbox/pydantic.ts';
import { RolloutFault } from '../common/faults.ts';
import { pythonText } from '../common/python-text.ts';
import { evaluate } from './arithmetic.ts';
import { extractGsm8kAnswer, gsm8kScore } from './gsm8k.ts';
import { type RewardFn, type RewardOutput, RewardRegistry, type RewardTask, registeredRewards } from './reward.ts';
import { dapoScore } from './verl/dapo.ts';
import { geo3kScore } from './verl/geo3k.ts';
import { mathScore } from './verl/math.ts';
import { primeMathScore } from './verl/prime-math.ts';
import { answerF1, searchScore } from './verl/search-qa.ts';
import { askSympy, type Zero } from './verl/sympy.ts';

/** A ground truth as text: data sets store numbers as numbers or as strings. */
const truthText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : value === undefined ? '' : printJson(value);

/** Without a ground truth there is no score: a 0 would mean that the answer is wrong. */
const withTruth =
  (judge: (truth: JsonValue, action: string) => RewardOutput): RewardFn =>
  (task, action) =>
    judge(truthOf(task), action);

function truthOf({ ground_truth: truth }: RewardTask): JsonValue {
  if (truth === undefined || truth === null) throw new RolloutFault('no_truth', 'no ground truth');
  return truth;
}

/** The same function restricted to tasks with a ground truth: a fault for every other one. */
export const onlyWithTruth =
  (fn: RewardFn): RewardFn =>
  (task, action, signal) => {
    truthOf(task);
    return fn(task, action, signal);
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

const gsm8k = withTruth((truth, action) => {
  const score = gsm8kScore(action, truth);
  return { reward: score, metadata: { acc: score, pred: extractGsm8kAnswer(action) } };
});

const math = withTruth((truth, action) => {
  const { score, answer } = mathScore(action, truth);
  return { reward: score, metadata: { acc: score, pred: answer } };
});

const mathDapo = withTruth((truth, action) => {
  if (typeof truth !== 'string') throw new RolloutFault('no_truth', 'the ground truth is not text; verl raises here');
  const { score, acc, pred, older } = dapoScore(action, truth);
  return { reward: score, metadata: { acc, pred, ...(older && { older }) } };
});

const searchQa = withTruth((truth, action) => {
  const targets = targetsOf(isJsonObject(truth) ? truth.target : undefined);
  const { score, pred } = searchScore(action, targets ?? []);
  if (targets === null && pred !== null)
    throw new RolloutFault('no_truth', 'the ground truth has no target, where verl raises');
  return { reward: score, metadata: { acc: score, pred } };
});

const hotpotQa = withTruth((truth, action) => {
  const targets = targetsOf(isJsonObject(truth) ? (truth.target ?? truth.answer) : truth);
  if (targets === null) throw new RolloutFault('no_truth', 'the ground truth is neither a text nor a list of texts');
  const { score, pred } = answerF1(action, targets);
  return { reward: score, metadata: { f1: score, acc: score === 1 ? 1 : 0, pred } };
});

/** The right answers of a question; null if the truth holds none. */
const targetsOf = (value: JsonValue | undefined): string[] | null =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : null;

/** Tunix's rule: the truth as Python prints it, or an empty text if missing. `rewardRouter` lets no task without a truth through to it. */
const exactMatch: RewardFn = ({ ground_truth: truth = '' }, action) => {
  const score = action.trim() === pythonText(truth).trim() ? 1 : 0;
  return { reward: score, metadata: { exact_match: score } };
};

type BuiltinReward = (action: string, truth: string, zero?: Zero) => { score: number | null; pred: string };

/** Two of verl's scores ask sympy if neither texts nor values decide. @param python an interpreter that may have it */
const orSympy =
  (judge: BuiltinReward, python: string | undefined): RewardFn =>
  async (task, action, signal) => {
    const wanted = truthOf(task);
    const truth = judge === primeMathScore ? truthText(wanted) : wanted;
    if (typeof truth !== 'string') throw new RolloutFault('no_truth', 'the ground truth is not text; verl raises here');
    const asked: string[] = [];
    const noted: Zero = (difference) => {
      asked.push(difference);
      return null;
    };
    let { score, pred } = judge(action, truth, noted);
    if (score === null && python !== undefined && asked.length > 0) {
      const zero = await askSympy(python, asked, signal);
      if (zero !== null) ({ score, pred } = judge(action, truth, zero));
    }
    if (score !== null) return { reward: score, metadata: { acc: score, pred } };
    const how = python === undefined ? '--python names an interpreter that has it' : `${python} did not`;
    throw new RolloutFault('reward_fault', `sympy would decide whether ${pred} is ${truth}; ${how}`);
  };

/** The sum of the rewards from the rollout's own tools at its end (verl's `reward_scores`): a session's reward, a checked answer. */
const toolReward: RewardFn = (task) => {
  const scores = objectIn(task.reward_scores);
  const numbers = Object.values(scores).filter((score) => typeof score === 'number');
  if (numbers.length === 0)
    throw new RolloutFault('no_truth', 'the record holds no reward of its tools or session (reward_scores)');
  return { reward: numbers.reduce((sum, score) => sum + score, 0), metadata: {} };
};

/** The functions that need only the text: Tunix's names and rules, and verl's scores. @param python an interpreter that may have sympy */
export function builtinRewards({ python }: { python?: string | undefined } = {}): RewardRegistry {
  const registry = new RewardRegistry();
  registry.register('exact_match', exactMatch);
  registry.register('is_two', isTwo);
  registry.register('dummy', () => ({ reward: 0, metadata: {} }));
  registry.register('calculate', calculateReward);
  registry.register('gsm8k', gsm8k);
  registry.register('math', math);
  registry.register('math_dapo', mathDapo);
  registry.register('search_qa', searchQa);
  registry.register('hotpotqa', hotpotQa);
  registry.register('geo3k', orSympy(geo3kScore, python));
  registry.register('prime_math', orSympy(primeMathScore, python));
  registry.register('tool_reward', toolReward);
  for (const [name, fn] of registeredRewards()) registry.register(name, fn);
  return registry;
}
