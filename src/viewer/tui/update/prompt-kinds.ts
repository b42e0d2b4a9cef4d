import type { PromptId } from '../state/prompt.ts';
import { agentPrompt } from './agent-prompt.ts';
import { bisectPrompt } from './bisect-prompt.ts';
import { commandPrompt } from './command-prompt.ts';
import { filterPrompt } from './filter-prompt.ts';
import { helpPrompt } from './help-prompt.ts';
import { hitsPrompt } from './hits-prompt.ts';
import { labelPrompt, notePrompt } from './label.ts';
import { modelPrompt } from './model-prompt.ts';
import { pipePrompt } from './pipe-prompt.ts';
import type { PromptKind } from './prompt-kind.ts';
import { rewardPrompt } from './reward-prompt.ts';
import { samplingPrompt } from './sampling-prompt.ts';
import { searchPrompt } from './search-prompt.ts';
import { setPrompt } from './sets.ts';
import { worldPrompt } from './world-prompt.ts';

/** A new prompt needs a file, and a line here. */
export const PROMPTS: Readonly<Record<PromptId, PromptKind>> = {
  command: commandPrompt,
  filter: filterPrompt,
  help: helpPrompt,
  model: modelPrompt,
  agent: agentPrompt,
  sampling: samplingPrompt,
  reward: rewardPrompt,
  search: searchPrompt,
  world: worldPrompt,
  bisect: bisectPrompt,
  hits: hitsPrompt,
  pipe: pipePrompt,
  label: labelPrompt,
  note: notePrompt,
  set: setPrompt,
};
