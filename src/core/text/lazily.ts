/**
 * A value that is made on first use. V8 compiles a regular expression literal when the module runs, and one with Unicode
 * properties takes up to a millisecond: too long for a start that may never use it.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
