import { type Movement, NO_SIGNAL } from '../movement/movement.ts';

/** Kinds of change, the likelier cause first: an earlier kind may explain a later one. */
export const FAMILIES = [
  'tools',
  'language',
  'hack',
  'loop',
  'phrase',
  'ending',
  'length',
  'signal',
  'finding',
  'number',
] as const;

export type Family = (typeof FAMILIES)[number];

const BY_NAME: readonly [RegExp, Family][] = [
  [/^tool says "|^tool_errors$|^error\.kind:|^fault:|^finding:tool_(?:error|cut)$/, 'tools'],
  [/^says "/, 'phrase'],
  [/^language:|^script:|^script$|^finding:script_change$/, 'language'],
  [/^loop$|^repetition$|^finding:(?:call_loop|repetition|loop)$/, 'loop'],
  [
    /^ended:|^finding:(?:unclosed|mid_sentence|no_answer|empty_output|call_without_result|call_unparsed|budget_out|cut)$/,
    'ending',
  ],
  [/^(?:chars|think_chars|tokens|trained|turns|tool_calls)$/, 'length'],
  [new RegExp(`^${NO_SIGNAL}$`), 'signal'],
  [/^finding:/, 'finding'],
];

/** This share of the rollouts with a rewarded phrase scores above the mean of their group. */
export const LIFT = 0.6;

export const familyOf = ({ name, said }: Pick<Movement, 'name' | 'said'>): Family => {
  const family = BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? 'number';
  return family === 'phrase' && said !== undefined && said.lift >= LIFT ? 'hack' : family;
};

/** Whether a change of one kind can bring another about. */
export const mayCause = (cause: Family, effect: Family): boolean => FAMILIES.indexOf(cause) < FAMILIES.indexOf(effect);
