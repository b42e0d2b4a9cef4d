import { Box, type DOMElement } from 'ink';
import { useLayoutEffect, useRef } from 'react';
import type { Screen } from '../screen/screen.ts';

interface RegionProps {
  screen: Screen;
  id: string;
  /** Cells; left out, the region takes the room that is left. */
  width?: number;
  height?: number;
}

/** An empty box to Ink; the screen paints the lines of the provider named `id` over the place that layout gives it. */
export function Region({ screen, id, width, height }: RegionProps) {
  const box = useRef<DOMElement>(null);
  useLayoutEffect(() => {
    const node = box.current?.yogaNode;
    if (!node) return;
    let x = 0;
    let y = 0;
    for (let element = box.current ?? undefined; element; element = element.parentNode) {
      x += element.yogaNode?.getComputedLeft() ?? 0;
      y += element.yogaNode?.getComputedTop() ?? 0;
    }
    screen.place(id, { x, y, width: node.getComputedWidth(), height: node.getComputedHeight() });
  });
  useLayoutEffect(() => () => screen.place(id, null), [screen, id]);
  return (
    <Box
      ref={box}
      flexGrow={width === undefined || height === undefined ? 1 : 0}
      flexShrink={width === undefined || height === undefined ? 1 : 0}
      {...(width === undefined ? {} : { width })}
      {...(height === undefined ? {} : { height })}
    />
  );
}
