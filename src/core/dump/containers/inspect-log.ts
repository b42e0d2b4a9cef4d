import { createReadStream, statSync } from 'node:fs';
import { isJsonObject, type JsonObject, objectIn, plainJson } from '../../json/value.ts';
import { BESIDE } from '../../rollout/unread.ts';
import { errorMessage } from '../../text/thrown.ts';
import { LARGE_SAMPLE, LargeSamples } from './large-sample.ts';
import { type CopyLine, unreadable } from './lines-in.ts';
import type { Member } from './zip.ts';

const SAMPLE = /^samples\/.+\.json$/;

/** Inspect's log: a zip with samples and the log's header, or its start if it is still running or was interrupted. */
export const isInspectLog = (members: ReadonlyMap<string, Member>): boolean =>
  members.has('header.json') ||
  members.has('_journal/start.json') ||
  [...members.keys()].some((name) => SAMPLE.test(name));

/**
 * A line per sample, with the log's common values (`eval_log`). A sample that cannot be read becomes a line that says
 * so.
 */
export async function* inspectSamples(members: ReadonlyMap<string, Member>): AsyncGenerator<CopyLine> {
  const head = await logHead(members);
  let isFirst = true;
  for (const member of members.values()) {
    if (!SAMPLE.test(member.name)) continue;
    const place = `/${member.name}`;
    try {
      const isLarge = member.size > LARGE_SAMPLE;
      const text = isLarge ? await largeSample(member, members) : await member.bytes();
      yield { text: withHead(jsonLine(text), isFirst ? head.first : head.others), place, isWaited: isLarge };
      isFirst = false;
    } catch (error) {
      yield { text: unreadable(errorMessage(error)), place };
    }
  }
}

/** The common values of a log, before the rest of a sample; the first sample has the log's other values, too. */
interface LogHead {
  first: Buffer | null;
  others: Buffer | null;
}

/** The record with the log's common values, which come first. */
function withHead(text: Buffer, head: Buffer | null): Buffer {
  const brace = text.indexOf(0x7b);
  const isObject = head !== null && brace !== -1 && text.subarray(0, brace).every((byte) => byte <= 32);
  return isObject ? Buffer.concat([head, text.subarray(brace + 1)]) : text;
}

/** A sample up to its events, with its error and limit from the log's summaries. */
async function largeSample(member: Member, members: ReadonlyMap<string, Member>): Promise<Buffer> {
  const samples = new LargeSamples(false);
  for await (const piece of member.pieces()) {
    const [found] = samples.feed(Buffer.from(piece));
    if (found?.isWhole) return found.text;
    if (found !== undefined)
      return withMore(found.text, { ...(await summaryOf(member.name, members)), ...leftOut(member.size) });
  }
  throw new Error('it ends before its events');
}

const leftOut = (size: number): JsonObject => ({
  left_out: `events and what is behind them, of ${Math.round(size / 2 ** 20)} MB`,
});

/** The error and the limit of a sample, in the form of the sample's own keys. */
async function summaryOf(name: string, members: ReadonlyMap<string, Member>): Promise<JsonObject> {
  for (const member of members.values()) {
    if (!/^(?:summaries\.json|_journal\/summaries\/\d+\.json)$/.test(member.name)) continue;
    try {
      const list = plainJson(Buffer.from(await member.bytes()).toString('utf8'));
      const own = (Array.isArray(list) ? list : [])
        .filter(isJsonObject)
        .find(({ id, epoch }) => `samples/${String(id)}_epoch_${String(epoch)}.json` === name);
      if (own === undefined) continue;
      const { error, limit } = own;
      return {
        ...(typeof error === 'string' ? { error: { message: error } } : {}),
        ...(typeof limit === 'string' ? { limit: { type: limit } } : {}),
      };
    } catch {
      // The summaries are cut off: the sample is read without them.
    }
  }
  return {};
}

const withMore = (object: Buffer, more: JsonObject): Buffer =>
  Buffer.concat([object.subarray(0, -1), Buffer.from(`,${JSON.stringify(more).slice(1)}`)]);

/** A log of one JSON text that is too large for a document, recognised by its first keys. */
export const isLargeLog = (size: number, head: Buffer): boolean =>
  size > LARGE_SAMPLE && /^(?:\ufeff)?\s*\{\s*"version"\s*:\s*\d+\s*,[\s\S]*"eval"\s*:/.test(head.toString('utf8'));

/** The samples of such a log, each up to its events. Yields to the event loop between chunks. */
export async function* largeLogSamples(path: string): AsyncGenerator<CopyLine> {
  const samples = new LargeSamples(true);
  const { size } = statSync(path);
  let head: Buffer | null = null;
  let number = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 20 });
  for await (const chunk of chunks) {
    const found = samples.feed(chunk);
    if (samples.head !== null && head === null) head = headFrom(samples.head, 'the log')?.others ?? null;
    for (const { text, isWhole } of found) {
      number++;
      const whole = isWhole ? text : withMore(text, leftOut(size));
      yield { text: withHead(jsonLine(whole), head), place: `:1.${number}`, isWaited: true };
    }
  }
  if (number === 0) throw new Error('the log ends before its first sample');
}

/** `{"eval_log":…,` from the newest header, or null. */
async function logHead(members: ReadonlyMap<string, Member>): Promise<LogHead> {
  for (const name of ['header.json', '_journal/start.json']) {
    const member = members.get(name);
    if (member === undefined) continue;
    const head = headFrom(await member.bytes().catch(() => Buffer.alloc(0)), name);
    if (head !== null) return head;
  }
  return { first: null, others: null };
}

/** null for a header that is cut off: the samples are read without it. */
function headFrom(bytes: Uint8Array, name: string): LogHead | null {
  try {
    const header = objectIn(JSON.parse(Buffer.from(bytes).toString('utf8')));
    const { eval: spec, plan, status, error, version, ...rest } = header;
    const common = `{"eval_log":${JSON.stringify({ version, status, error, eval: spec, plan, from: name })},`;
    return {
      first: Buffer.from(`${common}"${BESIDE}":${JSON.stringify(rest)},`),
      others: Buffer.from(common),
    };
  } catch {
    return null;
  }
}

/** Line ends between the tokens of a JSON text become blanks; its strings contain none. */
export function jsonLine(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes);
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) text[at] = 32;
  for (let at = text.indexOf(13); at !== -1; at = text.indexOf(13, at + 1)) text[at] = 32;
  return text;
}
