// An existing SandboxFusion as the place where programs run: this server puts its sessions, queue and data sets
// in front of it. The other server decides how programs are confined, and which languages there are.
import { errorMessage } from '../../../core/text/thrown.ts';
import { SandboxApiError, SandboxClient } from '../../client.ts';
import { LANGUAGES } from '../../protocol.ts';
import { RequestError } from '../../request-error.ts';
import type { Backend, Job, Limit, Outcome } from './backend.ts';
import { SandboxFault } from './backend.ts';

export type BackendUrl = `http://${string}` | `https://${string}`;
export const isBackendUrl = (choice: string): choice is BackendUrl => /^https?:\/\//.test(choice);

/** @throws {Error} when nothing answers there */
export async function openRemote(url: BackendUrl): Promise<Backend> {
  // This server's clients retry, so a request is not tried for long here.
  const client = new SandboxClient({ endpoint: url, retry: { attempts: 2 } });
  try {
    await client.ping();
  } catch (error) {
    throw new Error(`--backend ${url}: ${errorMessage(error)}`);
  }
  return new Remote(client);
}

class Remote implements Backend {
  readonly name = 'remote';
  readonly languages = new Set(LANGUAGES);
  readonly limits = new Set<Limit>();
  readonly #client: SandboxClient;

  constructor(client: SandboxClient) {
    this.#client = client;
  }

  async execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    const answer = await this.#ask(job, signal);
    if (answer.status === 'SandboxError' && answer.run_result === null) throw new SandboxFault(answer.message);
    job.watch?.(Buffer.from(answer.run_result?.stdout ?? ''), () => {});
    return {
      compile: answer.compile_result,
      run: answer.run_result,
      files: new Map(Object.entries(answer.files).map(([name, content]) => [name, Buffer.from(content, 'base64')])),
    };
  }

  async #ask(job: Job, signal: AbortSignal | undefined) {
    const files = Object.fromEntries([...job.files].map(([name, content]) => [name, content.toString('base64')]));
    try {
      return await this.#client.runCode(
        {
          code: job.code.toString(),
          language: job.language,
          stdin: job.stdin === null ? null : job.stdin.toString(),
          compile_timeout: job.compileTimeout,
          run_timeout: job.runTimeout,
          memory_limit_MB: job.limits.memoryMb ?? -1,
          files,
          fetch_files: [...job.fetchFiles],
        },
        { signal },
      );
    } catch (error) {
      // verl retries on 504 only.
      if (error instanceof SandboxApiError) throw new RequestError(504, `the server behind this one: ${error.message}`);
      throw error;
    }
  }

  async close(): Promise<void> {}
}
