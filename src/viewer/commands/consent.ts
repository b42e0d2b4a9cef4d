import { UsageError } from '../../core/dump/paths.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import {
  backendWish,
  openBackend,
  type PlannedCall,
  type ReplayBackend,
  type ReplayBackendChoice,
  type ReplayTools,
} from '../../replay/index.ts';
import { checkSandbox, type SandboxFlags } from './sandbox-flags.ts';

/** @throws UsageError for an impossible sandbox */
export function choiceOf({ sandbox, yesWeak = false }: SandboxFlags, tools: ReplayTools): ReplayBackendChoice {
  checkSandbox(sandbox);
  return { sandbox, toolsUrl: tools.sandboxUrl, yesWeak };
}

/** The person who starts it allows what runs and where; no default does. @throws UsageError */
export function consent(choice: ReplayBackendChoice, { yes }: SandboxFlags, first: PlannedCall | null): void {
  const wish = asUsage(() => backendWish(choice));
  const own = first?.tool?.url ?? null;
  if (yes) return;
  if (wish.kind === 'remote')
    throw new UsageError(`recorded code would run on ${wish.url} (${wish.why}): give --yes to allow it`);
  if (own !== null) throw new UsageError(`calls of ${first?.name} would go to ${own}: give --yes to allow it`);
  if (wish.name === 'unconfined')
    throw new UsageError('recorded code would run unconfined, with all your rights: give --yes to allow it');
}

export async function openedOrUsage(choice: ReplayBackendChoice): Promise<ReplayBackend> {
  try {
    return await openBackend(choice);
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

/** A user's mistake is one line. */
export function asUsage<T>(body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}
