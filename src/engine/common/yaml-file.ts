import { isNode, LineCounter, parseDocument } from 'yaml';
import { sharedProblem } from '../../core/json/shared.ts';
import { errorMessage } from '../../core/text/thrown.ts';

export interface YamlFile {
  value: unknown;
  /** `file:line` of the value at a path, or of its nearest existing parent. */
  at(path: readonly PropertyKey[]): string;
}

/** Reads the text of a YAML file; `path` names it in errors. @throws Error that names file and line */
export function readYaml(text: string, path: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const lineOf = (offset: number) => `${path}:${lines.linePos(offset).line}`;
  const [broken] = document.errors;
  if (broken !== undefined)
    throw new Error(`${lineOf(broken.pos[0])}: not YAML: ${broken.message.replace(/ at line[\s\S]*/, '')}`);
  let value: unknown;
  try {
    value = document.toJS();
    const problem = sharedProblem(value);
    if (problem !== null) throw new Error(problem);
  } catch (error) {
    // An alias without its anchor, or thousands of aliases.
    throw new Error(`${path}: not YAML: ${errorMessage(error)}`);
  }
  return {
    value,
    at: (keys) => {
      for (let length = keys.length; length >= 0; length--) {
        const node = document.getIn(keys.slice(0, length), true);
        if (isNode(node) && node.range) return lineOf(node.range[0]);
      }
      return path;
    },
  };
}
