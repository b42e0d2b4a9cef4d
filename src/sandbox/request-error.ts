/** A request that is answered with an error status: `{"detail": …}`, with a `traceback` of lines where it is a 500. */
export class RequestError extends Error {
  override name = 'RequestError';
  readonly status: number;
  /** For people: what the terse `detail`, which is upstream's, leaves out. */
  readonly explanation: string | undefined;

  constructor(status: number, detail: string, explanation?: string) {
    super(detail);
    this.status = status;
    this.explanation = explanation;
  }

  /** The answer's JSON body. */
  get body(): { detail: string; traceback?: string[] } {
    return this.status === 500
      ? { detail: this.message, traceback: [this.explanation ?? this.message] }
      : { detail: this.message };
  }
}
