import { Box, Text } from 'ink';
import type { Theme } from '../../present/theme.ts';
import type { Chrome } from './chrome.ts';
import { Help } from './Help.tsx';
import { Line } from './Line.tsx';
import { Prompt } from './Prompt.tsx';

interface AppProps {
  chrome: Chrome;
  theme: Theme;
  onType(value: string): void;
}

/** All lines above the body and below it; the help fills the body. The painter puts the long panes between them. */
export function App({ chrome, theme, onType }: AppProps) {
  const { columns, body, tooSmall, top, help, editor, foot, below, prompt } = chrome;
  if (tooSmall !== null) return <Text wrap="truncate">{tooSmall}</Text>;
  return (
    <Box width={columns} flexDirection="column">
      <Line {...top} theme={theme} />
      {help !== null && <Help columns={help} height={body} theme={theme} />}
      {editor !== null && <Line {...editor} theme={theme} />}
      {foot !== null && <Line {...foot} theme={theme} />}
      {below !== null && <Line {...below} theme={theme} />}
      {prompt !== null && <Prompt {...prompt} theme={theme} onType={onType} />}
    </Box>
  );
}
