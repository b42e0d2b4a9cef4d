/** The trees of verl whose ways can be had exactly, mistakes included: by the date of their newest commit. */
export const VERL_VERSIONS = ['2026-01-29', '2026-08-22'] as const;
export type VerlVersion = (typeof VERL_VERSIONS)[number];

/**
 * The differences between verl's agent loops, and between them and this engine. Without a version the newest tree's forms hold, but for the
 * mendings that notes/engine.md lists.
 */
export interface LoopRules {
  version: VerlVersion | null;
  /** A tool's instance lives for one call (verl), or for the rollout. */
  instancePerCall: boolean;
  /** A call that cannot be decoded, and one over max_parallel_calls, is answered with an error; verl drops both. */
  answersEveryCall: boolean;
  /** The text of a call that was refused or that raised is cut as a result is; verl shows it whole. */
  cutsErrors: boolean;
  /** The reward of a failed call: 0.0 in verl, none here. */
  failedCallReward: 0 | null;
  /** The text between a sampled turn and the next message. */
  separator: 'template' | 'newline after the end token' | 'nothing';
  /** A prompt over max_prompt_length loses its beginning. */
  cutsPrompt: boolean;
  /** The header of an assistant turn that never came stays at the end. */
  keepsOpenHeader: boolean;
  /** A turn that the server cut is read for calls while response_length is not reached. */
  readsCutTurns: boolean;
  /** `extra_info.tool_selection` is heeded. */
  selectsTools: boolean;
  /** A user's word is checked against response_length. */
  checksUserLength: boolean;
  /** A simulated user without a ground truth ends the rollout; verl's calls every answer wrong. */
  userNeedsTruth: boolean;
  /** left keeps the beginning (until May 2026), or the end. */
  leftKeepsStart: boolean;
  /** The whole response is judged, tool text included; else the last assistant turn. */
  scoresWholeResponse: boolean;
}

const OWN: LoopRules = {
  version: null,
  instancePerCall: false,
  answersEveryCall: true,
  cutsErrors: true,
  failedCallReward: null,
  separator: 'template',
  cutsPrompt: false,
  keepsOpenHeader: false,
  readsCutTurns: false,
  selectsTools: true,
  checksUserLength: true,
  userNeedsTruth: true,
  leftKeepsStart: false,
  scoresWholeResponse: false,
};

const VERL = {
  instancePerCall: true,
  answersEveryCall: false,
  cutsErrors: false,
  failedCallReward: 0,
  keepsOpenHeader: true,
  readsCutTurns: true,
  checksUserLength: false,
  userNeedsTruth: false,
  scoresWholeResponse: true,
} as const;

const OF_VERSION: Record<VerlVersion, LoopRules> = {
  '2026-01-29': {
    ...VERL,
    version: '2026-01-29',
    separator: 'nothing',
    cutsPrompt: false,
    selectsTools: false,
    leftKeepsStart: true,
  },
  '2026-08-22': {
    ...VERL,
    version: '2026-08-22',
    separator: 'newline after the end token',
    cutsPrompt: true,
    selectsTools: true,
    leftKeepsStart: false,
  },
};

export const rulesOf = (version: VerlVersion | null | undefined): LoopRules =>
  version === null || version === undefined ? OWN : OF_VERSION[version];

/** The text that the model reads of a call to a tool that is not there. */
export function unknownToolText({ version }: LoopRules, name: string, available: readonly string[]): string {
  if (version === '2026-01-29') return `Error when executing tool: '${name}'`;
  return `Unknown function '${name}'. Available tools: [${available.map((one) => `'${one}'`).join(', ')}]`;
}

/** The text that the model reads of a call that failed. */
export const failedCallText = ({ version }: LoopRules, name: string, message: string): string =>
  version === '2026-01-29' ? `Error when executing tool: ${message}` : `Error executing tool '${name}': ${message}`;
