/** Commands of the Python module: `ls` and `show` have separate functions, the others are reports. */
const FUNCTIONS = ['ls', 'show'];
/** Commands of `rollout_viewer.ray`, and of the workers that it starts. */
const BY_WORKERS = ['replay', 'rescore', 'worker'];
const REPORTS = [
  'audit',
  'compare',
  'errors',
  'files',
  'grep',
  'groups',
  'incidents',
  'labels',
  'matrix',
  'movement',
  'signal',
  'sql',
  'stats',
  'triage',
];
/** Flags that choose a form of output: the module asks for JSON, and says the rest itself. */
const FORMS = [
  '--json',
  '--jsonl',
  '--csv',
  '--columns',
  '--plain',
  '--markdown',
  '--html',
  '--compare',
  '--count',
  '--quiet',
  '--table',
];
/** Flags that `rollout_viewer.ray` gives itself, or that ask a person. */
const OWN = ['--queue', '--prompt', '--no-exec', '--agent', '--junit'];

const keyword = (flag) => {
  const name = flag.replace(/^--/, '').replaceAll('-', '_');
  return PYTHON_WORDS.has(name) ? `${name}_` : name;
};
const PYTHON_WORDS = new Set(
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);

const typeOf = ({ written, help, value }) =>
  value === 'none'
    ? 'bool'
    : /\.\.\.|repeatable/.test(written + help)
      ? 'Union[str, Sequence[str]]'
      : written.includes('[')
        ? 'Union[bool, str]'
        : 'Value';

/** The Python source of the flags that each command takes. @param commands of the command tree */
export function pythonFlags(commands) {
  const flagsOf = (name) =>
    commands
      .find((command) => command.name === name)
      .flags.map((flag) => ({ ...flag, long: flag.names.at(-1) }))
      .filter(
        ({ long }) =>
          long.startsWith('--') && !FORMS.includes(long) && !(BY_WORKERS.includes(name) && OWN.includes(long)),
      )
      .map((flag) => ({ word: keyword(flag.long), type: typeOf(flag) }));
  const classOf = (name, flags) => {
    const types = new Map();
    for (const { word, type } of flags)
      if (types.get(word) !== 'Any') types.set(word, types.has(word) && types.get(word) !== type ? 'Any' : type);
    return `class ${name}(TypedDict, total=False):\n${[...types]
      .sort()
      .map(([word, type]) => `    ${word}: Optional[${type}]`)
      .join('\n')}\n`;
  };
  const all = [...FUNCTIONS, ...REPORTS, ...BY_WORKERS];
  const table = all.map(
    (name) =>
      `    "${name}": (\n${flagsOf(name)
        .map(({ word }) => word)
        .sort()
        .map((word) => `        "${word}",\n`)
        .join('')}    ),\n`,
  );
  return `"""The flags of the program as keywords, written from its command line by a test; not by hand."""

from __future__ import annotations

import os
from typing import Any, Dict, Literal, Optional, Sequence, Tuple, TypedDict, Union

#: The value of a flag.
Value = Union[str, int, float, "os.PathLike[str]"]

#: The commands that \`report\` knows.
Report = Literal[
${REPORTS.map((name) => `    "${name}",\n`).join('')}]
REPORTS: Tuple[str, ...] = (
${REPORTS.map((name) => `    "${name}",\n`).join('')})

${[...FUNCTIONS, ...BY_WORKERS].map((name) => `\n${classOf(`${name[0].toUpperCase()}${name.slice(1)}Flags`, flagsOf(name))}`).join('\n')}

${classOf('ReportFlags', REPORTS.flatMap(flagsOf))}

KEYWORDS: Dict[str, Tuple[str, ...]] = {
${table.join('')}}
`;
}
