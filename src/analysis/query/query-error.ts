/** An expression that cannot be understood: why, and at which character (UTF-16 offset from 0). */
export class QueryError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
