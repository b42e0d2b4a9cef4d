/** The message of what was thrown, which can be anything. */
export function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

/** The code of an error of the system or of Node: ENOENT; undefined for other errors. */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** The thrown value as an error. One of another realm is no instance of this one's Error, and is kept as it is. */
export const thrownError = (thrown: unknown): Error => (isError(thrown) ? thrown : new Error(errorMessage(thrown)));

const isError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
