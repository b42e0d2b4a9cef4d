// verl's ImageZoomInTool: which part of a picture a box means, and the part on its way to the model and into the dump.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import codec from '@jimp/js-png';
import { afterEach, describe, expect, it } from 'vitest';
import { parseTools } from '../../src/engine/index.ts';
import { resampled } from '../../src/engine/tools/resample.ts';
import { type Box, sizeForModel, zoomBox } from '../../src/engine/tools/zoom-box.ts';
import { taskPicture } from '../../src/replay/task-picture.ts';
import { directoryWith, rolloutViewer } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';

// Worked out by verl's own `_maybe_resize_bbox`, and the rounding of PIL's crop.
describe('the part of a picture that a box means', () => {
  it.each([
    [[10, 20, 110, 90], 280, 140, [10, 20, 110, 90]],
    [[-5, -5, 50, 60], 280, 140, [0, 0, 50, 60]],
    [[100, 100, 90, 120], 280, 140, null],
    [[10, 10, 20, 20], 280, 140, [1, 1, 29, 29]],
    [[270, 130, 280, 140], 280, 140, [252, 112, 280, 140]],
    [[0, 0, 280, 2], 280, 140, null],
    [[0, 0, 1, 120], 280, 140, null],
    [[5.5, 6.5, 60.4, 70.6], 280, 140, [6, 6, 60, 71]],
    [[10, 10, 10, 50], 280, 140, null],
    [[300, 10, 400, 50], 280, 140, null],
    [[0, 0, 100, 10], 56, 140, null],
    [[0.5, 1.5, 28.9, 40], 280, 140, [0, 2, 29, 40]],
    [[0.5, 1.5, 28.4, 40], 280, 140, [0, 1, 29, 41]],
    [[0, 0, 5, 5], 28, 28, [0, 0, 28, 28]],
  ] as [Box, number, number, Box | null][])('%j of %i x %i', (box, width, height, part) => {
    expect(zoomBox(box, { width, height })).toEqual(part);
  });

  // Worked out by `smart_resize` of qwen_vl_utils.
  it.each([
    [280, 140, 280, 140],
    [100, 100, 112, 112],
    [41, 43, 56, 84],
    [42, 70, 56, 56],
    [10, 10, 56, 56],
    [4000, 5000, 3192, 4004],
    [3000, 30, 2996, 28],
  ])('is said in the size that the model sees: %i x %i is %i x %i', (width, height, ownWidth, ownHeight) => {
    expect(sizeForModel({ width, height })).toEqual({ width: ownWidth, height: ownHeight });
  });

  it('does not exist for a strip', () => {
    expect(() => sizeForModel({ width: 20000, height: 16 })).toThrow('aspect ratio must be smaller than 200');
  });
});

// Worked out by Pillow's Resample.c, whose numbers are fixed-point.
describe('a picture in another size', () => {
  const grey = (values: number[]) => new Uint8Array(values.flatMap((value) => [value, value, value, 255]));
  it.each([
    [
      [0, 255, 0, 10, 200, 90],
      [116, 52, 133],
    ],
    [
      [0, 255, 0, 10, 200, 90],
      [0, 135, 239, 33, 0, 35, 184, 153, 83],
    ],
    [
      [10, 20, 250],
      [9, 9, 0, 20, 122, 228, 255],
    ],
    [
      [5, 5, 5, 5, 5, 5, 5],
      [5, 5, 5],
    ],
  ])('%j is %j, lying and standing', (from, to) => {
    const lying = resampled({ data: grey(from), width: from.length, height: 1 }, { width: to.length, height: 1 });
    expect([...lying.data]).toEqual([...grey(to)]);
    const standing = resampled({ data: grey(from), width: 1, height: from.length }, { width: 1, height: to.length });
    expect([...standing.data]).toEqual([...grey(to)]);
  });
});

