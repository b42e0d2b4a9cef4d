import type { JsonObject } from '../../json/value.ts';
import { lastBoxed, mathScore } from '../rewards/math.ts';
import { pythonFloat, pythonString } from './python.ts';
import { StatefulTool, type ToolResult } from './tool.ts';

interface State {
  groundTruth: string;
  reward: number;
}

/**
 * verl's Geo3kTool (`verl/tools/geo3k_tool.py`): the model asks for the reward of its answer; an answer no better than the last costs 0.05.
 * Answers are compared as this program's reward `math` compares them; verl uses the package mathruler.
 */
export class Geo3kTool extends StatefulTool<State> {
  protected start(kwargs: JsonObject): State {
    return { groundTruth: String(kwargs.ground_truth ?? ''), reward: 0 };
  }

  protected async run(state: State, parameters: JsonObject): Promise<ToolResult> {
    const given = parameters.answer ?? '';
    const answer = typeof given === 'string' ? given : String(given);
    const boxed = lastBoxed(answer) === null ? `\\boxed{${answer}}` : answer;
    const reward = mathScore(boxed, state.groundTruth).score;
    const improved = reward > state.reward;
    state.reward = reward;
    return {
      response: { text: `Current parsed answer=${pythonString(answer)} reward=${pythonFloat(reward)}` },
      reward: improved ? 0 : -0.05,
      metrics: null,
    };
  }

  protected override reward(state: State): number {
    return state.reward;
  }
}
