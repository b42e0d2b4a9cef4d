import { ThreadClient } from '../../core/async/thread-client.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { RolloutFault } from '../common/faults.ts';
import { pythonString, pythonTypeName } from '../common/python.ts';
import type { CutAnswer, CutRequest } from './cut-picture.ts';
import { pictureBytes } from './picture-source.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';
import { StatefulTool, type ToolResult, type ToolRun } from './tool.ts';
import { type Box, SHORTEST } from './zoom-box.ts';

const pictures = new ThreadClient<CutRequest, CutAnswer>('picture-worker');

/** The reward of a call that verl answers with an error. */
const FAILED = -0.05;

/**
 * verl's ImageZoomInTool (`verl/tools/image_zoom_in_tool.py`): `create_kwargs.image` is the picture, a call cuts out the box `bbox_2d`,
 * and the model sees the part.
 */
export class ImageZoomTool extends StatefulTool<Uint8Array> {
  readonly #readsFiles: boolean;

  /** @param readsFiles a task may name a picture by its path */
  constructor(schema: OpenAIFunctionToolSchema, readsFiles = true) {
    super(schema);
    this.#readsFiles = readsFiles;
  }

  protected async start({ image }: JsonObject, { signal }: ToolRun): Promise<Uint8Array> {
    if (image === undefined || image === null) throw new TypeError("Missing required 'image' parameter in kwargs");
    return pictureBytes(image, signal, this.#readsFiles);
  }

  protected async run(picture: Uint8Array, parameters: JsonObject): Promise<ToolResult> {
    const { bbox_2d: given, label } = parameters;
    if (!Array.isArray(given) || given.length !== 4)
      return refused('Error: bbox_2d parameter is missing or not a list of 4 numbers.');
    let box: Box;
    try {
      box = given.map(floatOf) as Box;
    } catch (error) {
      return refused(`Error processing image zoom-in: ${errorMessage(error)}`);
    }
    const answer = await pictures.ask({ picture, box });
    if (answer === null) throw new RolloutFault('own_fault', `'${this.name}': the thread that cuts pictures ended`);
    if ('error' in answer)
      throw new RolloutFault('tool_unavailable', `'${this.name}' cannot read the task's picture: ${answer.error}`);
    if (answer.png === null)
      return refused(
        `Error: The specified bounding box ${listText(given)} is invalid or results in a crop smaller than the minimum size of ${SHORTEST}x${SHORTEST}.`,
      );
    const url = `data:image/png;base64,${Buffer.from(answer.png).toString('base64')}`;
    const named = label ? ` with label ${argumentText(label)}` : '';
    return {
      response: { text: `Zoomed in on the image to the region ${listText(given)}${named}.`, images: [{ url }] },
      reward: 0,
      metrics: { success: true },
    };
  }
}

const refused = (text: string): ToolResult => ({
  response: { text, error: text, fault: 'model' },
  reward: FAILED,
  metrics: { success: false },
});

/** Python's float(), including its error messages. */
function floatOf(value: JsonValue): number {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  if (typeof value !== 'string')
    throw new TypeError(`float() argument must be a string or a real number, not '${pythonTypeName(value)}'`);
  const number = value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isNaN(number)) throw new TypeError(`could not convert string to float: ${pythonString(value)}`);
  return number;
}

/** A list as Python prints it. */
const listText = (values: readonly JsonValue[]): string => `[${values.map(textOfEntry).join(', ')}]`;
const textOfEntry = (value: JsonValue): string =>
  typeof value === 'string' ? pythonString(value) : argumentText(value);
const argumentText = (value: JsonValue): string =>
  value === true
    ? 'True'
    : value === false
      ? 'False'
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value);
