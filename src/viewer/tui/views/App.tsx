import type { Chrome } from './chrome.ts';
import type { Kit } from './kit.ts';

/** Everything on screen that does not scroll: the painter puts the panes between the lines above and below the body. */
export function App({ chrome, kit }: { chrome: Chrome; kit: Kit }) {
  const { Stack, Line, EdgeLine, Columns, Field } = kit;
  const { columns, body, tooSmall, top, help, editor, menu, foot, prompt } = chrome;
  if (tooSmall !== null) return <Line pieces={[['plain', tooSmall]]} />;
  return (
    <Stack width={columns}>
      <EdgeLine {...top} />
      {help !== null && <Columns columns={help} width={columns} height={body} />}
      {editor !== null && <EdgeLine {...editor} />}
      {menu !== null && (
        <Stack>
          <Line pieces={menu.title} />
          <Columns columns={menu.columns} width={columns} height={menu.height - 1} />
        </Stack>
      )}
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
