import type { Run } from '../../sandbox/check-correctness.ts';
import { CalcGsm8kRewardTool } from './calc-gsm8k-reward.ts';
import { CALCULATOR_SCHEMA, CalculatorTool } from './calculator.ts';
import { CODE_INTERPRETER_SCHEMA, CodeInterpreterTool } from './code-interpreter.ts';
import { Geo3kTool } from './geo3k-tool.ts';
import { ImageZoomTool } from './image-zoom-tool.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';
import { SEARCH_SCHEMA, SearchTool } from './search-tool.ts';
import { SESSION_SCHEMA, SessionTool } from './session-tool.ts';
import type { Tool } from './tool.ts';

const FENCE = /```python(.*?)```/s;

/** ReTool's CustomSandboxFusionTool (`recipe/retool/retool.py`): code may be fenced, and its last line is printed. */
class RetoolInterpreterTool extends CodeInterpreterTool {
  protected override codeOf(given: string): string {
    const lines = (FENCE.exec(given)?.[1]?.trim() ?? given).split('\n');
    const last = lines.findLastIndex((line) => line !== '');
    if (last !== -1 && !lines[last]?.startsWith('print')) lines[last] = `print(${lines[last]})`;
    return lines.join('\n');
  }
}

/** The restrictions on files that came with someone else's run. */
export interface Guest {
  /** The only folder of this machine whose files they may name, by base name. */
  folder: string | undefined;
}

export interface ToolSetup {
  /** Runs code in place of the servers that the configuration names. */
  run?: Run | undefined;
  /** The file came with someone else's run: it may name no file and no variable of this machine. */
  guest?: Guest | undefined;
  /** A class of a tool file → the built-in class that replaces it (`--tool-class`). */
  classes?: ReadonlyMap<string, string> | undefined;
}

export interface ToolKind {
  /** The class names that a tool file may use for it, ours first. */
  classNames: string[];
  /** Used if the tool file gives none. */
  schema?: OpenAIFunctionToolSchema;
  make(config: unknown, schema: OpenAIFunctionToolSchema, setup: ToolSetup): Tool;
}

const KINDS: ToolKind[] = [
  {
    classNames: ['code_interpreter', 'verl.tools.sandbox_fusion_tools.SandboxFusionTool'],
    schema: CODE_INTERPRETER_SCHEMA,
    make: (config, schema, { run }) => new CodeInterpreterTool(config, schema, run),
  },
  {
    classNames: ['calc_gsm8k_reward', 'verl.tools.gsm8k_tool.Gsm8kTool'],
    make: (_config, schema) => new CalcGsm8kRewardTool(schema),
  },
  {
    classNames: ['calculator', 'tunix.rl.agentic.tools.calculator_tool.CalculatorTool'],
    schema: CALCULATOR_SCHEMA,
    make: (_config, schema) => new CalculatorTool(schema),
  },
  {
    classNames: ['retool_interpreter', 'recipe.retool.retool.CustomSandboxFusionTool'],
    schema: CODE_INTERPRETER_SCHEMA,
    make: (config, schema, { run }) => new RetoolInterpreterTool(config, schema, run),
  },
  {
    classNames: ['calc_geo3k_reward', 'verl.tools.geo3k_tool.Geo3kTool'],
    make: (_config, schema) => new Geo3kTool(schema),
  },
  {
    classNames: ['search', 'verl.tools.search_tool.SearchTool'],
    schema: SEARCH_SCHEMA,
    make: (config, schema) => new SearchTool(config, schema),
  },
  {
    classNames: ['image_zoom_in_tool', 'verl.tools.image_zoom_in_tool.ImageZoomInTool'],
    make: (_config, schema, { guest }) => new ImageZoomTool(schema, guest === undefined),
  },
  {
    classNames: ['session'],
    schema: SESSION_SCHEMA,
    make: (config, schema) => new SessionTool(config, schema),
  },
];

/** Registers a kind of tool under new names. */
export function registerTool(kind: ToolKind): void {
  const taken = kind.classNames.find((name) => toolKind(name));
  if (taken) throw new TypeError(`a tool class '${taken}' is registered already`);
  KINDS.push(kind);
}

export const toolKind = (className: string): ToolKind | undefined =>
  KINDS.find(({ classNames }) => classNames.includes(className));

/** Every class name that a tool file may use. */
export const toolClassNames = (): string[] => KINDS.flatMap(({ classNames }) => classNames);
