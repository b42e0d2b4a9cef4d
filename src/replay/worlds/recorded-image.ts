import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';

/** The image that a record names, and the key that names it. */
export interface RecordedImage {
  name: string;
  how: string;
}

/** Keys that hold an image's name, the most particular first. */
const PLACES: readonly (readonly string[])[] = [
  ['info', 'config', 'environment', 'image'],
  ['replay_config', 'env', 'deployment', 'image'],
  ['environment', 'image'],
  ['config', 'environment', 'docker_image'],
  ['task', 'environment', 'docker_image'],
  ['metadata', 'docker_image'],
  ['instance', 'image_name'],
  ['instance', 'docker_image'],
  ['extra_info', 'docker_image'],
  ['extra_info', 'image_name'],
  ['docker_image'],
  ['image_name'],
  ['container_image'],
  ['base_container_image'],
];

/** Names that mean files of this machine: only a person gives them. */
const OWN_KINDS = /^(?:host$|recorded$|rootfs:|oci:|-)/;

/** Keys that hold the folder of a task with its Dockerfile: Harbor's. */
const FOLDERS: readonly (readonly string[])[] = [
  ['config', 'task', 'path'],
  ['task', 'path'],
  ['task_id', 'path'],
  ['task_path'],
];

/** An instance of SWE-bench, whose images are named after it. */
const INSTANCE = /^[a-z0-9-]+__[\w.-]+-\d+$/i;

/** Nothing is pulled or opened: this only reads names. null if the record holds none */
export function recordedImage(json: JsonValue | undefined): RecordedImage | null {
  if (!isJsonObject(json)) return null;
  const record = withReplayConfig(json);
  for (const way of PLACES) {
    const name = textAt(record, way);
    if (name !== null && /^[\w][\w./:@-]*$/.test(name) && !OWN_KINDS.test(name)) return { name, how: way.join('.') };
  }
  for (const way of FOLDERS) {
    const name = textAt(record, way);
    if (name !== null && !OWN_KINDS.test(name)) return { name, how: way.join('.') };
  }
  for (const way of [
    ['instance_id'],
    ['info', 'instance_id'],
    ['instance', 'instance_id'],
    ['extra_info', 'instance_id'],
  ]) {
    const id = textAt(record, way);
    if (id === null || !INSTANCE.test(id)) continue;
    const name = `docker.io/swebench/sweb.eval.x86_64.${id.toLowerCase().replace('__', '_1776_')}:latest`;
    return { name, how: `${way.join('.')} ${id}, an instance of SWE-bench` };
  }
  return null;
}

function textAt(record: JsonObject, way: readonly string[]): string | null {
  let here: JsonValue | undefined = record;
  for (const key of way) here = isJsonObject(here) ? here[key] : undefined;
  return typeof here === 'string' && here !== '' ? here : null;
}

/** SWE-agent keeps its settings as JSON in a text. */
function withReplayConfig(record: JsonObject): JsonObject {
  if (typeof record.replay_config !== 'string') return record;
  try {
    return { ...record, replay_config: parseJson(record.replay_config) };
  } catch {
    return record;
  }
}
