/** A text with its secrets masked character by character, so that all offsets stay valid. */
export type Redact = (text: string) => Promise<string>;

/** `Bearer abc…`, `Authorization: Basic abc…`. */
const BEARER = /\b(?:bearer|basic)(?:\s|%20)+([\w.~+/-]{8,}={0,2})/gi;

/**
 * `API_KEY=…`, `"hf_token": "…"`, `secretKey = '…'`, in code, JSON (at any escape depth), YAML and shells: name,
 * escapes and quote.
 */
const ASSIGNED =
  /([\p{L}\p{N}_$.-]{0,60}(?:key|token|secret|passw(?:or)?d|passphrase)\d*)\\*["'`]?\s*(?:=>|:=|[:=])\s*(\\*)(["'`]?)/giu;

/** `--api-key …`, `--token …`, `-u name:…` of a command. */
const FLAG =
  /(?<=^|\s)(?:--[\w-]{0,60}(?:key|token|secret|passw(?:or)?d|passphrase)\s+|-u\s+[\w.@-]+:)(\\*)(["'`]?)/gim;

const PLAIN_VALUE = /[^\s"'`\\,;)}\]&]{3,}/uy;

/** Keys recognised by their prefix, whatever holds them. */
const KNOWN = new RegExp(
  [
    'hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}', // Hugging Face
    'AIza[\\w-]{30,}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}|1//0[\\w-]{20,}', // Google
    '[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,}', // Stripe
    'eyJ[\\w-]{8,}(?:\\.[\\w-]*){2,4}', // JSON web tokens
    'sk-[\\w-]{16,}|xai-\\w{20,}|gsk_\\w{20,}|r8_\\w{20,}|pplx-\\w{20,}|fw_\\w{16,}|nvapi-[\\w-]{20,}|tgp_v1_[\\w-]{20,}', // model servers
    'tvly-[\\w-]{16,}|e2b_\\w{20,}|lsv2_(?:pt|sk)_\\w{20,}|wandb_v\\d_\\w{20,}|dapi[0-9a-f]{32}', // tools and trackers
    'gh[pousr]_\\w{20,}|github_pat_\\w{20,}|glpat-[\\w-]{16,}|npm_\\w{30,}|pypi-[\\w-]{30,}|dckr_pat_[\\w-]{20,}', // forges
    'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}|\\d{8,10}:AA[\\w-]{30,}|SG\\.[\\w-]{16,}\\.[\\w-]{16,}|lin_api_\\w{20,}|ntn_\\w{20,}', // chat and mail
    'A(?:KIA|SIA)[A-Z0-9]{16}|do[opr]_v1_[0-9a-f]{32,}|hv[sb]\\.[\\w-]{20,}|AGE-SECRET-KEY-1\\w{20,}', // clouds
  ]
    .map((one) => `(?:${one})`)
    .join('|')
    .replace(/^/, '(?<![\\w-])(?:')
    .replace(/$/, ')'),
  'g',
);

/** The password in a URL. */
const IN_URL = /\b[a-z][a-z\d+.-]*:\/\/[^\s/"'@:]*:([^\s/"'@]+)@/gi;

/**
 * A variable's name marks its value as a secret: its last word is key, token, secret or password, and another word
 * qualifies it.
 */
export function isSecretName(name: string): boolean {
  const words = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  if (!/^(?:key|token|secret|passw(?:or)?d|passphrase)$/i.test(last)) return false;
  return words.length > 1 || last === last.toUpperCase() || /^(?:secret|passw(?:or)?d|passphrase)$/i.test(last);
}

/**
 * An unquoted value may be code: `sort_key=lambda`, `API_KEY = os.environ[…]`. The value of a lone `key` or `token`
 * must look like a secret.
 */
function isSecret(name: string, isQuoted: boolean, value: string): boolean {
  if (!isSecretName(name))
    return value.length >= 16 && /\d/.test(value) && /[A-Za-z]/.test(value) && !/[.([]/.test(value);
  if (isQuoted) return true;
  if (/^(?:None|null|true|false|\$|<|os\.|process\.|env\b|input\b|getenv\b)/i.test(value)) return false;
  return name === name.toUpperCase() || (value.length >= 8 && /\d/.test(value) && !/[.([]/.test(value));
}

const PRESET = '@secretlint/secretlint-rule-preset-recommend';

/**
 * Secrets known to secretlint's recommended rules (keys of clouds, forges, chat services, private keys …), bearer
 * tokens, and the values of variables named KEY, TOKEN or SECRET. The rules are loaded only here, because they take 350
 * kB.
 */
export async function redactor(): Promise<Redact> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const config = { rules: [{ id: PRESET, rule: creator }] };
  return async (text) => {
    if (text === '') return text;
    const { messages } = await lintSource({
      source: { content: text, filePath: 'text', ext: '', contentType: 'text' },
      options: { config, noPhysicFilePath: true },
    });
    const ranges = messages.map(({ range }) => range);
    for (const match of text.matchAll(BEARER)) ranges.push(lastPart(match, match[1] ?? ''));
    for (const match of text.matchAll(ASSIGNED)) {
      const value = valueAt(text, match.index + match[0].length, match[2] ?? '', match[3] ?? '');
      if (value !== null && isSecret(match[1] ?? '', match[3] !== '', text.slice(...value))) ranges.push(value);
    }
    for (const match of text.matchAll(FLAG)) {
      const value = valueAt(text, match.index + match[0].length, match[1] ?? '', match[2] ?? '');
      if (value !== null) ranges.push(value);
    }
    for (const { index, 0: key } of text.matchAll(KNOWN)) ranges.push([index, index + key.length]);
    for (const match of text.matchAll(IN_URL)) {
      const end = match.index + match[0].length - 1;
      ranges.push([end - (match[1] ?? '').length, end]);
    }
    return masked(text, ranges);
  };
}

/** Longer values are prose, or an unclosed quote. */
const LONGEST_VALUE = 10_000;

/**
 * The value after a name: everything within its quotes, including blanks and line ends, else the text up to a blank.
 * null for fewer than three characters.
 * @param escapes the backslashes before the opening quote, as in JSON within JSON; the closing quote has as many
 */
function valueAt(text: string, start: number, escapes: string, quote: string): readonly [number, number] | null {
  PLAIN_VALUE.lastIndex = start;
  const plain = PLAIN_VALUE.exec(text)?.[0] ?? '';
  if (quote === '') return plain === '' ? null : [start, start + plain.length];
  const last = Math.min(text.length, start + LONGEST_VALUE);
  for (let end = text.indexOf(quote, start); end !== -1 && end <= last; end = text.indexOf(quote, end + 1)) {
    let before = 0;
    while (end - before > start && text[end - 1 - before] === '\\') before++;
    // An escaped backslash before the quote belongs to the value.
    if (before === escapes.length || (escapes === '' && before % 2 === 0))
      return end - escapes.length - start < 3 ? null : [start, end - escapes.length];
  }
  const line = text.indexOf('\n', start);
  const end = Math.min(line === -1 ? text.length : line, last);
  return end - start < 3 ? null : [start, end];
}

const lastPart = (match: RegExpMatchArray, part: string): readonly [number, number] => {
  const end = match.index! + match[0].length;
  return [end - part.length, end];
};

/** Line ends stay, so that a multi-line key keeps its line count. */
function masked(text: string, ranges: readonly (readonly [number, number])[]): string {
  let out = '';
  let at = 0;
  for (const [start, end] of [...ranges].sort(([a], [b]) => a - b)) {
    if (end <= at) continue;
    out += text.slice(at, Math.max(at, start)) + text.slice(Math.max(at, start), end).replace(/[^\n]/g, '*');
    at = end;
  }
  return out + text.slice(at);
}
