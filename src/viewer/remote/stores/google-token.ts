import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { SourceError } from '../machine.ts';
import type { WebClient } from '../web-client.ts';
import { answerText, clockProblem, minutesAhead } from './answers.ts';

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_only';
const TOKEN_SERVER = 'https://oauth2.googleapis.com/token';
/** A token that is about to end is asked for again. */
const MARGIN_S = 120;
/** Google takes a time that is less off. */
const LEAST_SKEW_MINUTES = 5;

const Answered = z.object({ access_token: z.string(), expires_in: z.number() });
const Kept = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('authorized_user'),
    client_id: z.string(),
    client_secret: z.string(),
    refresh_token: z.string(),
    token_uri: z.string().default(TOKEN_SERVER),
  }),
  z.object({
    type: z.literal('service_account'),
    client_email: z.string(),
    private_key: z.string(),
    token_uri: z.string().default(TOKEN_SERVER),
  }),
]);

/**
 * The token of Google's default credentials, found as Google's own libraries find it: a token in the environment, the file of
 * `gcloud auth application-default login` or of a service account, the machine's own account.
 */
export class GoogleToken {
  readonly #client: WebClient;
  #kept: { token: string | null; until: number } | null = null;

  constructor(client: WebClient) {
    this.#client = client;
  }

  /** Null: there are no credentials; some buckets are open to all. @throws SourceError */
  async current(signal: AbortSignal): Promise<string | null> {
    const given = process.env.GOOGLE_OAUTH_ACCESS_TOKEN ?? process.env.CLOUDSDK_AUTH_ACCESS_TOKEN;
    if (given) return given;
    if (this.#kept === null || this.#kept.until < Date.now()) this.#kept = await this.#fetched(signal);
    return this.#kept.token;
  }

  forget(): void {
    this.#kept = null;
  }

  async #fetched(signal: AbortSignal): Promise<{ token: string | null; until: number }> {
    const found = credentialsFile();
    const answer = found === null ? await this.#ofMachine(signal) : await this.#exchanged(found, signal);
    if (answer === null) return { token: null, until: Number.POSITIVE_INFINITY };
    return { token: answer.access_token, until: Date.now() + (answer.expires_in - MARGIN_S) * 1000 };
  }

  async #exchanged({ path, text }: { path: string; text: string }, signal: AbortSignal) {
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw new SourceError(`${path} is not JSON`, false);
    }
    const parsed = Kept.safeParse(json);
    if (!parsed.success)
      throw new SourceError(
        `${path} holds credentials of another kind; give a token: GOOGLE_OAUTH_ACCESS_TOKEN=$(gcloud auth print-access-token)`,
        false,
      );
    const own = parsed.data;
    const form =
      own.type === 'authorized_user'
        ? {
            grant_type: 'refresh_token',
            client_id: own.client_id,
            client_secret: own.client_secret,
            refresh_token: own.refresh_token,
          }
        : { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertionOf(own, path) };
    return this.#answered(
      new URL(own.token_uri),
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: String(new URLSearchParams(form)),
      },
      signal,
    );
  }

  /** A machine of Google's answers with the token of its account; elsewhere nobody answers. */
  async #ofMachine(signal: AbortSignal) {
    if (process.env.NO_GCE_CHECK === 'true') return null;
    const host = process.env.GCE_METADATA_HOST ?? 'metadata.google.internal';
    const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token`);
    const soon = AbortSignal.any([signal, AbortSignal.timeout(1000)]);
    return this.#answered(url, { headers: { 'metadata-flavor': 'Google' } }, soon).catch(() => null);
  }

  async #answered(url: URL, request: Parameters<WebClient['ask']>[1], signal: AbortSignal) {
    const answer = await this.#client.ask(url, request, signal);
    const text = await answerText(answer);
    try {
      if (answer.statusCode === 200) return Answered.parse(JSON.parse(text));
    } catch {
      // No token, said below.
    }
    // A service account signs the time.
    const minutes = minutesAhead(answer);
    if (answer.statusCode === 400 && Math.abs(minutes) >= LEAST_SKEW_MINUTES)
      throw clockProblem(minutes, `${url.host} gives no token`);
    throw new SourceError(
      `${url.host} gives no token (${answer.statusCode}): gcloud auth application-default login`,
      false,
    );
  }
}

function credentialsFile(): { path: string; text: string } | null {
  const named = process.env.GOOGLE_APPLICATION_CREDENTIALS;
  const settings = process.env.CLOUDSDK_CONFIG ?? join(homedir(), '.config/gcloud');
  const path = named ?? join(settings, 'application_default_credentials.json');
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch {
    if (named !== undefined) throw new SourceError(`${path} (GOOGLE_APPLICATION_CREDENTIALS) cannot be read`, false);
    return null;
  }
}

/** The text that a service account signs with its key. @throws SourceError */
function assertionOf(
  { client_email, private_key, token_uri }: { client_email: string; private_key: string; token_uri: string },
  path: string,
): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: client_email, scope: SCOPE, aud: token_uri, iat: now, exp: now + 3600 };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(private_key, 'base64url')}`;
  } catch {
    throw new SourceError(`${path}: its private key cannot be used`, false);
  }
}
