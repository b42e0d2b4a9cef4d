import type { JsonObject } from '../../core/json/value.ts';
import { pythonFloat, pythonString } from '../common/python.ts';
import { StatefulTool, type ToolResult } from './tool.ts';

interface AnswerState {
  groundTruth: string;
  reward: number;
}

/** The model asks for the reward of its answer; an answer no better than the last costs 0.05. The base of verl's Gsm8kTool and Geo3kTool. */
export abstract class AnswerRewardTool extends StatefulTool<AnswerState> {
  /** @returns the reward of an answer, from 0 to 1 */
  protected abstract rewardOf(answer: string, groundTruth: string): number;

  protected start(kwargs: JsonObject): AnswerState {
    return { groundTruth: String(kwargs.ground_truth ?? ''), reward: 0 };
  }

  protected async run(state: AnswerState, parameters: JsonObject): Promise<ToolResult> {
    const given = parameters.answer ?? '';
    const answer = typeof given === 'string' ? given : String(given);
    const reward = this.rewardOf(answer, state.groundTruth);
    const improved = reward > state.reward;
    state.reward = reward;
    return {
      response: { text: `Current parsed answer=${pythonString(answer)} reward=${pythonFloat(reward)}` },
      reward: improved ? 0 : -0.05,
      metrics: null,
    };
  }

  protected override reward(state: AnswerState): number {
    return state.reward;
  }
}
