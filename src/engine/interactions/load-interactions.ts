import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { reasonOf, shapeProblem } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { readYaml } from '../common/yaml-file.ts';
import type { Interaction } from './interaction.ts';
import { interactionClassNames, interactionKind } from './registry.ts';

/** verl's interaction file (`initialize_interactions_from_config`, `verl/interactions/utils/interaction_registry.py`). */
const InteractionFile = z.looseObject({
  interaction: z.array(
    z.looseObject({ name: z.string().nullish(), class_name: z.string(), config: z.looseObject({}).nullish() }),
  ),
});

export interface InteractionSetup {
  /** A user's own class, by its name in the file, or null. */
  own?: ((className: string, name: string, config: object) => Interaction | null) | undefined;
  /** The file came with someone else's run. */
  isGuest?: boolean | undefined;
}

/** Reads an interaction file. @returns the simulated users by name @throws Error naming the file, the entry and what to do */
export async function loadInteractions(path: string, setup: InteractionSetup = {}): Promise<Map<string, Interaction>> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new Error(
      `${path}: ${reasonOf(error)}; --interaction-config names an interaction file in verl's form (YAML)`,
    );
  });
  return parseInteractions(text, path, setup);
}

/** Like loadInteractions, from the text of the file. */
export function parseInteractions(text: string, path: string, setup: InteractionSetup = {}): Map<string, Interaction> {
  const { value, at } = readYaml(text, path);
  const file = InteractionFile.safeParse(value);
  if (!file.success) {
    const { issues } = file.error;
    const form = "verl's form is interaction: [{name, class_name, config}]";
    throw new Error(`${at(issues[0]?.path ?? [])}: not an interaction file: ${shapeProblem(issues)}; ${form}`);
  }
  const users = new Map<string, Interaction>();
  for (const [index, { name: given, class_name, config }] of file.data.interaction.entries()) {
    const where = `${at(['interaction', index])}: interaction[${index}] (${class_name})`;
    const name = given ?? interactionName(class_name);
    if (users.has(name)) throw new Error(`${where}: two interactions are called '${name}'`);
    users.set(name, make(class_name, name, config ?? {}, where, setup));
  }
  return users;
}

function make(
  className: string,
  name: string,
  config: object,
  where: string,
  { own, isGuest = false }: InteractionSetup,
): Interaction {
  const kind = interactionKind(className);
  if (!kind) {
    const found = own?.(className, name, config);
    if (found) return found;
    throw new Error(`${where}: unknown class; known: ${interactionClassNames().join(', ')}`);
  }
  try {
    return kind.make(name, config, isGuest);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw new Error(`${where}: config: ${errorMessage(error)}`);
    throw new Error(`${where}: config: ${shapeProblem(error.issues)}`);
  }
}

/** verl's name for an interaction without one: `…Gsm8kInteraction` becomes gsm8k. */
function interactionName(className: string): string {
  const simple = className.slice(className.lastIndexOf('.') + 1);
  return simple.endsWith('Interaction') ? simple.slice(0, -'Interaction'.length).toLowerCase() : simple.toLowerCase();
}
