// Chooses the backend. `auto` takes the first that confines and proves it, and says why earlier ones were rejected.
import { sweepLeftovers } from '../leftovers.ts';
import type { Backend, BackendDeclaration, BackendName, BackendOptions } from './backend.ts';
import { bubblewrap } from './bubblewrap.ts';
import { pyodide } from './pyodide.ts';
import { type BackendUrl, isBackendUrl, openRemote } from './remote.ts';
import { Toolchains, toldLanguages, withToolchains } from './toolchains.ts';
import { unconfined } from './unconfined.ts';

/** In the order of preference. */
const BACKENDS: readonly BackendDeclaration[] = [bubblewrap, pyodide, unconfined];

export type BackendChoice = 'auto' | Exclude<BackendName, 'remote'>;
export const BACKEND_CHOICES = ['auto', ...BACKENDS.map((backend) => backend.name)] as BackendChoice[];

export interface ChosenBackend {
  backend: Backend;
  /** One line per backend that was tried before and rejected. */
  why: string[];
}

/** @throws {Error} when the named backend, or every confining one, cannot be used; the message says why. */
export async function chooseBackend(
  choice: BackendChoice | BackendUrl,
  options: BackendOptions,
): Promise<ChosenBackend> {
  if (isBackendUrl(choice)) return { backend: await openRemote(choice), why: [] };
  sweepLeftovers();
  const why: string[] = [];
  for (const declaration of BACKENDS) {
    if (choice === 'auto' ? !declaration.confines : declaration.name !== choice) continue;
    try {
      // Weak confinement must be requested explicitly; it is never a fallback.
      const backend = await declaration.open({ ...options, yesWeak: choice !== 'auto' && (options.yesWeak ?? false) });
      const toolchains = new Toolchains(backend);
      for (const line of await toldLanguages(backend, toolchains)) options.log(line);
      return { backend: withToolchains(backend, toolchains), why };
    } catch (error) {
      why.push(`${declaration.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no sandbox can be used here: ${why.join('; ')}`);
}
