import { keysIn } from '../../core/json/value.ts';

/** Differences that a second run may show and still count as the same result. `--exact` disables each. */
const RULES = {
  'temporary-paths': 'directories and files of one run: /tmp/tmpab12cd34/x.py',
  times: 'what a clock said that the program read: now, and how long something took',
  addresses: 'the address of an object in memory: <f at 0x7f3a…>',
  'object-ids': 'random UUIDs, id() and hash() in code that asks for them',
  'set-order': 'the order in which a set of texts prints its elements',
  tracebacks: "a traceback's marks, its way through the interpreter's own library, and the name of the file that ran",
  'python-wording': 'what another version of Python says in other words',
  'network-wording': 'the words of a resolver or a socket for a network that is not there',
  'pipe-order': 'the order of stdout and stderr in one pipe, if the code joins them (2>&1)',
  'outer-space': 'blank space around the text, which a chat template may take away',
} as const;

export type RuleName = keyof typeof RULES;
export const RULE_NAMES = keysIn(RULES);

/** The rules in force. */
export type Rules = ReadonlySet<RuleName>;
export const ALL_RULES: Rules = new Set(RULE_NAMES);

/** All rules except those with these names. @throws RangeError for an unknown name */
export function rulesWithout(names: readonly string[]): Rules {
  const unknown = names.find((name) => !(name in RULES));
  if (unknown !== undefined) throw new RangeError(`'${unknown}' is not a rule; the rules are ${RULE_NAMES.join(', ')}`);
  return new Set(RULE_NAMES.filter((name) => !names.includes(name)));
}
