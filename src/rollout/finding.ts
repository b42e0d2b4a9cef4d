/** Something that an automatic check noticed in a rollout. */
export interface Finding {
  /** A name of `CHECKS` in checks.ts, which this file may not import: a rollout carries its findings. */
  check: string;
  severity: 'error' | 'warning';
  /** The turn it speaks of; null when it is about the whole record. */
  turn: number | null;
  message: string;
}

/** A check as the lists and filters know it. */
export interface CheckDeclaration {
  /** The word that stands for it where there is room for one word only. */
  word: string;
  /** error: something failed; warning: something looks odd. */
  severity: Finding['severity'];
}

/** Takes down what a check noticed; `severity` where it is not the declared one. */
export type Notice<Name extends string> = (
  check: Name,
  turn: number | null,
  message: string,
  severity?: Finding['severity'],
) => void;
