import { errorCode, thrownError } from '../text/thrown.ts';
/** No usable answer: refused, reset, unknown host, broken off, or unreadable. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  /** A retry would fail the same way. */
  readonly isFinal: boolean;
  constructor(message: string, { isFinal = false, ...options }: ErrorOptions & { isFinal?: boolean } = {}) {
    super(message, options);
    this.isFinal = isFinal;
  }
}

const IN_WORDS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'no byte came for too long',
  UND_ERR_BODY_TIMEOUT: 'no byte came for too long',
  UND_ERR_SOCKET: 'the connection was closed before the end of the answer',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are longer than 16 kB; is this the right server?',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer has another length than its Content-Length says',
  ENOTFOUND: 'no such host; is its name spelled right, and is DNS there?',
  EAI_AGAIN: 'the name of the host could not be looked up; is DNS there?',
};

const TRUST = 'NODE_EXTRA_CA_CERTS=FILE makes its certificate known';
/** Node's codes for untrusted certificates. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `the server's certificate is signed by itself; ${TRUST}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the server's certificate is signed by an unknown authority; ${TRUST}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the server's certificate is signed by an unknown authority; ${TRUST}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the server's certificate is signed by an unknown authority; ${TRUST}`,
  CERT_HAS_EXPIRED: "the server's certificate has expired; it must be renewed there",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; is this machine's clock right?",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another name than the address has",
};

export const isCertificateTrouble = (error: unknown): boolean => Object.hasOwn(CERTIFICATES, errorCode(error) ?? '');

/** The other side answers, but does not speak TLS. */
export const isNoTls = (error: unknown): boolean => /^(?:EPROTO|ERR_SSL_)/.test(errorCode(error) ?? '');

/**
 * Why a connection failed, and what to do if that is known. Node reports a refused `localhost` as an AggregateError
 * without a message.
 */
export function reasonOfConnection(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join('; ');
  const { message, name } = thrownError(error);
  const code = errorCode(error) ?? '';
  const words = CERTIFICATES[code] ?? IN_WORDS[code];
  if (words !== undefined) return message && !code.startsWith('UND_ERR') ? `${message}: ${words}` : words;
  if (isNoTls(error))
    return 'TLS failed: what answers there does not speak https; does the address begin with http:// ?';
  if (code.startsWith('HPE_') || name === 'HTTPParserError')
    return `the answer is not HTTP (${message}); does the server expect https://?`;
  return message || code || name || 'the connection failed';
}
