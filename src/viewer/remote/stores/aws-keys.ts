import { errorCode, errorMessage } from '../../../core/text/thrown.ts';
import { outputOf, whole } from '../child.ts';
import { SourceError } from '../machine.ts';

interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** The source of AWS's keys, asked before each request: the chain itself keeps them while they are valid. */
export type AwsKeyChain = () => Promise<AwsKeys | null>;

/** The chain of AWS's SDK if it is installed, else the environment and AWS's command; null without keys. */
export async function awsKeyChain(): Promise<AwsKeyChain> {
  try {
    // It would warn on the terminal that it drops this Node some day.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    const provider = defaultProvider();
    return async () => {
      try {
        return await provider();
      } catch (error) {
        const says = errorMessage(error).split('\n')[0] ?? '';
        if (/^Could not load credentials from any providers/.test(says)) return null;
        // A command of the settings may hold a secret.
        throw new SourceError(`no keys: ${says.replace(/(Command failed).*/, '$1')}`, false);
      }
    };
  } catch (error) {
    if (!/MODULE_NOT_FOUND/.test(errorCode(error) ?? '')) throw error;
    return withoutSdk();
  }
}

function withoutSdk(): AwsKeyChain {
  let kept: { keys: AwsKeys | null; until: number } | null = null;
  return async () => {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = process.env;
    if (id && secret) return { accessKeyId: id, secretAccessKey: secret, sessionToken: token };
    if (kept === null || kept.until < Date.now()) kept = await exported();
    return kept.keys;
  };
}

/** A key that is about to end is asked for again. */
const MARGIN_MS = 5 * 60_000;

async function exported(): Promise<{ keys: AwsKeys | null; until: number }> {
  const args = ['configure', 'export-credentials', '--format', 'process'];
  try {
    const said = await whole(outputOf('aws', args, { lost: [] }, AbortSignal.timeout(30_000)));
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = JSON.parse(said.toString());
    const until = Expiration === undefined ? Number.POSITIVE_INFINITY : Date.parse(Expiration) - MARGIN_MS;
    return { keys: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken }, until };
  } catch {
    return { keys: null, until: Number.POSITIVE_INFINITY };
  }
}
