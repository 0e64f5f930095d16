import type { Secret } from "../../base/secret.ts";
import type { GuardOn } from "./guard-verdict.ts";

/** One guard on the texts of calls. */
export interface GuardSettings {
  /** Unique. */
  name: string;
  on: readonly GuardOn[];
  use: "secrets" | "pii" | "words" | "moderation" | "webhook";
  action: "block" | "redact" | "observe";
  /** Whether a call that the guard could not check continues. */
  onFailure: "block" | "allow";
  /** For guards that ask something outside of the gateway. */
  timeoutMs: number;
  /** How many characters of a stream are held back. */
  window: number;
  /** The calls that it looks at; absent: all. Patterns with `*`. */
  for?: { projects?: readonly string[]; keys?: readonly string[]; models?: readonly string[] };
  words?: readonly string[];
  /** The model of a moderation guard. */
  model?: string;
  /** Its path may contain a secret. */
  url?: Secret;
  /** Signs what a webhook is sent; absent: it is not signed. */
  secret?: Secret;
}
