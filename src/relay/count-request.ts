import type { Principal } from "../access/principal.ts";
import { whenShared } from "../access/share-refusal.ts";
import type { Gateway } from "./gateway.ts";

/**
 * Counts a request that calls no model towards the rates of its key, project and gateway. Waits a moment where other processes hold
 * what is left of a limit.
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
