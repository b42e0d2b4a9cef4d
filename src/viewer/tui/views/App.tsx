import type { Chrome } from './chrome.ts';
import type { Kit } from './kit.ts';

/** Everything on screen that does not scroll: the painter puts the panes between the lines above and below the body. */
export function App({ chrome, kit }: { chrome: Chrome; kit: Kit }) {
  const { Stack, Line, EdgeLine, Field } = kit;
  const { columns, tooSmall, top, editor, foot, prompt } = chrome;
  if (tooSmall !== null) return <Line pieces={[['plain', tooSmall]]} />;
  return (
    <Stack width={columns}>
      <EdgeLine {...top} />
      {editor !== null && <EdgeLine {...editor} />}
      {foot.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity.
        <EdgeLine key={i} {...line} />
      ))}
      {prompt !== null && (
        <Stack>
          <Field {...prompt.field} />
          <Line pieces={prompt.info} />
        </Stack>
      )}
    </Stack>
  );
}
