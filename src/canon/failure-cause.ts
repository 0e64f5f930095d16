import type { Usage } from "./usage.ts";

/**
 * Where a failure at a provider came from, for its operator. Callers read the error's message and nothing of this: host and
 * raw words tell of internals (S22).
 */
export interface FailureCause {
  /** The provider's name in the configuration. */
  provider?: string;
  /** Host and port that were called. */
  host?: string;
  /** The HTTP status that the provider answered with. */
  status?: number;
  /** For how long it asks to be left alone, where that is longer than callers are told. */
  retryAfterSeconds?: number;
  /** The system's word for a connection that failed, such as ECONNREFUSED. */
  errno?: string;
  /** What the operator can do. */
  cure?: string;
  /** The provider's own words, without the gateway's secrets. They may quote a prompt: for debug logs and operators alone. */
  said?: string;
  /** What the provider reports that it used before it failed: that is billed, and the provider is not asked for it again. */
  usage?: Usage;
}
