import { itemAt } from '../core/lists/at.ts';
import { clockUse } from './compare/clock.ts';
import { lengthOf, possibleCuts } from './compare/cut.ts';
import type { MatchContext } from './compare/match.ts';
import type { RuleName, Rules } from './compare/rules.ts';
import { type Match, matchTexts } from './compare/texts.ts';
import { type Execution, exitText } from './execution.ts';
import { FORMS, type Form, isNoStdout, NO_STDOUT } from './forms.ts';
import { type Lack, lackOf, recordedFault, type Surroundings, tellsFailure, tellsTimeout } from './lacks.ts';
import type { ComparedPart, GivenResult, Verdict } from './outcome.ts';
import type { PlannedCall } from './plan.ts';
import type { RunResult } from './run-call.ts';

/** One run compared with the record. */
export interface RunJudgement {
  /** The text that the tool would have returned. */
  result: GivenResult;
  verdict: Verdict | null;
  compared: ComparedPart;
  /** The form in which the tool says it, and the rules that were needed; null if the texts differ. */
  match: { form: Form | null; rules: readonly RuleName[] } | null;
  reason: string | null;
  /** Why the run is no evidence about the call. */
  lack: Lack | null;
}

export interface JudgeOptions {
  rules: Rules;
  backend: Surroundings;
  /** The output of one more run of the same program, which shows what varies by itself. */
  again?: RunResult | null;
}

const nothing = { verdict: null, compared: 'none' as const, match: null, reason: null, lack: null };

/** @param run one that has an answer */
export function judgeRun(plan: PlannedCall, run: RunResult, options: JudgeOptions): RunJudgement {
  const { recorded, code } = plan;
  const { execution, given } = run;
  const result = given ?? {
    text: execution === null ? '' : (itemAt(FORMS, 0).text(execution, '') ?? ''),
    reward: null,
    metrics: null,
  };
  if (recorded === null) return { ...nothing, result, reason: 'no result of this call was recorded', lack: null };
  if (isNoStdout(recorded.text) && (code !== null || result.text === NO_STDOUT))
    return { ...nothing, result, reason: `the record shows only "${NO_STDOUT}"` };
  if (execution === null) return judgeGiven(recorded, result, run.failed, contextOf(plan, run, '', options));
  return judgeExecution(plan, recorded.text, run, execution, options);
}

function contextOf(
  { code }: PlannedCall,
  run: RunResult,
  fresh: string,
  { rules, again }: JudgeOptions,
  form?: Form,
): MatchContext {
  const other = again?.execution == null || form === undefined ? null : form.text(again.execution, fresh);
  return {
    rules,
    facts: {
      code: code?.code ?? null,
      clock: clockUse(code?.code ?? null),
      seconds: run.execution?.seconds ?? run.duration,
      now: Date.now() / 1000,
      again: other === null ? null : other.split('\n'),
    },
  };
}

/** The answer of a tool of this program: text, reward and metrics. */
function judgeGiven(recorded: GivenResult, result: GivenResult, failed: boolean, context: MatchContext): RunJudgement {
  const match = matchTexts(recorded.text, result.text, context);
  const differs = [
    ...(match === null ? ['text'] : []),
    ...(isSameNumber(recorded.reward, result.reward)
      ? []
      : [`reward: recorded ${recorded.reward}, now ${result.reward}`]),
    ...(recorded.metrics === null || JSON.stringify(recorded.metrics) === JSON.stringify(result.metrics)
      ? []
      : ['metrics']),
  ];
  const compared = match?.compared ?? 'whole';
  if (match !== null && differs.length === 0)
    return {
      result,
      verdict: match.rules.length > 0 ? 'normalised' : 'same',
      compared,
      match: { form: null, rules: match.rules },
      reason: sameness(match, []),
      lack: null,
    };
  const failedThen = tellsFailure(recorded.text);
  const isFault = match === null && !failed && recordedFault(recorded.text) !== null;
  const verdict: Verdict = isFault
    ? 'infra'
    : match !== null || failed === failedThen
      ? 'different'
      : failed
        ? 'now_fails'
        : 'now_succeeds';
  return { result, verdict, compared, match: null, reason: differs.join('; '), lack: null };
}

/** The record may omit a reward; a float32 of 0 is 0. */
const isSameNumber = (recorded: number | null, now: number | null): boolean =>
  recorded === null ||
  (now !== null && (Object.is(recorded, now) || Math.abs(recorded - now) <= 1e-6 * Math.max(1, Math.abs(now))));

