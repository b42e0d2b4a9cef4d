const LONGEST_MS = 2 ** 31 - 1;

/** A timer of so many seconds, at once for 0 and less, never for more than setTimeout can hold. Returns its end. */
export function startTimer(seconds: number, onTime: () => void): () => void {
  const milliseconds = Math.max(0, seconds * 1000);
  if (milliseconds > LONGEST_MS) return () => {};
  const timer = setTimeout(onTime, milliseconds);
  return () => clearTimeout(timer);
}
