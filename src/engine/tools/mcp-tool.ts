import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { Limiter } from '../../core/async/limiter.ts';
import { ConnectionError } from '../../core/http/connection-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Picture } from '../common/message.ts';
import { connect, readServers } from './mcp-servers.ts';
import { OpenAIFunctionToolSchema } from './schema.ts';
import { StatefulTool, type ToolResult, type ToolRun } from './tool.ts';

export interface McpEntry {
  mcp_servers_config_path: string;
  /** The offered tools; default: all. */
  tool_selected_list?: readonly string[] | null | undefined;
}

/** The tools of some servers, and a way to disconnect. */
export interface McpConnection {
  tools: McpTool[];
  close(): Promise<void>;
}

export interface McpLimits {
  rate_limit: number;
  /** Seconds per call. */
  timeout: number;
}

/** A tool of an MCP server, with the name and schema that the server gives it. */
class McpTool extends StatefulTool<null> {
  readonly #client: Client;
  readonly #limits: McpLimits;
  readonly #places: Limiter;

  constructor(client: Client, schema: OpenAIFunctionToolSchema, limits: McpLimits, places: Limiter) {
    super(schema);
    this.#client = client;
    this.#limits = limits;
    this.#places = places;
  }

  protected start(): null {
    return null;
  }

  protected async run(_state: null, parameters: JsonObject, _kwargs: JsonObject, run: ToolRun): Promise<ToolResult> {
    run.clock?.pause();
    return this.#places.run(
      async (signal) => {
        run.clock?.resume();
        return this.#call(parameters, signal);
      },
      run.signal ? { signal: run.signal } : {},
    );
  }

  async #call(parameters: JsonObject, signal: AbortSignal): Promise<ToolResult> {
    const timeout = this.#limits.timeout * 1000;
    try {
      const answer = await this.#client.callTool({ name: this.name, arguments: parameters }, undefined, {
        signal,
        timeout,
      });
      const { text, images } = answerContent(answer.content as JsonValue);
      const failed = answer.isError === true;
      return {
        response: {
          text,
          ...(images.length > 0 ? { images } : {}),
          ...(failed ? { error: text, fault: 'model' } : {}),
        },
        reward: null,
        metrics: { status: failed ? 'error' : 'success', api_request_error: null },
      };
    } catch (error) {
      signal.throwIfAborted();
      const message = errorMessage(error);
      // A server's refusal is about the model's arguments; a call that never arrived or never returned is not.
      const isAnswer =
        error instanceof McpError &&
        error.code !== ErrorCode.ConnectionClosed &&
        error.code !== ErrorCode.RequestTimeout;
      if (!isAnswer) throw new ConnectionError(message, { cause: error });
      return {
        response: { text: `\n Tool call failed: ${message}`, error: message, fault: 'model' },
        reward: null,
        metrics: { status: 'error', api_request_error: message },
      };
    }
  }
}

/** verl joins the texts with a space. */
function answerContent(content: JsonValue): { text: string; images: Picture[] } {
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const images = parts
    .filter(({ type, data }) => type === 'image' && typeof data === 'string')
    .map(({ mimeType, data }) => ({ url: `data:${String(mimeType ?? 'image/png')};base64,${String(data)}` }));
  const text = parts
    .flatMap(({ type, text: own }) => (type === 'text' && typeof own === 'string' ? [own] : []))
    .join(' ');
  return { text, images };
}

/** The tools of the servers in a file, and a way to disconnect. @throws Error naming the server, or a tool that none has */
export async function openMcpTools(
  { mcp_servers_config_path: path, tool_selected_list: selected }: McpEntry,
  limits: McpLimits,
  toolFile: string,
): Promise<McpConnection> {
  const servers = await readServers(path, toolFile);
  const clients: Client[] = [];
  const close = async () => {
    await Promise.all(clients.map((client) => client.close().catch(() => {})));
  };
  const places = new Limiter(limits.rate_limit);
  const tools: McpTool[] = [];
  try {
    for (const [name, server] of Object.entries(servers)) {
      const client = await connect(name, server);
      clients.push(client);
      for (let cursor: string | undefined; ; ) {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        for (const tool of page.tools) {
          if (selected && !selected.includes(tool.name)) continue;
          const schema = OpenAIFunctionToolSchema.parse({
            type: 'function',
            function: {
              name: tool.name,
              description: tool.description ?? '',
              parameters: toolParameters(tool.inputSchema),
            },
          });
          tools.push(new McpTool(client, schema, limits, places));
        }
        cursor = page.nextCursor;
        if (cursor === undefined) break;
      }
    }
    const missing = selected?.filter((name) => !tools.some((tool) => tool.name === name)) ?? [];
    if (missing.length > 0)
      throw new Error(`tool_selected_list: no server has ${missing.map((name) => `'${name}'`).join(', ')}`);
    return { tools, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function toolParameters(schema: object): JsonObject {
  const { type = 'object', properties = {}, required = [] } = schema as JsonObject;
  return { type, properties, required };
}
