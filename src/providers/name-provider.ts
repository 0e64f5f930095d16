import { withoutAbsent } from "../base/without-absent.ts";
import type { FailureCause, GatewayError } from "../canon/error.ts";

/** The failed provider, for a remedy that the operator can apply. */
export interface FailedProvider {
  /** Its name in the configuration. */
  name: string;
  /** Host and port of its base URL. */
  host: string;
  /** The field of its configuration that holds the credential. */
  credential: string;
}

/** How a connection failed, for callers; only operators see the host. */
const WORDS_OF_ERRNO: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ConnectionRefused: "connection refused",
  ENOTFOUND: "host name not found",
  EAI_AGAIN: "host name not found",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  EPROTO: "TLS handshake failed",
  EMFILE: "too many open files",
};
const CERTIFICATE = /CERT|ISSUER|SELF_SIGNED|ALTNAME/;

/** Such as ` (connection refused)`; empty if unknown. */
export function wordsOfErrno(errno: string | undefined): string {
  if (errno === undefined) return "";
  const words = WORDS_OF_ERRNO[errno] ?? (CERTIFICATE.test(errno) ? "TLS certificate not trusted" : undefined);
  return words === undefined ? "" : ` (${words})`;
}

/**
 * Adds the provider's name to the message of its failure, with the model as it was asked for there, and details for the operator. Such messages start with "The
 * provider" wherever they are written; only here is the name known.
 */
export function nameProvider(error: GatewayError, provider: FailedProvider, model?: string): GatewayError {
  const cause = error.failure;
  const atProvider = cause !== undefined || error.kind.startsWith("upstream_");
  if (!atProvider || cause?.provider !== undefined) return error;
  const cure = cureFor(error, provider);
  const known: FailureCause = { provider: provider.name, host: provider.host, ...withoutAbsent({ cure }) };
  return error.withMessage(messageOf(error, provider, model)).withFailure(known);
}

function messageOf(error: GatewayError, { name, credential }: FailedProvider, model: string | undefined): string {
  const status = error.failure?.status;
  const said = status === undefined ? "" : ` (HTTP ${status})`;
  const who = `Provider \`${name}\``;
  // The gateway itself answers 404 for a model that it does not know, in much the same words.
  if (error.kind === "not_found" && status === 404 && model !== undefined)
    return `${who} answered 404 to a request for its model \`${model}\`: ${error.message}`;
  if (error.kind === "upstream_unfunded") return REFUSALS.account(who, said);
  if (error.kind !== "upstream_credentials") return error.message.replace(/^The provider\b/, who);
  if (status === undefined) return `${error.message.replace(/^The provider\b/, who)} Your Trivium key is valid.`;
  return REFUSALS[reasonOf(status)](who, said, credential);
}

const REFUSALS = {
  key: (who: string, said: string, field: string) =>
    `${who} rejected the gateway's API key${said}. Check \`${field}\`. Your Trivium key is valid.`,
  account: (who: string, said: string) =>
    `${who} rejected the call because the gateway's account has no credit or quota left${said}. Its operator must top it up. Your Trivium key is valid.`,
  access: (who: string, said: string, field: string) =>
    `${who} denied the gateway's account access${said}. Check what the account of \`${field}\` may use. Your Trivium key is valid.`,
};

/** Hosts reject a wrong key with 401 or 400, and an empty account with 402 or 429. */
function reasonOf(status: number): keyof typeof REFUSALS {
  if (status === 402 || status === 429) return "account";
  return status === 403 ? "access" : "key";
}

function cureFor({ kind, failure }: GatewayError, { host, credential, name }: FailedProvider): string | undefined {
  const { status, errno } = failure ?? {};
  if (kind === "upstream_unfunded") return `top up the account of ${credential}`;
  if (kind === "upstream_credentials") {
    const reason = status === undefined ? "key" : reasonOf(status);
    if (reason === "key") return `check ${credential}`;
    return reason === "account"
      ? `top up the account of ${credential}`
      : `check what the account of ${credential} may use`;
  }
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN")
    return `check the host name in providers.${name}.base_url, and the resolver`;
  if (errno !== undefined && (errno === "EPROTO" || CERTIFICATE.test(errno)))
    return `check that ${host} serves TLS with a trusted certificate; use NODE_EXTRA_CA_CERTS to add certificate authorities`;
  if (errno !== undefined) return `check that ${host} is running and reachable from this machine`;
  return kind === "upstream_timeout" ? `raise providers.${name}.timeout_ms if ${host} may take longer` : undefined;
}
