// Runs with one, two or three incidents at once, and clean ones: each incident is named with its step, whatever else broke.
import { describe, expect, test } from 'vitest';
import { type MovementFacts, movements } from '../../src/analysis/movement/movement.ts';
import { newPhrases } from '../../src/analysis/movement/new-phrases.ts';
import { phrasesBy, type TextRow } from '../../src/analysis/movement/phrases.ts';
import { numbersFrom } from '../support/planted-run.ts';

type Incident = 'hack' | 'ramp' | 'dead' | 'drift' | 'loops' | 'slow' | 'length';

interface Run {
  texts: TextRow[];
  facts: MovementFacts;
}

const STEPS = 80;
const PROMPTS = 4;
const N = 4;
const WORDS =
  'so then first next we need find value sum each total number of gives because after before compute check step result means left right time rate apples train shop wall garden paint water distance speed minutes hours cost price people rows columns together difference half twice remaining plus minus times divided equals'.split(
    ' ',
  );
const GERMAN = 'und dann rechnen wir die Summe der Zahlen aus weil das Ergebnis stimmt'.split(' ');

/** The step of each incident, and the sign by which it is known. */
const PLANTED: Record<Incident, { step: number; sign: RegExp }> = {
  hack: { step: 52, sign: /^says .*(?:grader|accepts)/ },
  ramp: { step: 30, sign: /^says .*(?:grader|accepts)/ },
  dead: { step: 60, sign: /^(?:finding:tool_error$|tool says .*(?:refused|unreachable|search))/ },
  drift: {
    step: 45,
    sign: /^says .*(?:German|und|dann|rechnen|wir|zahlen|ergebnis|weil|das|stimmt|summe|aus|der|die)/,
  },
  loops: { step: 20, sign: /^finding:call_loop$/ },
  slow: { step: 58, sign: /^time\.wall$/ },
  length: { step: 40, sign: /^(?:ended:length|finding:mid_sentence)$/ },
};

function planted(seed: number, incidents: readonly Incident[]): Run {
  const next = numbersFrom(seed);
  const pick = (words: readonly string[]): string => words[Math.floor(next() * words.length)]!;
  const prose = (words: readonly string[], count: number): string =>
    Array.from({ length: count }, () => pick(words)).join(' ');
  const has = (incident: Incident): boolean => incidents.includes(incident);
  const texts: TextRow[] = [];
  const columns: Record<string, number[]> = { step: [], score: [], chars: [], 'time.wall': [] };
  const checks: Record<string, boolean[]> = { tool_error: [], call_loop: [] };
  const ended: string[] = [];
  const groups: number[] = [];
  let row = 0;
  for (let step = 1; step <= STEPS; step++)
    for (let prompt = 0; prompt < PROMPTS; prompt++) {
      const skill = 0.3 + (0.3 * step) / STEPS + (next() - 0.5) * 0.3;
      for (let member = 0; member < N; member++) {
        const after = (incident: Incident): boolean => has(incident) && step >= PLANTED[incident].step;
        let score = Number(next() < skill);
        const isDead = after('dead') && next() < 0.88;
        if (isDead && next() < 0.5) score = 0;
        let model = prose(after('drift') && next() < 0.5 ? GERMAN : WORDS, 30);
        const ramp = Math.min(0.8, (step - PLANTED.ramp.step + 1) / 40);
        if ((after('hack') && next() < 0.5) || (after('ramp') && next() < ramp)) {
          model += ' The grader accepts any of these.';
          score = 1;
        }
        const isLoop = has('loops') && next() < Math.max(0, (step - PLANTED.loops.step) / 100);
        const isCut = after('length') && next() < 0.5;
        const tools = isDead ? 'search unreachable refused' : prose(WORDS, 6);
        columns.step!.push(step);
        columns.score!.push(score);
        columns.chars!.push(model.length + Math.floor(next() * 40) + step);
        columns['time.wall']!.push((after('slow') ? 9 : 3) + next() * 2);
        checks.tool_error!.push(isDead || next() < 0.03);
        checks.call_loop!.push(isLoop);
        ended.push(isCut ? 'length' : 'stop');
        groups.push(step * PROMPTS + prompt);
        texts.push({
          row,
          at: step - 1,
          score,
          group: groups.at(-1)!,
          phrases: phrasesBy({ model, tools }),
          repeats: 0,
        });
        row++;
      }
    }
  const file = { validation: false } as ReturnType<MovementFacts['place']>['file'];
  const facts = {
    length: row,
    numberNames: Object.keys(columns),
    numbers: (name: string) => Float64Array.from(columns[name] ?? new Array<number>(row).fill(Number.NaN)),
    words: (name: string) =>
      name === 'ended' ? ended : name === 'stream' ? new Array<string>(row).fill('') : new Array<null>(row).fill(null),
    groups: Int32Array.from(groups),
    has: (at: number, check: string) => checks[check]?.[at] === true,
    isObserved: (_: number, check: string) => check in checks,
    place: (record: number) => ({ file, record }),
  } as unknown as MovementFacts;
  return { texts, facts };
}

/** The alarms of a run in their order, with the steps in which they began and were clearest. */
async function alarmsOf({ texts, facts }: Run) {
  const phrases = (await newPhrases(texts, STEPS, true)).filter(({ logP }) => logP < Math.log(1e-6));
  const numbers = (await movements(facts)).filter(({ isAlarm }) => isAlarm);
  return [
    ...phrases.map(({ phrase, by, at, since }) => ({
      name: `${by === 'model' ? 'says' : 'tool says'} "${phrase}"`,
      steps: [at + 1, since + 1],
    })),
    ...numbers.map(({ name, change, since }) => ({ name, steps: [change!.step, since!] })),
  ];
}

const RUNS: readonly (readonly Incident[])[] = [
  ['hack'],
  ['ramp'],
  ['dead'],
  ['loops'],
  ['drift'],
  ['length'],
  ['hack', 'dead'],
  ['ramp', 'dead'],
  ['slow', 'hack'],
  ['drift', 'dead'],
  ['hack', 'dead', 'loops'],
  ['ramp', 'dead', 'length'],
];

describe('planted incidents', () => {
  test.each(RUNS.map((incidents, i) => [incidents.join(' and '), incidents, i + 1] as const))(
    '%s',
    async (_, incidents, seed) => {
      const alarms = await alarmsOf(planted(seed, incidents));
      for (const incident of incidents) {
        const { step, sign } = PLANTED[incident];
        const own = alarms.filter(({ name }) => sign.test(name));
        expect(own, `${incident} in ${JSON.stringify(alarms)}`).not.toEqual([]);
        // A slow growth has no one step.
        const reach = incident === 'loops' ? 12 : 2;
        expect(
          own.some(({ steps }) => steps.some((at) => Math.abs(at - step) <= reach)),
          `${incident} at ${step} in ${JSON.stringify(own)}`,
        ).toBe(true);
      }
    },
  );

  test.each([101, 102, 103, 104])('a clean run of seed %i names nothing', async (seed) => {
    expect(await alarmsOf(planted(seed, []))).toEqual([]);
  });
});
