import jpeg from '@jimp/js-jpeg';
import png from '@jimp/js-png';
import { uint8At } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { type Bitmap, resampled } from './resample.ts';
import { type Box, sizeForModel, zoomBox } from './zoom-box.ts';

export interface CutRequest {
  picture: Uint8Array;
  box: Box;
}
/** `png` is null for an invalid box; `error` says why the picture could not be read. */
export type CutAnswer = { png: Uint8Array | null } | { error: string };

const LARGEST_MEGAPIXELS = 100;

/** The part of a picture (PNG or JPEG) inside a box, as PNG. The box is in the coordinates of the size the model sees. */
export async function cutPicture({ picture, box }: CutRequest): Promise<CutAnswer> {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength);
  const kind = pictureKind(bytes);
  if (kind === null) return { error: 'it is neither PNG nor JPEG' };
  if (kind === 'image/png' && (bytes.readUInt32BE(16) * bytes.readUInt32BE(20)) / 1e6 > LARGEST_MEGAPIXELS)
    return { error: `it has more than ${LARGEST_MEGAPIXELS} megapixels` };
  try {
    const read = await (kind === 'image/png' ? png() : jpeg()).decode(bytes);
    const size = sizeForModel(read);
    const own = zoomBox(box, size);
    if (own === null) return { png: null };
    const whole = onWhite(read);
    const isOther = size.width !== read.width || size.height !== read.height;
    const part = partOf(isOther ? resampled(whole, size) : whole, own);
    return {
      png: new Uint8Array(await png().encode({ ...part, data: Buffer.from(part.data.buffer) }, { colorType: RGB })),
    };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

/** PNG's colour type for pictures without transparency. */
const RGB = 2;

function partOf({ data, width }: Bitmap, [left, top, right, bottom]: Box): Bitmap {
  const part = { width: right - left, height: bottom - top, data: new Uint8Array((right - left) * (bottom - top) * 4) };
  for (let row = 0; row < part.height; row++) {
    const from = ((top + row) * width + left) * 4;
    part.data.set(data.subarray(from, from + part.width * 4), row * part.width * 4);
  }
  return part;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

function pictureKind(bytes: Buffer): 'image/png' | 'image/jpeg' | null {
  if (bytes.length > 24 && bytes.subarray(0, 8).equals(PNG)) return 'image/png';
  return bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff ? 'image/jpeg' : null;
}

/** Without transparency, as pictures are shown to models. */
function onWhite(picture: Bitmap): Bitmap {
  const { data } = picture;
  for (let at = 3; at < data.length; at += 4) {
    const alpha = uint8At(data, at);
    if (alpha === 255) continue;
    for (let channel = at - 3; channel < at; channel++)
      data[channel] = Math.round((uint8At(data, channel) * alpha + 255 * (255 - alpha)) / 255);
    data[at] = 255;
  }
  return picture;
}
