import { SourceError } from '../machine.ts';
import type { WebAnswer } from '../web-client.ts';
import { answerText, clockProblem, minutesAhead, patientAnswer } from './answers.ts';
import type { StoredObject } from './object-store.ts';

/** A store may answer with empty pages while it looks; one that goes on with them never ends. */
const MOST_EMPTY_PAGES = 100;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A list has hundreds of thousands of each. */
const ELEMENTS = new Map<string, RegExp>();

function elementPattern(name: string): RegExp {
  const known = ELEMENTS.get(name) ?? new RegExp(`<${name}>([^<]*)</${name}>`);
  ELEMENTS.set(name, known);
  return known;
}

/** The text of an element that holds no others, or ''. */
export function elementText(xml: string, name: string): string {
  const text = elementPattern(name).exec(xml)?.[1] ?? '';
  return text.includes('&') ? text.replace(/&(#x?[\da-f]+|\w+);/gi, character) : text;
}

function character(whole: string, entity: string): string {
  const [, hex, digits] = /^#(x?)([\da-f]+)$/i.exec(entity) ?? [];
  const code = digits === undefined ? Number.NaN : Number.parseInt(digits, hex === '' ? 10 : 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : (ENTITIES[entity] ?? whole);
}

/**
 * The pages of a list as S3 and Google give them (ListObjectsV2).
 * @param ask sends a request with this query
 * @param versionOf the version of an object, from its element
 */
export async function* listedPages(
  prefix: string,
  ask: (query: Record<string, string>) => Promise<WebAnswer>,
  versionOf: (xml: string) => string,
  refusal: (answer: WebAnswer) => Promise<Error>,
  signal: AbortSignal,
): AsyncGenerator<StoredObject[]> {
  const seen = new Set<string>();
  let empty = 0;
  for (let token = ''; ; ) {
    const query = { 'encoding-type': 'url', 'list-type': '2', prefix, ...(token && { 'continuation-token': token }) };
    const answer = await patientAnswer(() => ask(query), signal);
    if (answer.statusCode !== 200) throw await refusal(answer);
    const xml = await answerText(answer);
    if (!/<\/ListBucketResult>\s*$/.test(xml)) throw new SourceError('the answer is not a list of objects', false);
    const isEncoded = elementText(xml, 'EncodingType') === 'url';
    const page = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, one = '']) => ({
      key: keyOf(elementText(one, 'Key'), isEncoded),
      size: Number(elementText(one, 'Size') || Number.NaN),
      modified: Math.max(0, Math.floor(Date.parse(elementText(one, 'LastModified')) / 1000) || 0),
      version: versionOf(one),
    }));
    yield page;
    empty = page.length === 0 ? empty + 1 : 0;
    if (elementText(xml, 'IsTruncated') !== 'true') return;
    token = elementText(xml, 'NextContinuationToken');
    if (token === '' || seen.has(token) || empty === MOST_EMPTY_PAGES)
      throw new SourceError('the list of objects does not continue', false);
    seen.add(token);
  }
}

function keyOf(text: string, isEncoded: boolean): string {
  if (!isEncoded) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // No name that could be asked for: the list drops it.
    return '/..';
  }
}

/** Refusals that waiting does not help. */
const EXPLAINED: Readonly<Record<string, string>> = {
  AccessDenied: 'these keys may not read it',
  InvalidAccessKeyId: 'the store does not know the key',
  SignatureDoesNotMatch: 'the secret does not belong to the key',
  NoSuchBucket: 'no such bucket',
  ExpiredToken: 'the keys have expired; log in again',
  InvalidToken: 'the session token is not valid',
};

/** Why a store that answers in XML refused. @param hasKeys the request was signed */
export async function xmlRefusal(answer: WebAnswer, hasKeys: boolean): Promise<SourceError> {
  const { statusCode: status } = answer;
  const code = elementText(await answerText(answer).catch(() => ''), 'Code')
    .replace(/\W/g, '')
    .slice(0, 60);
  if (code === 'RequestTimeTooSkewed') return clockProblem(minutesAhead(answer), code);
  const meaning = hasKeys ? EXPLAINED[code] : status === 403 || status === 401 ? 'no keys were found' : EXPLAINED[code];
  const said = [code === '' ? `the server answered ${status}` : `${status} ${code}`, meaning]
    .filter(Boolean)
    .join(': ');
  return new SourceError(said, status >= 500 || status === 429);
}
