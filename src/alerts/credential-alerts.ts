import { harmless, quotedName } from "./alert.ts";
import type { PassedThreshold } from "./budget-alerts.ts";

/** A credential that its provider refuses, and that is out of use. */
export interface RefusedCredential {
  provider: string;
  /** Its label, never the key; empty if the provider has only one. */
  label: string;
  /** No money is left, or the key itself is refused. */
  reason: "unfunded" | "refused";
  status: number | undefined;
  /** What the provider said. */
  text: string;
}

const DAY_MS = 86_400_000;
/** After a clock is set back, the alerts of that time must still be found. */
const KEPT_MS = 62 * DAY_MS;

/** Reported once a day for each credential and reason, as long as it is out of use. */
export function credentialAlert(
  { provider, label, reason, status, text }: RefusedCredential,
  nowMs: number,
): PassedThreshold {
  const day = new Date(nowMs).toISOString().slice(0, "YYYY-MM-DD".length);
  const which = label === "" ? "The credential" : `The credential ${quotedName(label)}`;
  const why = reason === "unfunded" ? "has no credit or quota left" : "was refused";
  return {
    claims: [JSON.stringify(["credential", provider, label, reason, day])],
    expiresAtMs: nowMs + KEPT_MS,
    draft: {
      type: "provider.credential",
      text: `${which} of the provider ${quotedName(provider)} ${why} and is out of use. ${harmless(text)}`,
      data: { provider, credential: label === "" ? null : label, reason, status: status ?? null, said: text },
    },
  };
}
