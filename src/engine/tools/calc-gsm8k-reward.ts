import { gsm8kScore } from '../rewards/gsm8k.ts';
import { AnswerRewardTool } from './answer-reward-tool.ts';

/** verl's Gsm8kTool (`verl/tools/gsm8k_tool.py`). */
export class CalcGsm8kRewardTool extends AnswerRewardTool {
  protected rewardOf(answer: string, groundTruth: string): number {
    return gsm8kScore(answer.startsWith('#### ') ? answer : `#### ${answer}`, groundTruth, 'flexible');
  }
}
