import { readFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { reasonOfConnection } from '../../core/http/connection-error.ts';
import { reasonOf, shapeProblem } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { serversPlaces } from './mcp-places.ts';

/** `mcpServers` of verl's file and of other programs: an address, or a command that speaks on its stdin and stdout. */
const ServersFile = z.looseObject({
  mcpServers: z.record(
    z.string(),
    z.looseObject({
      url: z.string().optional(),
      auth_token: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      command: z.string().optional(),
      args: z.array(z.string()).optional(),
      env: z.record(z.string(), z.string()).optional(),
      cwd: z.string().optional(),
    }),
  ),
});
type Server = z.infer<typeof ServersFile>['mcpServers'][string];

const VERSION = { name: manifest.name, version: manifest.version };

export async function readServers(path: string, beside: string): Promise<Record<string, Server>> {
  const places = serversPlaces(path, beside);
  let problem = '';
  for (const place of places) {
    let text: string;
    try {
      text = await readFile(place, 'utf8');
    } catch (error) {
      problem ||= `${place}: ${reasonOf(error)}; mcp_servers_config_path names a file with mcpServers`;
      continue;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new Error(`${place}: not JSON: ${errorMessage(error)}`);
    }
    const file = ServersFile.safeParse(value);
    if (!file.success) throw new Error(`${place}: ${shapeProblem(file.error.issues)}`);
    return file.data.mcpServers;
  }
  throw new Error(problem);
}

export async function connect(name: string, server: Server): Promise<Client> {
  const client = new Client(VERSION);
  try {
    // The SDK's transports declare `string | undefined`, but the interface has an optional key.
    await client.connect(transportOf(server) as Transport);
  } catch (error) {
    throw new Error(`MCP server '${name}': ${errorMessage(error)}`);
  }
  return client;
}

function transportOf({ url, auth_token, headers = {}, command, args = [], env, cwd }: Server) {
  if (command !== undefined)
    return new StdioClientTransport({
      command,
      args,
      ...(env ? { env } : {}),
      ...(cwd ? { cwd } : {}),
      stderr: 'ignore',
    });
  if (url === undefined || !URL.canParse(url)) throw new Error(`url: expected an address, got ${url}`);
  const authorization = auth_token ? { authorization: `Bearer ${auth_token}` } : {};
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...authorization, ...headers } },
    fetch: boundedFetch,
  });
}

/** The longest message accepted from a server. */
const LONGEST_MESSAGE = 64 << 20;

/** `fetch` that aborts an answer if a message in it does not end; a stream may continue, message after message. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url, init).catch((error: Error) => {
    throw error.cause instanceof Error ? new Error(reasonOfConnection(error.cause), { cause: error }) : error;
  });
  if (answer.body === null) return answer;
  const isStream = answer.headers.get('content-type')?.includes('event-stream') ?? false;
  let size = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const end = isStream ? chunk.lastIndexOf(10) : -1;
      size = end === -1 ? size + chunk.length : chunk.length - end;
      if (size > LONGEST_MESSAGE) throw new Error(`the answer is longer than ${LONGEST_MESSAGE >> 20} MB`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(bounded), { status, statusText, headers });
}
