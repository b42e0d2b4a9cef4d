import { Box, Text } from 'ink';
import TextInput from 'ink-text-input';
import { useLayoutEffect, useState } from 'react';
import type { Piece } from '../../present/line.ts';
import { styled, type Theme } from '../../present/theme.ts';
import type { Kit } from './kit.ts';

/** The kit as drawn by Ink. @param onType receives the field's value after each key */
export function inkKit(theme: Theme, onType: (value: string) => void): Kit {
  const Pieces = ({ pieces }: { pieces: readonly Piece[] }) => (
    <Text wrap="truncate">{pieces.map(([style, text]) => styled(theme, style, text)).join('')}</Text>
  );
  return {
    Stack: ({ children, width }) => (
      <Box flexDirection="column" width={width}>
        {children}
      </Box>
    ),
    Line: ({ pieces }) => (
      <Box height={1} flexShrink={0}>
        <Pieces pieces={pieces} />
      </Box>
    ),
    EdgeLine: ({ left, right }) => (
      <Box height={1} columnGap={1} justifyContent="space-between">
        <Pieces pieces={left} />
        {right.length > 0 && (
          <Box flexShrink={0}>
            <Pieces pieces={right} />
          </Box>
        )}
      </Box>
    ),
    Field: ({ id, sign, value, seed, cursor }) => (
      <Box height={1}>
        <Box flexShrink={0}>
          <Text bold>{sign}</Text>
        </Box>
        <Text wrap="truncate-start">
          <TypedText key={`${id} ${seed}`} value={value} cursor={cursor} onType={onType} />
        </Text>
      </Box>
    ),
  };
}

/** ink-text-input puts its cursor at the end of its initial value, so start with the text before the cursor. */
function TypedText({ value, cursor, onType }: { value: string; cursor: number; onType(value: string): void }) {
  const [isPlaced, setPlaced] = useState(false);
  useLayoutEffect(() => setPlaced(true), []);
  return <TextInput value={isPlaced ? value : value.slice(0, cursor)} onChange={onType} />;
}
