const SEPARATOR = String.raw`[^\p{L}\p{N}_]{1,20}`;

/** A phrase with the capitals of its first place in a text, numbers still as 0; the phrase itself where it is not found. */
export function asWritten(phrase: string, text: string): string {
  const words = phrase.split(' ').map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = words.map((word) => `(${word.replaceAll('0', String.raw`\d+`)})`).join(SEPARATOR);
  const found = new RegExp(String.raw`(?<![\p{L}\p{N}_])${pattern}`, 'iu').exec(text);
  const written = found?.slice(1).join(' ').replaceAll(/\d+/g, '0') ?? phrase;
  return written.toLowerCase() === phrase ? written : phrase;
}
