/** A signal that is aborted by SIGINT and SIGTERM, until `end`. */
export function interruption(): { signal: AbortSignal; end(): void } {
  const stop = new AbortController();
  const interrupt = () => stop.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  return {
    signal: stop.signal,
    end: () => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    },
  };
}
