export const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** The mistake in a value of `--model-url`, or null. */
export const modelUrlProblem = (url: string): string | null =>
  isHttpUrl(url) ? null : `--model-url ${url}: not an http(s) address, such as http://localhost:8000/v1`;