const chunk = (name: string, data: Buffer) => {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A PNG of 8-bit RGB whose red says the column and whose green the row. */
function png(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows.set([x % 256, y % 256, 7], y * (1 + 3 * width) + 1 + 3 * x);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;

const SCHEMA =
  'tool_schema: {type: function, function: {name: image_zoom_in_tool, description: Zoom., parameters: {type: object, properties: {bbox_2d: {type: array}, label: {type: string}}, required: [bbox_2d]}}}';
const FILE = `tools: [{class_name: verl.tools.image_zoom_in_tool.ImageZoomInTool, config: {num_workers: 2}, ${SCHEMA}}]`;

async function zoom(image: string, parameters: object) {
  const [tool] = parseTools(FILE, 'tools.yaml');
  const { instanceId } = await tool!.create('r', { image });
  return tool!.execute(instanceId, parameters as never);
}
const sizeOf = (url: string) => {
  const bytes = Buffer.from(url.split(',')[1]!, 'base64');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
};
const picture = dataUrl(png(280, 140));

describe('image_zoom_in_tool', () => {
  it('gives the part as PNG, with verl’s words', async () => {
    const { response, reward, metrics } = await zoom(picture, { bbox_2d: [10, 20, 110, 90], label: 'door' });
    expect(response.text).toBe('Zoomed in on the image to the region [10, 20, 110, 90] with label door.');
    expect(sizeOf(response.images![0]!.url)).toEqual([100, 70]);
    const { data } = await codec().decode(Buffer.from(response.images![0]!.url.split(',')[1]!, 'base64'));
    // Red is the column, green the row: the corners are those of the box.
    expect([...data.subarray(0, 4)]).toEqual([10, 20, 7, 255]);
    expect([...data.subarray(-4)]).toEqual([109, 89, 7, 255]);
    expect([reward, metrics]).toEqual([0, { success: true }]);
  });

  it.each([
    [{}, 'Error: bbox_2d parameter is missing or not a list of 4 numbers.'],
    [{ bbox_2d: [1, 2, 3] }, 'Error: bbox_2d parameter is missing or not a list of 4 numbers.'],
    [{ bbox_2d: [1, 2, 3, 'x'] }, "Error processing image zoom-in: could not convert string to float: 'x'"],
    [
      { bbox_2d: [1, 2, 3, null] },
      "Error processing image zoom-in: float() argument must be a string or a real number, not 'NoneType'",
    ],
    [
      { bbox_2d: [50, 5, 10.5, 90] },
      'Error: The specified bounding box [50, 5, 10.5, 90] is invalid or results in a crop smaller than the minimum size of 28x28.',
    ],
  ])('shows the model the mistake in %j', async (parameters, text) => {
    const { response, reward, metrics } = await zoom(picture, parameters);
    expect(response).toMatchObject({ text, error: text, fault: 'model' });
    expect([reward, metrics]).toEqual([-0.05, { success: false }]);
  });

  it('ends the rollout over a picture that cannot be read, or is too large to be', async () => {
    const gif = `data:image/gif;base64,${Buffer.from('GIF89a-and-more').toString('base64')}`;
    await expect(zoom(gif, { bbox_2d: [0, 0, 50, 50] })).rejects.toThrow('it is neither PNG nor JPEG');
    const bomb = png(1, 1);
    bomb.writeUInt32BE(60000, 16);
    bomb.writeUInt32BE(60000, 20);
    await expect(zoom(dataUrl(bomb), { bbox_2d: [0, 0, 50, 50] })).rejects.toThrow('more than 100 megapixels');
    const [tool] = parseTools(FILE, 'tools.yaml');
    await expect(tool!.create('r', {})).rejects.toThrow("Missing required 'image' parameter in kwargs");
  });
});

let model: ScriptedModel | null = null;
afterEach(() => model?.close());

it('from the command line: the model is shown the part, and the dump names its file', async () => {
  model = await scriptedModel(({ messages }) =>
    messages.at(-1).role === 'tool'
      ? { text: '#### 4' }
      : { text: '', calls: [{ id: 'c', name: 'image_zoom_in_tool', arguments: '{"bbox_2d": [0, 0, 50, 60]}' }] },
  );
  const pictures = directoryWith({ 'door.png': png(280, 140) });
  const task = {
    prompt: 'What is on the door?',
    ...{ data_source: 'gsm8k', ground_truth: '4' },
    extra_info: { tools_kwargs: { image_zoom_in_tool: { create_kwargs: { image: join(pictures, 'door.png') } } } },
  };
  const folder = directoryWith({ 'tasks.jsonl': JSON.stringify(task), 'tools.yaml': FILE });
  const args = [
    'rollout',
    'tasks.jsonl',
    '--model-url',
    model.url,
    '--model',
    'm',
    '--tools',
    'tools.yaml',
    '--out',
    'out',
  ];
  const ended = await rolloutViewer(args, { cwd: folder });
  expect(ended.stderr).toContain('1 of 1 rollouts');
  const shown = model.requests.at(-1).messages.at(-1);
  expect(shown.role).toBe('tool');
  const { url } = shown.content.find(({ type }: { type: string }) => type === 'image_url').image_url;
  expect(sizeOf(url)).toEqual([50, 60]);
  const [line] = dumpLines(join(folder, 'out/1.jsonl')) as unknown as {
    messages: { content: Record<string, string>[] }[];
  }[];
  const kept = line!.messages[2]!.content.find(({ type }) => type === 'image');
  expect(kept).toMatchObject({ kind: 'image/png' });
  expect(dataUrl(readFileSync(join(folder, 'out', kept!.file!)))).toBe(url);
  const again = await rolloutViewer(['replay', 'out/1.jsonl', '--tools', 'tools.yaml', '--yes', '--json'], {
    cwd: folder,
  });
  expect(JSON.parse(again.stdout)).toMatchObject({ name: 'image_zoom_in_tool', status: 'same' });
});

it('a recorded call is run again with the picture that lies beside the dump', () => {
  const bytes = png(280, 140);
  const folder = directoryWith({ '1.jsonl': '' });
  mkdirSync(join(folder, 'images'));
  writeFileSync(join(folder, 'images/door.png'), bytes);
  const record = (file: string) => ({
    locator: `${join(folder, '1.jsonl')}:1`,
    raw: JSON.stringify({
      messages: [{ role: 'user', content: [{ type: 'image', file, kind: 'image/png' }] }, { role: 'assistant' }],
    }),
  });
  expect(taskPicture(record('images/door.png'))).toEqual({ url: dataUrl(bytes), from: 'images/door.png' });
  symlinkSync('/etc/hostname', join(folder, 'images/link.png'));
  for (const file of ['images/link.png', '../1.jsonl', '/etc/hostname', 'images/absent.png', 'images/../1.jsonl'])
    expect(taskPicture(record(file))).toBeNull();
});
