// node scripts/english.mjs [COMMIT]: counts habits of phrasing that a native engineer would edit, in the comments and strings of src/ and
// test/ and in the documents.
// With a commit, also prints its counts for comparison.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const HABITS = {
  'told, tells': /\btold\b|\btells?\b/gi,
  'stands, stand': /\bstands?\b/gi,
  anew: /\banew\b/gi,
  'own as a noun': /\b(?:of|an|the|its|their) own\b(?! \w)/gi,
  'is none, are none': /\b(?:is|are) none\b/g,
  'where for if': /, where (?:it|there|that|one|they) (?:is|are|was|has|have)\b/gi,
  'what as a subject': /(?:^|[.;:] |\* |\/\/ )What (?!if\b|'s\b)\w+/gm,
  'whoever, whatever as a subject': /(?:^|[.;:] |\* |\/\/ )Who(?:ever)? \w+/gm,
  'gone on with': /\bgo(?:es|ne)? on with\b/gi,
  'of which': /\bof which\b/gi,
};

const files = (commit) =>
  git('ls-tree', '-r', '--name-only', commit)
    .trim()
    .split('\n')
    .filter(
      (name) => /^(?:src|test|docs|notes)\/.*\.(?:tsx?|md|py)$|^[A-Z]+\.md$/.test(name) && name !== 'CHANGELOG.md',
    );

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 });

/** The comments and strings of a program; all of a document. */
function prose(name, text) {
  if (name.endsWith('.md')) return text;
  return (
    text.match(/\/\*[\s\S]*?\*\/|\/\/.*|#.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []
  ).join('\n');
}

function counts(commit) {
  const text = files(commit)
    .map((name) => prose(name, git('show', `${commit}:${name}`)))
    .join('\n');
  return Object.fromEntries(Object.entries(HABITS).map(([name, habit]) => [name, (text.match(habit) ?? []).length]));
}

const [before] = process.argv.slice(2);
const now = counts('HEAD');
const then = before === undefined ? null : counts(before);
for (const [name, count] of Object.entries(now))
  console.log(
    `${name.padEnd(32)} ${then === null ? '' : `${String(then[name]).padStart(6)} → `}${String(count).padStart(6)}`,
  );
