import { ThreadClient } from '../../../core/async/thread-client.ts';
import { isHeavy, type LongRecordPlace } from '../../../core/dump/long-record.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { Block } from './block.ts';
import { type Folds, rawBlocks } from './blocks.ts';
import type { TextView } from './text-view.ts';

export interface LongTextPlace extends Pick<LongRecordPlace, 'path' | 'offset' | 'length'>, Omit<TextView, 'folds'> {
  /** null: all is open. */
  folds: Folds | null;
}

/** Opens a record, or requests more blocks of the last one opened. */
export type LongTextRequest = { open: LongTextPlace } | { more: true };

export interface LongTextAnswer {
  blocks: Block[];
  isLast: boolean;
}

const UNREADABLE = 'it could not be read: its file has changed, or it takes more memory than there is';

/** The blocks so far; null marks those still to come. */
export class ArrivingBlocks implements Iterable<Block | null> {
  readonly #blocks: Block[] = [];
  #isWhole = false;
  /** All of them have arrived, and they are the record's, not the reason why it could not be read. */
  isRead = false;

  add(blocks: readonly Block[], isLast: boolean): void {
    for (const block of blocks) this.#blocks.push(block);
    this.#isWhole = isLast;
  }

  *[Symbol.iterator](): Generator<Block | null> {
    for (let at = 0; ; ) {
      if (at < this.#blocks.length) yield itemAt(this.#blocks, at++);
      else if (this.#isWhole) return;
      else yield null;
    }
  }
}

/** Parses the text of a long record in a thread and receives its blocks in pieces, so that keys are handled meanwhile. */
export class LongTexts extends ThreadClient<LongTextRequest, LongTextAnswer> {
  /** Ends with the last heavy record: the screen and a search want the same one at the same time. */
  static #heavy: Promise<unknown> = Promise.resolve();
  #wanted: ArrivingBlocks | null = null;

  constructor() {
    super('long-text-worker');
  }

  /** Replaces a request still in progress. @param arrived is called for each piece */
  open(place: LongTextPlace, arrived: () => void): ArrivingBlocks {
    const arriving = new ArrivingBlocks();
    this.#wanted = arriving;
    if (!isHeavy(place)) void this.#take(place, arriving, arrived);
    else {
      const taken = LongTexts.#heavy.then(async () => {
        if (this.#wanted === arriving) await this.#take(place, arriving, arrived);
        // A text that was read takes several times its bytes.
        this.rest();
      });
      LongTexts.#heavy = taken.catch(() => {});
    }
    return arriving;
  }

  async #take(place: LongTextPlace, arriving: ArrivingBlocks, arrived: () => void): Promise<void> {
    for (
      let answer = await (isHeavy(place) ? this.askFrugally({ open: place }, place.length) : this.ask({ open: place }));
      this.#wanted === arriving;
    ) {
      if (answer === null) arriving.add(rawBlocks(UNREADABLE, ''), true);
      else arriving.add(answer.blocks, answer.isLast);
      arriving.isRead = answer?.isLast === true;
      arrived();
      if (answer === null || answer.isLast) {
        // Whoever shows the blocks holds them.
        this.#wanted = null;
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
      answer = await this.ask({ more: true });
    }
  }
}
