import { type CopyLine, unreadable } from './lines-in.ts';
import type { Member } from './zip.ts';

const SAMPLE = /^samples\/.+\.json$/;

/** Inspect's log is a zip of samples beside the log's head, or its start where it still runs or broke off. */
export const isInspectLog = (members: ReadonlyMap<string, Member>): boolean =>
  members.has('header.json') ||
  members.has('_journal/start.json') ||
  [...members.keys()].some((name) => SAMPLE.test(name));

/** A line a sample, with what the log says of all (`eval_log`). A sample that cannot be read is a line that says so. */
export async function* inspectSamples(members: ReadonlyMap<string, Member>): AsyncGenerator<CopyLine> {
  const head = await headOf(members);
  for (const member of members.values()) {
    if (!SAMPLE.test(member.name)) continue;
    const place = `/${member.name}`;
    try {
      const text = oneLine(await member.bytes());
      const brace = text.indexOf(0x7b);
      const isObject = head !== null && brace !== -1 && text.subarray(0, brace).every((byte) => byte <= 32);
      yield { text: isObject ? Buffer.concat([head, text.subarray(brace + 1)]) : text, place };
    } catch (error) {
      yield { text: unreadable((error as Error).message), place };
    }
  }
}

/** `{"eval_log":…,` of the newest head; null where there is none. */
async function headOf(members: ReadonlyMap<string, Member>): Promise<Buffer | null> {
  for (const name of ['header.json', '_journal/start.json']) {
    const member = members.get(name);
    if (member === undefined) continue;
    try {
      const value = JSON.parse(Buffer.from(await member.bytes()).toString('utf8')) as { [key: string]: unknown };
      const { eval: spec, plan, status, version } = value;
      return Buffer.from(`{"eval_log":${JSON.stringify({ version, status, eval: spec, plan, from: name })},`);
    } catch {
      // A head that is cut off: the samples stand without it.
    }
  }
  return null;
}

/** Line ends between the tokens of a JSON text become blanks; inside strings there are none. */
export function oneLine(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes);
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) text[at] = 32;
  for (let at = text.indexOf(13); at !== -1; at = text.indexOf(13, at + 1)) text[at] = 32;
  return text;
}
