import { Box, Text } from 'ink';
import { type Geometry, MIN_COLUMNS, MIN_ROWS } from '../rows/geometry.ts';
import type { Screen } from '../screen/screen.ts';
import { PromptLine } from '../views/PromptLine.tsx';
import { Region } from './region.tsx';

export interface AppProps {
  screen: Screen;
  columns: number;
  rows: number;
  geometry: Geometry;
  /** A region that covers the body. */
  overlay: 'help' | 'editor' | null;
  prompt: { id: string; sign: string; value: string; seed: number } | null;
  onType(value: string): void;
}

/** Where things stand. What stands there is painted by the screen from the views; only prompts are Ink's own. */
export function App({ screen, columns, rows, geometry, overlay, prompt, onType }: AppProps) {
  if (geometry.tooSmall) {
    return (
      <Box width={columns} height={rows}>
        <Text>
          rollout-viewer needs {MIN_COLUMNS}×{MIN_ROWS}; this window has {columns}×{rows}.
        </Text>
      </Box>
    );
  }
  const { listWidth, transcriptWidth } = geometry;
  return (
    <Box width={columns} height={rows} flexDirection="column">
      <Region screen={screen} id="top" width={columns} height={1} />
      {overlay !== null ? (
        <Region key={overlay} screen={screen} id={overlay} width={columns} height={geometry.bodyHeight} />
      ) : (
        <Box height={geometry.bodyHeight}>
          {listWidth > 0 && <Region screen={screen} id="list" width={listWidth} height={geometry.bodyHeight} />}
          {listWidth > 0 && transcriptWidth > 0 && (
            <Region screen={screen} id="divider" width={1} height={geometry.bodyHeight} />
          )}
          {transcriptWidth > 0 && (
            <Region screen={screen} id="transcript" width={transcriptWidth} height={geometry.bodyHeight} />
          )}
        </Box>
      )}
      {prompt === null ? (
        <Region screen={screen} id="footer" width={columns} height={rows - 1 - geometry.bodyHeight} />
      ) : (
        <>
          <PromptLine key={`${prompt.id} ${prompt.seed}`} {...prompt} width={columns} onChange={onType} />
          <Region screen={screen} id="prompt-info" width={columns} height={1} />
        </>
      )}
    </Box>
  );
}
