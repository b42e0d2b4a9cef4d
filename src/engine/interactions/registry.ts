import type { JsonObject } from '../../core/json/value.ts';
import { RolloutFault } from '../common/faults.ts';
import { type Message, messageText } from '../common/message.ts';
import { gsm8kScore } from '../rewards/gsm8k.ts';
import type { Interaction, UserWord } from './interaction.ts';
import { ModelUserInteraction } from './model-user.ts';

/** verl's Gsm8kInteraction (`verl/interactions/gsm8k_interaction.py`): says whether the last answer is right, and asks again until it is. */
class Gsm8kInteraction implements Interaction {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async start(_instanceId: string, { ground_truth }: JsonObject): Promise<void> {
    if (ground_truth === undefined || ground_truth === null)
      throw new RolloutFault('no_truth', `interaction_kwargs of '${this.name}' have no ground_truth`);
  }

  async respond(_instanceId: string, messages: readonly Message[], { ground_truth }: JsonObject): Promise<UserWord> {
    const answer = messages.findLast(({ role }) => role === 'assistant');
    const score = gsm8kScore(answer ? messageText(answer) : '', String(ground_truth ?? 'None'));
    return score === 1
      ? { terminate: true, text: 'Your response is correct!', score, metadata: {} }
      : {
          terminate: false,
          text: 'Your response is incorrect! You need to reflect on your answer and try again.',
          score,
          metadata: {},
        };
  }

  async finalize(): Promise<void> {}
}

/** verl's WeatherInteraction (`verl/interactions/weather_interaction.py`): content once a tool has answered. */
class WeatherInteraction implements Interaction {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  async start(): Promise<void> {}

  async respond(_instanceId: string, messages: readonly Message[]): Promise<UserWord> {
    return messages.some(({ role }) => role === 'tool')
      ? { terminate: true, text: 'Thank you for your weather query!', score: 1, metadata: {} }
      : {
          terminate: true,
          text: 'Please use the weather tool to get the weather information.',
          score: 0,
          metadata: {},
        };
  }

  async finalize(): Promise<void> {}
}

export interface InteractionKind {
  /** The class names that an interaction file may use for it, ours first. */
  classNames: string[];
  /** @param isGuest the file came with someone else's run */
  make(name: string, config: unknown, isGuest: boolean): Interaction;
}

const KINDS: InteractionKind[] = [
  {
    classNames: ['gsm8k_user', 'verl.interactions.gsm8k_interaction.Gsm8kInteraction'],
    make: (name) => new Gsm8kInteraction(name),
  },
  {
    classNames: ['weather_user', 'verl.interactions.weather_interaction.WeatherInteraction'],
    make: (name) => new WeatherInteraction(name),
  },
  { classNames: ['model_user'], make: (name, config, isGuest) => new ModelUserInteraction(name, config, { isGuest }) },
];

export const interactionKind = (className: string): InteractionKind | undefined =>
  KINDS.find(({ classNames }) => classNames.includes(className));

/** Every class name that an interaction file may use. */
export const interactionClassNames = (): string[] => KINDS.flatMap(({ classNames }) => classNames);
