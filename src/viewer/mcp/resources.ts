import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Limiter } from '../../core/async/limiter.ts';
import type { AgentTool } from './tools.ts';

const SCHEME = 'rollout:///';

/** A rollout by its locator, as `show` answers it: `rollout:///train/3.jsonl:57`, with escapes as in any address. */
export function serveRollouts(server: McpServer, limiter: Limiter, tools: readonly AgentTool[]): void {
  const show = tools.find(({ name }) => name === 'show');
  if (show === undefined) return;
  server.registerResource(
    'rollout',
    new ResourceTemplate(`${SCHEME}{+locator}`, { list: undefined }),
    {
      title: 'A rollout',
      description: `A rollout by its locator: ${SCHEME}FILE:LINE, a slash more before an absolute path`,
      mimeType: 'application/json',
    },
    async (uri, _variables, { signal }) => {
      const locator = decodeURIComponent(uri.href.slice(SCHEME.length));
      const { text } = await limiter.run((own) => show.answer({ locators: [locator] } as never, own), { signal });
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
    },
  );
}
