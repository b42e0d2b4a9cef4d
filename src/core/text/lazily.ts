/**
 * A value that is made when it is first asked for. V8 parses a pattern where it stands, and one with Unicode properties takes up to a
 * millisecond: too long for a start that may never use it.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
