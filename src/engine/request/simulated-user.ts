import { TimedOutError } from '../../core/async/timeout.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { RolloutFault } from '../common/faults.ts';
import type { Message } from '../common/message.ts';
import type { Interaction, UserWord } from '../interactions/interaction.ts';
import { OwnCodeError } from '../python/own-error.ts';
import type { LoopRules } from './rules.ts';

/** The simulated user, or the environment, of one rollout. Its errors are faults of the world. */
export class SimulatedUser {
  readonly interaction: Interaction;
  readonly #kwargs: JsonObject;
  readonly #id: string;
  readonly #needsTruth: boolean;
  #isThere = false;

  constructor(
    { interaction, kwargs }: { interaction: Interaction; kwargs: JsonObject },
    id: string,
    { userNeedsTruth }: LoopRules,
  ) {
    this.interaction = interaction;
    this.#kwargs = kwargs;
    this.#id = id;
    this.#needsTruth = userNeedsTruth;
  }

  /** @returns the opening messages, in place of the task's messages */
  async start(signal: AbortSignal): Promise<readonly Message[] | undefined> {
    // An environment that fails halfway still has something to close.
    this.#isThere = this.interaction.isWorld === true;
    try {
      await this.#orFault(this.interaction.start(this.#id, this.#kwargs, signal));
    } catch (error) {
      if (this.#needsTruth || !(error instanceof RolloutFault) || error.reason !== 'no_truth') throw error;
    }
    this.#isThere = true;
    return this.interaction.opening;
  }

  /** @param spoken the last turn as sampled */
  respond(messages: readonly Message[], spoken: string, signal: AbortSignal): Promise<UserWord> {
    return this.#orFault(this.interaction.respond(this.#id, messages, this.#kwargs, signal, spoken));
  }

  /** @returns what went wrong at the end; null if nothing did */
  async finalize(): Promise<string | null> {
    if (!this.#isThere) return null;
    try {
      await this.interaction.finalize(this.#id, this.#kwargs);
      return null;
    } catch (error) {
      return `the simulated user, at the end: ${errorMessage(error)}`;
    }
  }

  async #orFault<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof RolloutFault || error instanceof TimedOutError) throw error;
      const who = this.interaction.isWorld ? `the ${this.interaction.name}` : 'the simulated user';
      const isLost = error instanceof OwnCodeError && error.fault === 'world';
      throw new RolloutFault(isLost ? 'state_lost' : 'user_fault', `${who}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }
}
