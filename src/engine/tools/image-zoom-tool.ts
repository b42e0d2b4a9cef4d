import { RolloutFault } from '../faults.ts';
import { StatefulTool, type ToolResult } from './tool.ts';

/**
 * verl's ImageZoomInTool (`verl/tools/image_zoom_in_tool.py`) is known by its name and schema. Cutting pictures is not built here: a call
 * ends the rollout, so that no model learns from it.
 */
export class ImageZoomTool extends StatefulTool<null> {
  protected start(): null {
    return null;
  }

  protected async run(): Promise<ToolResult> {
    throw new RolloutFault(
      'tool_unavailable',
      `'${this.name}' cuts pictures, which this program does not: name a class of your own in the tool file (FILE.py:Class)`,
    );
  }
}
