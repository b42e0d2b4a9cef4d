/** Keys that hold a secret, with a real value. The name of an environment variable is not a secret. */
const SECRET =
  /["']?\b([\w-]*(?:api[_-]?key|apikey|secret|password|passwd|authorization|(?:access|auth|bearer)[_-]?token))\b["']?\s*:\s*["']?(?!null\b|~|["']\s*["'])([^\s"'#,}][^\n"'#,}]*)/gi;
const WITH_PASSWORD = /\b[a-z][a-z+.-]*:\/\/[^\s/"'@]*:[^\s/"'@]+@[^\s"']+/gi;

export const hasPassword = (address: unknown): boolean =>
  typeof address === 'string' && URL.canParse(address) && new URL(address).password !== '';

/** Secrets are not sent: anyone who reaches a queue can read it. @throws Error naming the key */
export function checkSecrets(text: string, where: string): void {
  for (const [, key] of text.matchAll(SECRET))
    throw new Error(
      `${where}: ${key} would be stored in the queue: secrets stay in a worker's environment or settings`,
    );
  const [address] = text.match(WITH_PASSWORD) ?? [];
  if (address !== undefined)
    throw new Error(
      `${where}: the address ${address.replace(/\/\/.*@/, '//…@')} holds a password, which would be stored in the queue`,
    );
}

/** Workers refuse a run that picks one of their variables. @throws Error saying what to do */
export function checkVariables(text: string, where: string): void {
  const [, name] =
    /["']?\bapi_key_env\b["']?\s*:\s*["']?(?!null\b|~|ROLLOUT_VIEWER_USER_API_KEY\b)([^\s"'#,}]+)/.exec(text) ?? [];
  if (name !== undefined)
    throw new Error(
      `${where}: api_key_env: ${name} would name a variable of each worker's: leave it out, and give workers ROLLOUT_VIEWER_USER_API_KEY and ROLLOUT_VIEWER_USER_MODEL_URL`,
    );
}
