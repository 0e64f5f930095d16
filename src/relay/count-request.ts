import type { Principal } from "../access/principal.ts";
import { whenShared } from "../access/share-refusal.ts";
import type { Gateway } from "./gateway.ts";

/**
 * Counts a request that calls no model towards the rate limits of its key, project and gateway. Waits briefly if other processes
 * hold the rest of a limit.
 */
export async function countRequest(
  principal: Principal,
  { admissions, clock }: Pick<Gateway, "admissions" | "clock">,
): Promise<void> {
  try {
    admissions.count(principal);
  } catch (refusal) {
    await whenShared(refusal, () => admissions.count(principal), clock.nowMs);
  }
}
