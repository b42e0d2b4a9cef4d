import { type Match, matchTexts } from './compare.ts';
import { lengthOf, possibleCuts } from './cut.ts';
import { lackOf } from './environment.ts';
import { type Execution, exitText } from './execution.ts';
import { normalise, type Rule } from './normalise.ts';
import type { Compared, Verdict } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import type { RunResult } from './run-call.ts';
import { isNoStdout, NO_STDOUT, TEXT_FORMS, tellsFailure } from './tool-text.ts';

/** One run beside the record. */
export interface RunJudgement {
  /** What the tool would have said. */
  result: string;
  verdict: Verdict | null;
  compared: Compared;
  match: Match | null;
  reason: string | null;
  /** The run lacked something that is no fault of the call's. */
  lack: string | null;
  /** Runs with the same key came to the same end. */
  key: string;
}

export interface JudgeOptions {
  rules: readonly Rule[];
  backend: { name: string; confined: boolean };
}

/** @param run one that has an answer */
export function judgeRun(plan: PlannedCall, run: RunResult, { rules, backend }: JudgeOptions): RunJudgement {
  const { recorded, code } = plan;
  const texts = textsOf(plan, run);
  const result = texts[0]!.text;
  const compareOptions = { rules, code: code?.code ?? null };
  const lack = run.execution === null ? null : lackOf(run.execution, recorded, backend);
  const keyOf = (text: string) => `${run.execution?.stopped ?? ''} ${normalise(text, rules, compareOptions.code)}`;
  const nothing = { result, verdict: null, compared: 'none' as const, match: null, key: keyOf(result) };
  if (recorded === null) return { ...nothing, reason: 'no result of this call was recorded', lack };
  if (isNoStdout(recorded) && (code !== null || result === NO_STDOUT))
    return { ...nothing, reason: `the record shows only "${NO_STDOUT}"`, lack };
  const fails = run.execution === null ? run.failed : hasFailed(run.execution);
  let best: { text: string; form: string; match: Match } | null = null;
  for (const { text, form, showsErrors } of texts) {
    // An empty record is no sign of a tool that hides errors: what says nothing now, because it failed, is not the same.
    if (!showsErrors && text.trim() === '' && fails) continue;
    const match = matchTexts(recorded, text, compareOptions);
    if (match !== null && (best === null || match.rules.length < best.match.rules.length)) best = { text, form, match };
  }
  if (best !== null) {
    const { match, text, form } = best;
    return {
      result: text,
      verdict: match.rules.length > 0 ? 'normalised' : 'same',
      compared: match.compared,
      match,
      reason: sameness(match, form === texts[0]!.form || run.execution?.stderr === '' ? null : form),
      lack: null,
      key: 'as recorded',
    };
  }
  const failed = tellsFailure(recorded);
  const cut = possibleCuts(recorded)[0];
  return {
    result,
    verdict: fails && !failed ? 'now_fails' : failed && !fails ? 'now_succeeds' : 'different',
    compared: cut === undefined ? 'whole' : 'shown_part',
    match: null,
    reason: whyDifferent(run.execution, cut === undefined ? null : { shown: cut.shown, total: lengthOf(result) }),
    lack,
    key: keyOf(result),
  };
}

const hasFailed = ({ isFinished, exitStatus }: Execution): boolean => !isFinished || exitStatus !== 0;

/** The texts that the tool may have made of this run, the likeliest first. */
function textsOf(
  { forms }: PlannedCall,
  { execution, text }: RunResult,
): { form: string; text: string; showsErrors: boolean }[] {
  if (execution === null) return [{ form: '', text: text ?? '', showsErrors: true }];
  return (forms.length === 0 ? TEXT_FORMS : forms).map((form) => ({
    form: form.name,
    text: form.text(execution),
    showsErrors: form.showsErrors,
  }));
}

const count = new Intl.NumberFormat('en-US');

function sameness({ rules, compared, shown, total }: Match, form: string | null): string | null {
  const said = [
    ...(compared === 'shown_part' ? [`${count.format(shown)} of ${count.format(total)} characters`] : []),
    ...(rules.length > 0 ? [`but for ${rules.join(', ')}`] : []),
    ...(form !== null ? [`the tool shows ${form}`] : []),
  ];
  return said.length === 0 ? null : said.join('; ');
}

function whyDifferent(run: Execution | null, cut: { shown: number; total: number } | null): string | null {
  const said = [
    ...(run?.stopped === 'time limit' ? ['the time limit was reached'] : []),
    ...(run?.stopped === 'not compiled' ? ['it does not compile'] : []),
    ...(run?.isFinished && run.exitStatus !== 0 ? [exitText(run.exitStatus)] : []),
    ...(cut
      ? [`the record shows ${count.format(cut.shown)} characters, the new result has ${count.format(cut.total)}`]
      : []),
  ];
  return said.length === 0 ? null : said.join('; ');
}
