import { isHttpUrl } from '../../../core/http/model-url.ts';
import type { LiveModel } from '../state/replay.ts';
import type { PromptKind } from './prompt-kind.ts';

const liveModel = (value: string): LiveModel => {
  const [, url = '', name = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(value) ?? [];
  return { url, name };
};

/** The live model for a fork, if no flag names one. */
export const modelPrompt: PromptKind = {
  sign: 'model ',
  hint: () => 'OpenAI-compatible server, then the model: http://127.0.0.1:8000/v1 qwen3',
  check: (value) => {
    const { url, name } = liveModel(value);
    if (!isHttpUrl(url)) return { message: 'not an http(s) address', at: 0 };
    return name === '' ? { message: "the model's name is missing", at: value.length } : null;
  },
  submit: (value) => ({ type: 'fork-ask', model: liveModel(value) }),
};
