import { type JsonObject, objectIn } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import type { OwnUse } from '../common/own-use.ts';
import type { Interaction, UserWord } from '../interactions/interaction.ts';
import { CannotLoadError } from '../python/own-error.ts';
import { callHeld, type HeldObject, type LoadRequest } from '../python/own-host.ts';
import type { OwnTarget } from './own-code.ts';

/** A user's interaction class of verl's interface (`verl/interactions/base.py`): one object for all rollouts, one instance per rollout. */
export class OwnInteraction implements Interaction {
  readonly name: string;
  readonly use: OwnUse;
  readonly #own: OwnTarget;
  readonly #request: LoadRequest;
  readonly #instances = new Map<string, { held: HeldObject; id: string }>();

  constructor(own: OwnTarget, name: string, config: JsonObject, from: string) {
    this.name = name;
    this.use = { what: own.text, runs: own.runs, from };
    this.#own = own;
    this.#request = { kind: 'interaction', target: own.target, name, config };
  }

  /** Imports and constructs the class. @throws CannotLoadError naming the file and line */
  async load(signal?: AbortSignal): Promise<void> {
    await this.#own.host.shared(this.#request, signal).catch((error: Error) => {
      throw error instanceof CannotLoadError
        ? new CannotLoadError(`${this.use.from} (${this.use.what}): ${error.message}`)
        : error;
    });
  }

  async start(instanceId: string, kwargs: JsonObject, signal?: AbortSignal): Promise<void> {
    const held = await this.#own.host.shared(this.#request, signal);
    const id = await callHeld(held, 'start', [instanceId, kwargs], signal);
    this.#own.host.hold(held.process);
    this.#instances.set(instanceId, { held, id: String(id) });
  }

  async respond(
    instanceId: string,
    messages: readonly Message[],
    kwargs: JsonObject,
    signal?: AbortSignal,
  ): Promise<UserWord> {
    const { held, id } = this.#instances.get(instanceId)!;
    const answer = await callHeld(held, 'respond', [id, [...messages], kwargs], signal);
    const { done, text, reward, metrics = null } = objectIn(answer);
    return {
      terminate: done === true,
      text: String(text),
      score: typeof reward === 'number' ? reward : null,
      metadata: metrics,
    };
  }

  async finalize(instanceId: string): Promise<void> {
    const instance = this.#instances.get(instanceId);
    if (instance === undefined) return;
    this.#instances.delete(instanceId);
    try {
      if (!instance.held.process.isDead) await callHeld(instance.held, 'finalize', [instance.id]);
    } finally {
      this.#own.host.free(instance.held.process);
    }
  }
}
