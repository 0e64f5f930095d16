import type { Call } from "../call.ts";

type GuardedCall = Pick<Call, "guards" | "attempt">;

/**
 * Which guards look at a call, and whether they have changed or stopped its request or its response so far. Undefined if none do. Two
 * calls with the same digest have the same guards with the same settings.
 */
export const guardsInForce = ({
  guards,
  attempt,
}: GuardedCall): { readonly digest: string; readonly changed: boolean } | undefined =>
  guards === undefined ? undefined : { digest: guards.inForce.digest, changed: guards.hasChanged(attempt) };
