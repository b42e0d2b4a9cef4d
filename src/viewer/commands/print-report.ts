import { type Report, sentencesOf } from '../../analysis/report/report.ts';
import { reportHtml } from '../present/report/html.ts';
import { reportCsv, reportJson, reportText } from '../present/report/lines.ts';
import { LineWriter, say } from './output.ts';
import { pageOut } from './page-out.ts';

export interface PrintFlags {
  json?: boolean;
  csv?: boolean;
  html?: string;
}

/** Prints rows to stdout, or a page to a file, and sentences about them to stderr. */
export async function printReport<Row>(report: Report<Row>, { json, csv, html }: PrintFlags): Promise<void> {
  if (html !== undefined) await writePage(report, html);
  else {
    const lines = json ? reportJson(report) : csv ? reportCsv(report) : reportText(report, terminalWidth());
    const out = new LineWriter();
    for (const line of lines) {
      const full = out.add(`${line}\n`);
      if (full) await full;
    }
    await out.end();
  }
  if (report.rows.length === 0) say(report.empty);
  for (const sentence of sentencesOf(report)) say(sentence);
}

async function writePage<Row>(report: Report<Row>, path: string): Promise<void> {
  const out = pageOut(path);
  for (const text of reportHtml(report)) await out.write(text);
  await out.end();
}

/** Lines fit the terminal; a file or a pipe gets them whole. */
export const terminalWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY);
