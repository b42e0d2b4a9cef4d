import { keysIn } from '../../core/json/value.ts';
import { type Cause, FAULT_TABLE, outcomeOf, ruleOf } from '../common/faults.ts';
import type { RolloutWarning } from '../request/records.ts';

/** The faults of a run: each cause is printed at its first occurrence, and counted from then on. */
export class FaultLog {
  readonly #say: (message: string) => void;
  readonly #causes = new Map<Cause, number>();
  readonly #warnings = new Map<string, number>();

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  /** @param where the rollout, in readable form */
  note(cause: Cause, where: string, message: string): void {
    const count = (this.#causes.get(cause) ?? 0) + 1;
    this.#causes.set(cause, count);
    if (count > 1 || isOrdinary(cause)) return;
    this.#say(`${where}: ${message} [${cause}: ${becomes(cause)}; more of them are counted]`);
  }

  warn({ kind, message }: RolloutWarning, where: string): void {
    const count = (this.#warnings.get(kind) ?? 0) + 1;
    this.#warnings.set(kind, count);
    if (count === 1) this.#say(`${where}: ${message}`);
  }

  /** Rollouts without a score because of a fault. */
  get unscored(): number {
    return this.#sum('unscored');
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#causes);
  }

  #sum(outcome: string): number {
    let sum = 0;
    for (const [cause, count] of this.#causes) if (outcomeOf(cause) === outcome) sum += count;
    return sum;
  }

  /** One line per cause, and one per kind of warning that came again after it was printed. */
  summary(): string[] {
    const order = keysIn(FAULT_TABLE);
    return [
      ...order.flatMap((cause) => {
        const count = this.#causes.get(cause);
        return count === undefined
          ? []
          : [`${count} ${ruleOf(cause).says}${isOrdinary(cause) ? '' : `: ${becomes(cause)}`}`];
      }),
      ...[...this.#warnings].flatMap(([kind, count]) => (count > 1 ? [`${count} warnings of the kind ${kind}`] : [])),
    ];
  }
}

/** Every training run has these; they are counted, and scored like any other rollout. */
const isOrdinary = (cause: Cause): boolean => ruleOf(cause).fault === 'model';

function becomes(cause: Cause): string {
  const outcome = outcomeOf(cause);
  if (outcome === 'again') return 'no line; --resume makes it again';
  return outcome === 'unscored' ? 'kept without a score' : 'scored as ever';
}
