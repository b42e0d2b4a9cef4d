import type { ReactElement, ReactNode } from 'react';
import { renderEdges, renderPieces } from '../../present/line.ts';
import type { Theme } from '../../present/theme.ts';
import type { Kit } from './kit.ts';

type Draw<Props> = (props: Props, width: number, theme: Theme) => string[];

const DRAW: { [Name in keyof Kit]: Draw<Parameters<Extract<Kit[Name], (props: never) => unknown>>[0]> } = {
  Stack: ({ children, width: own }, width, theme) => drawLines(children, own ?? width, theme),
  Line: ({ pieces }, width, theme) => [renderPieces(theme, pieces, width)],
  EdgeLine: ({ left, right }, width, theme) => [renderEdges(theme, left, right, width)],
  Field: ({ sign, value }, width, theme) => [
    renderPieces(
      theme,
      [
        ['strong', sign],
        ['plain', value],
      ],
      width,
    ),
  ],
};

/** A placeholder component for its entry in DRAW. */
const standIn = () => () => null;

/** The kit for drawLines. */
export const LINE_KIT: Kit = {
  Stack: standIn(),
  Line: standIn(),
  EdgeLine: standIn(),
  Field: standIn(),
};

const NAMES = new Map(Object.entries(LINE_KIT).map(([name, component]) => [component, name as keyof Kit]));

/** Renders hook-free components made with LINE_KIT as lines of at most `width` cells: in well under a millisecond, without Ink. */
export function drawLines(node: ReactNode, width: number, theme: Theme): string[] {
  if (typeof node !== 'object' || node === null) return [];
  if (Symbol.iterator in node) return [...node].flatMap((child) => drawLines(child, width, theme));
  const { type, props } = node as ReactElement;
  if (typeof type !== 'function') throw new TypeError(`drawLines knows components alone, not ${String(type)}`);
  const name = NAMES.get(type);
  if (name !== undefined) return (DRAW[name] as Draw<unknown>)(props, width, theme);
  return drawLines((type as (props: unknown) => ReactNode)(props), width, theme);
}
