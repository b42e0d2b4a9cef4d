import { Box, Text } from 'ink';
import TextInput from 'ink-text-input';

interface PromptLineProps {
  sign: string;
  value: string;
  width: number;
  onChange(value: string): void;
}

/** The line where something is typed. Of a value that is too long the end is shown, behind its sign. */
export function PromptLine({ sign, value, width, onChange }: PromptLineProps) {
  return (
    <Box width={width} height={1}>
      <Box flexShrink={0}>
        <Text bold>{sign}</Text>
      </Box>
      <Text wrap="truncate-start">
        <TextInput value={value} onChange={onChange} />
      </Text>
    </Box>
  );
}
