import { numberInAt } from '../../core/lists/at.ts';
import type { Size } from './zoom-box.ts';

/** A picture's samples, four bytes per pixel. */
export interface Bitmap extends Size {
  data: Uint8Array;
}

/** Resizes a picture with a bicubic filter over all samples that a new one covers, as Pillow does. */
export function resampled(picture: Bitmap, { width, height }: Size): Bitmap {
  const { data, width: from, height: rows } = picture;
  const wide = new Uint8ClampedArray(width * rows * 4);
  weightsOf(from, width).forEach(({ start, weights }, x) => {
    for (let y = 0; y < rows; y++) mix(data, (y * from + start) * 4, 4, weights, wide, (y * width + x) * 4);
  });
  const out = new Uint8ClampedArray(width * height * 4);
  weightsOf(rows, height).forEach(({ start, weights }, y) => {
    for (let x = 0; x < width; x++) mix(wide, (start * width + x) * 4, width * 4, weights, out, (y * width + x) * 4);
  });
  return { data: new Uint8Array(out.buffer), width, height };
}

/** One pixel: the weighted sum of samples that are `step` apart. */
function mix(
  from: Uint8Array | Uint8ClampedArray,
  at: number,
  step: number,
  weights: readonly number[],
  to: Uint8ClampedArray,
  place: number,
): void {
  for (let channel = 0; channel < 4; channel++) {
    let sum = 0;
    for (let index = 0; index < weights.length; index++)
      sum += numberInAt(from, at + index * step + channel) * numberInAt(weights, index);
    to[place + channel] = sum;
  }
}

/** Which samples of `from` a new one covers, and with what weights. */
function weightsOf(from: number, to: number): { start: number; weights: number[] }[] {
  const scale = from / to;
  const spread = Math.max(scale, 1);
  return Array.from({ length: to }, (_, index) => {
    const centre = (index + 0.5) * scale;
    const start = Math.max(0, Math.floor(centre - 2 * spread + 0.5));
    const end = Math.min(from, Math.floor(centre + 2 * spread + 0.5));
    const raw = Array.from({ length: end - start }, (__, at) => bicubic((at + start - centre + 0.5) / spread));
    const sum = raw.reduce((total, one) => total + one, 0);
    return { start, weights: raw.map((one) => one / sum) };
  });
}

function bicubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}
