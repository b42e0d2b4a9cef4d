import type { JsonObject } from '../../json/value.ts';
import { gsm8kScore } from '../rewards/gsm8k.ts';
import { pythonFloat, pythonString } from './python.ts';
import { StatefulTool, type ToolResult } from './tool.ts';

interface State {
  groundTruth: string;
  reward: number;
}

/** verl's Gsm8kTool (`verl/tools/gsm8k_tool.py`): the model asks for the reward of its answer; an answer no better than the last costs 0.05. */
export class CalcGsm8kRewardTool extends StatefulTool<State> {
  protected start(kwargs: JsonObject): State {
    return { groundTruth: String(kwargs.ground_truth ?? ''), reward: 0 };
  }

  protected async run(state: State, parameters: JsonObject): Promise<ToolResult> {
    const given = parameters.answer ?? '';
    const answer = typeof given === 'string' ? given : String(given);
    const solution = answer.startsWith('#### ') ? answer : `#### ${answer}`;
    const reward = gsm8kScore(solution, state.groundTruth, 'flexible');
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
