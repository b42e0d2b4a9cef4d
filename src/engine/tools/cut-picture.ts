import { createJimp } from '@jimp/core';
import jpeg from '@jimp/js-jpeg';
import png from '@jimp/js-png';
import { methods as crop } from '@jimp/plugin-crop';
import { ResizeStrategy, methods as resize } from '@jimp/plugin-resize';
import { type Box, sizeForModel, zoomBox } from './zoom-box.ts';

export interface CutRequest {
  picture: Uint8Array;
  box: Box;
}
/** `png` is null for a box that is none; `error` says why the picture could not be read. */
export type CutAnswer = { png: Uint8Array | null } | { error: string };

const Jimp = createJimp({ formats: [png, jpeg], plugins: [crop, resize] });
const LARGEST_MEGAPIXELS = 100;

/** The part of a picture (PNG or JPEG) in a box, as PNG. The box is said in the size that the model sees. */
export async function cutPicture({ picture, box }: CutRequest): Promise<CutAnswer> {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength);
  const kind = kindOf(bytes);
  if (kind === null) return { error: 'it is neither PNG nor JPEG' };
  if (kind === 'image/png' && (bytes.readUInt32BE(16) * bytes.readUInt32BE(20)) / 1e6 > LARGEST_MEGAPIXELS)
    return { error: `it has more than ${LARGEST_MEGAPIXELS} megapixels` };
  try {
    const read = await Jimp.fromBuffer(bytes);
    const size = sizeForModel(read);
    const own = zoomBox(box, size);
    if (own === null) return { png: null };
    const image = onWhite(read);
    if (size.width !== read.width || size.height !== read.height)
      image.resize({ w: size.width, h: size.height, mode: ResizeStrategy.BICUBIC });
    const [x, y, right, bottom] = own;
    image.crop({ x, y, w: right - x, h: bottom - y });
    return { png: new Uint8Array(await image.getBuffer('image/png')) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

function kindOf(bytes: Buffer): 'image/png' | 'image/jpeg' | null {
  if (bytes.length > 24 && bytes.subarray(0, 8).equals(PNG)) return 'image/png';
  return bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff ? 'image/jpeg' : null;
}

/** Without transparency, as models are shown pictures. */
function onWhite<Image extends { bitmap: { data: Buffer | Uint8Array } }>(image: Image): Image {
  const { data } = image.bitmap;
  for (let at = 3; at < data.length; at += 4) {
    const alpha = data[at]!;
    if (alpha === 255) continue;
    for (let channel = at - 3; channel < at; channel++)
      data[channel] = Math.round((data[channel]! * alpha + 255 * (255 - alpha)) / 255);
    data[at] = 255;
  }
  return image;
}
