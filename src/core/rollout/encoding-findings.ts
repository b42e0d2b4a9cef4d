import { itemAt } from '../lists/at.ts';
import type { EncodingComparison, MaskByIds } from './compared.ts';
import type { CheckDeclaration, Finding } from './finding.ts';
import { isLaid } from './loss-mask.ts';
import { MASK_CHECKS } from './mask-audit.ts';
import type { Rollout } from './rollout.ts';

export const ENCODING_CHECKS = {
  prompt_differs: { needs: 'template', word: 'prompt', severity: 'warning' },
  ids_drift: { needs: 'tokenizer', word: 'ids', severity: 'warning' },
  mask_end: { needs: 'ends', word: 'mask: end', severity: 'warning' },
} as const satisfies Record<string, CheckDeclaration>;

export function withEncodingFindings(rollout: Rollout, encoding: EncodingComparison): Rollout {
  const { prompt, ids, ends } = encoding;
  const findings: Finding[] = [];
  const notice = (check: keyof typeof ENCODING_CHECKS, message: string) =>
    findings.push({ check, severity: ENCODING_CHECKS[check].severity, turn: null, message });
  const quoted = (text: string) => (text === '' ? 'nothing' : JSON.stringify(text));
  if (prompt)
    notice(
      'prompt_differs',
      `the template gives another prompt from character ${prompt.at + 1} on: ${quoted(prompt.recorded)} was recorded, ${quoted(prompt.rendered)} is rendered`,
    );
  if (ids)
    notice(
      'ids_drift',
      `the text, encoded again, gives other ids from token ${ids.at} on: ${ids.id} ${quoted(ids.text)} was sampled, ${ids.instead ?? 'nothing'} comes from the text`,
    );
  if (ends !== undefined && ends.masked > 0 && isMasked(rollout))
    notice(
      'mask_end',
      `the end token of ${ends.masked} of ${ends.turns} sampled turns is masked: the model is not trained to stop there`,
    );
  // A mask that does not alternate as the turns do cannot be laid on the text, and is the one to look at by its ids.
  if (encoding.mask && !rollout.validation && rollout.lossMask !== null)
    findings.push(...maskFindings(encoding.mask, rollout.findings));
  return { ...rollout, encoding, findings: [...rollout.findings, ...findings] };
}

/** A token at each end may also belong to the template. */
const FEW_TOKENS = 2;

/** Mask information that only the ids provide, and no text did before. */
function maskFindings({ foreign, missing, modelTrained }: MaskByIds, known: readonly Finding[]): Finding[] {
  const isKnown = (check: keyof typeof MASK_CHECKS, turn: number | null): boolean =>
    known.some((one) => one.check === check && (turn === null || one.turn === turn));
  const clear = missing.filter(({ tokens }) => tokens > FEW_TOKENS);
  const add = (check: keyof typeof MASK_CHECKS, turn: number, message: string): Finding[] =>
    isKnown(check, turn) || isKnown('mask_inverted', null) || isKnown('mask_zero', null)
      ? []
      : [{ check, severity: MASK_CHECKS[check].severity, turn, message }];
  if (foreign.length > 0 && missing.length > 0 && modelTrained === 0)
    return add(
      'mask_inverted',
      itemAt(foreign, 0).turn,
      'by its ids the mask is the wrong way round: the tokens of the model are masked, the others trained',
    );
  return [
    ...foreign.flatMap(({ turn, tokens }) =>
      add('mask_foreign', turn, `${tokens} tokens that the model did not write are trained`),
    ),
    ...clear.flatMap(({ turn, tokens }) =>
      add('mask_missing', turn, `${tokens} tokens that the model wrote are masked`),
    ),
  ];
}

/** A mask made by the trainer. */
export const isMasked = ({ lossMask, validation }: Pick<Rollout, 'lossMask' | 'validation'>): boolean =>
  !validation && lossMask !== null && isLaid(lossMask);