function judgeExecution(
  plan: PlannedCall,
  recorded: string,
  run: RunResult,
  execution: Execution,
  options: JudgeOptions,
): RunJudgement {
  const given = (text: string): GivenResult => ({ text, reward: null, metrics: null });
  const failed = hasFailed(execution);
  const declared = plan.tool?.form ?? null;
  const forms = declared === null ? FORMS : [declared];
  const plainContext = contextOf(plan, run, recorded, options, forms[0]);
  const texts = forms.flatMap((form) => {
    const rules: RuleName[] = [];
    const alike = (before: string, now: string): boolean => {
      const match = matchTexts(before, now, plainContext);
      rules.push(...(match?.rules ?? []));
      return match !== null;
    };
    const text = form.text(execution, recorded, alike);
    return text === null ? [] : [{ form, text, rules }];
  });
  const plain = texts[0]?.text ?? NO_STDOUT;
  const lack = lackOf(execution, plan.code?.code ?? '', recorded, options.backend);
  let best: { form: Form; text: string; match: Match } | null = null;
  let hidden: string | null = null;
  for (const { form, text, rules } of texts) {
    const found = matchTexts(recorded, text, contextOf(plan, run, recorded, options, form));
    if (found === null) continue;
    const match = { ...found, rules: [...new Set([...found.rules, ...rules])] };
    // If an unknown tool's text hid a failure, it would be taken for the same result.
    if (!form.showsErrors && failed && declared === null) hidden = text.trim() === '' ? null : text;
    else if (best === null || match.rules.length < best.match.rules.length) best = { form, text, match };
  }
  if (best !== null) {
    const { form, text, match } = best;
    const notes = form === FORMS[0] || execution.stderr === '' ? [] : [`the tool shows ${form.about}`];
    return {
      result: given(text),
      verdict: match.rules.length > 0 ? 'normalised' : 'same',
      compared: match.compared,
      match: { form, rules: match.rules },
      reason: sameness(match, notes),
      lack: null,
    };
  }
  const cut = possibleCuts(recorded)[0];
  const base = {
    result: given(plain),
    compared: cut === undefined ? ('whole' as const) : ('shown_part' as const),
    match: null,
    lack,
  };
  if (execution.stopped === 'time limit') {
    if (tellsTimeout(recorded))
      return { ...base, verdict: 'same', compared: 'whole', reason: 'it took too long then, and now', lack: null };
    return { ...base, verdict: 'infra', reason: 'it did not end within the time limit here' };
  }
  if (lack !== null) return { ...base, verdict: lack.kind === 'infra' ? 'infra' : null, reason: lack.says };
  const fault = recordedFault(recorded);
  if (fault !== null && !failed)
    return { ...base, verdict: 'infra', reason: `the sandbox or its host failed then: ${fault}` };
  const failedThen = tellsFailure(recorded);
  const verdict: Verdict = failed && !failedThen ? 'now_fails' : failedThen && !failed ? 'now_succeeds' : 'different';
  return {
    ...base,
    verdict,
    reason: whyDifferent(execution, hidden, cut === undefined ? null : { shown: cut.shown, total: lengthOf(plain) }),
  };
}

const hasFailed = ({ isFinished, exitStatus }: Execution): boolean => !isFinished || exitStatus !== 0;

const count = new Intl.NumberFormat('en-US');

function sameness({ rules, compared, shown, total }: Match, others: readonly string[]): string | null {
  const said = [
    ...(compared === 'shown_part' ? [`${count.format(shown)} of ${count.format(total)} characters`] : []),
    ...(rules.length > 0 ? [`but for ${rules.join(', ')}`] : []),
    ...others,
  ];
  return said.length === 0 ? null : said.join('; ');
}

function whyDifferent(
  run: Execution,
  hidden: string | null,
  cut: { shown: number; total: number } | null,
): string | null {
  const said = [
    ...(run.stopped === 'not compiled' ? ['it does not compile'] : []),
    ...(run.isFinished && run.exitStatus !== 0 ? [exitText(run.exitStatus)] : []),
    ...(hidden === null ? [] : ['stdout is the same, and behind it the program fails']),
    ...(cut
      ? [`the record shows ${count.format(cut.shown)} characters, the new result has ${count.format(cut.total)}`]
      : []),
  ];
  return said.length === 0 ? null : said.join('; ');
}
