/** The shortest side of a picture that Qwen's models accept, and the unit of its sides. */
export const SHORTEST = 28;
const FEWEST_PIXELS = 4 * SHORTEST ** 2;
const MOST_PIXELS = 16384 * SHORTEST ** 2;

export interface Size {
  width: number;
  height: number;
}
/** left, top, right, bottom */
export type Box = [number, number, number, number];

/** The size in which a model sees a picture (`smart_resize` of qwen_vl_utils, which verl uses to load it): boxes refer to it. @throws RangeError */
export function sizeForModel({ width, height }: Size): Size {
  const ratio = Math.max(width, height) / Math.min(width, height);
  if (ratio > 200) throw new RangeError(`absolute aspect ratio must be smaller than 200, got ${ratio}`);
  const both = (of: (side: number) => number): Size => ({ width: of(width), height: of(height) });
  const near = both((side) => Math.max(SHORTEST, roundHalfEven(side / SHORTEST) * SHORTEST));
  const area = near.width * near.height;
  if (area > MOST_PIXELS) {
    const by = Math.sqrt((width * height) / MOST_PIXELS);
    return both((side) => Math.max(SHORTEST, Math.floor(side / by / SHORTEST) * SHORTEST));
  }
  if (area < FEWEST_PIXELS) {
    const by = Math.sqrt(FEWEST_PIXELS / (width * height));
    return both((side) => Math.ceil((side * by) / SHORTEST) * SHORTEST);
  }
  return near;
}

/**
 * The part of a picture to cut out for a box, as verl's ImageZoomInTool chooses it: clipped to the picture, and grown around its centre
 * if a side is too short. @returns null for an invalid box, or one that cannot grow enough
 */
export function zoomBox([x1, y1, x2, y2]: Box, { width, height }: Size): Box | null {
  const box: Box = [Math.max(0, x1), Math.max(0, y1), Math.min(width, x2), Math.min(height, y2)];
  if (!isBox(box)) return null;
  const isShort = Math.min(box[2] - box[0], box[3] - box[1]) < SHORTEST;
  const own = isShort ? grownBox(box, { width, height }) : box;
  if (!isBox(own)) return null;
  const [left, top, right, bottom] = own.map(Math.floor) as Box;
  if (right - left < SHORTEST || bottom - top < SHORTEST) return null;
  return own.map(roundHalfEven) as Box;
}

function isBox([left, top, right, bottom]: Box): boolean {
  if (!(left < right && top < bottom)) return false;
  const [wide, high] = [right - left, bottom - top];
  return Math.max(wide, high) / Math.min(wide, high) <= 100;
}

function grownBox([left, top, right, bottom]: Box, { width, height }: Size): Box {
  const by = SHORTEST / Math.min(right - left, bottom - top);
  let [wide, high] = [(right - left) * by, (bottom - top) * by];
  if (wide > width) [wide, high] = [width, (high * width) / wide];
  if (high > height) [wide, high] = [(wide * height) / high, height];
  const x = placedSide((left + right) / 2, wide, width);
  const y = placedSide((top + bottom) / 2, high, height);
  return [Math.floor(x), Math.floor(y), Math.ceil(x + wide), Math.ceil(y + high)];
}

/** The start of a stretch around `centre`, shifted into the picture. */
function placedSide(centre: number, length: number, side: number): number {
  const start = Math.max(0, centre - length / 2);
  return start + length > side ? side - length : start;
}

/** Python's round. */
function roundHalfEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}
