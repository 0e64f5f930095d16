import type { Usage } from "./usage.ts";

/**
 * The cause of a provider's failure, for operators. Callers see only the error's message, because host names and raw messages expose
 * internals (S22).
 */
export interface FailureCause {
  /** The provider's name in the configuration. */
  provider?: string;
  /** The host and port of the request. */
  host?: string;
  /** The HTTP status of the provider's response. */
  status?: number;
  /** How long the provider wants no requests, if that is longer than what callers see. */
  retryAfterSeconds?: number;
  /** The system's error code for a failed connection, such as ECONNREFUSED. */
  errno?: string;
  /** What the operator can do about it. */
  cure?: string;
  /** The provider's own message, without the gateway's secrets. It may quote a prompt, so it is only for debug logs and operators. */
  said?: string;
  /** The usage that the provider reported before it failed. It is billed, and the provider is not called again for it. */
  usage?: Usage;
}
