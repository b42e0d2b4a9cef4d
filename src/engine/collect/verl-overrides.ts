import { parse } from 'yaml';
import { errorMessage } from '../../core/text/thrown.ts';

type OverrideTree = { [key: string]: unknown };

/** `PATH=VALUE` as in verl's launch arguments (Hydra): `+` and `++` may precede the path, `~PATH` removes a key. */
const OVERRIDE = /^(\+{0,2}|~)([A-Za-z_][\w./@-]*)(?:=(.*))?$/s;

/** A copy of a configuration with the overrides applied in order. @throws Error quoting the override */
export function withOverrides(tree: Readonly<OverrideTree>, overrides: readonly string[]): OverrideTree {
  const changed = structuredClone(tree);
  for (const text of overrides) {
    const [, sign, path, value] = OVERRIDE.exec(text) ?? [];
    if (path === undefined || (value === undefined) !== (sign === '~'))
      throw new Error(`'${text}': expected PATH=VALUE, as in actor_rollout_ref.rollout.n=8`);
    assign(changed, path.split('.'), value === undefined ? undefined : hydraValue(value, text));
  }
  return changed;
}

function assign(tree: OverrideTree, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  // A name such as __proto__ would change every object.
  if (rest.length === 0) {
    if (value === undefined) delete tree[key];
    else Object.defineProperty(tree, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const inner: unknown = Object.hasOwn(tree, key) ? tree[key] : undefined;
  const isTree = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  const next: OverrideTree = isTree ? { ...inner } : {};
  assign(next, rest, value);
  assign(tree, [key], next);
}

/** Lists, mappings and quoted texts are read as YAML, including `{a:1}` without its space; otherwise only numbers, true, false and null are parsed. */
function hydraValue(text: string, override: string): unknown {
  if (/^\s*[[{'"]/.test(text)) {
    try {
      return parse(text.replace(/("(?:[^"\\]|\\.)*"|'[^']*')|:(?=[^\s/])/g, (colon, quoted) => quoted ?? `${colon} `));
    } catch (error) {
      throw new Error(`'${override}': ${errorMessage(error).split('\n')[0]}`);
    }
  }
  if (/^(?:null|true|false|[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i.test(text))
    return parse(text.toLowerCase().replaceAll('_', ''));
  return text;
}
