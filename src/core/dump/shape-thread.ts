import { ThreadClient } from '../async/thread-client.ts';
import type { ReadContext } from '../formats/format.ts';
import { type FileShape, fileShapeOf, heavyBeginning } from './shape.ts';

export interface ShapeRequest {
  shape: { path: string; context: ReadContext };
}

export interface ShapeAnswer {
  /** Absent if only the asking thread can hold it: a session has functions. */
  shape?: FileShape;
}

/** The same as `fileShapeOf`, for somebody at the keyboard: a heavy first line is parsed in a thread. */
export async function fileShapeBetweenKeys(path: string, context: ReadContext): Promise<FileShape> {
  const length = heavyBeginning(path, context);
  if (length === 0) return fileShapeOf(path, context);
  const thread = new ThreadClient<ShapeRequest, ShapeAnswer>('long-record-worker');
  const answer = await thread.askFrugally({ shape: { path, context } }, length);
  thread.close();
  return answer?.shape ?? fileShapeOf(path, context);
}
