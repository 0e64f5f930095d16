import { lastDays, summariseUsage } from "../../../ledger/queries.ts";
import { sumRefusals } from "../../../storage/tables/refusals.ts";
import type { ServerContext } from "../../routed-request.ts";

/** The results of a key's requests in the last 24 hours. */
export async function lastDayOf(keyId: string, { storage, gateway }: Pick<ServerContext, "storage" | "gateway">) {
  const { sinceMs, untilMs } = lastDays(1, gateway.clock.wallMs());
  const [sum] = await summariseUsage(storage, { by: [], keyId, sinceMs, untilMs });
  // Includes what this process has counted so far.
  await gateway.refusals.write();
  const [refused] = await sumRefusals(storage, { by: [], keyId, fromMs: sinceMs, toMs: untilMs }, 1);
  return { calls: sum?.calls ?? 0, failures: sum?.failures ?? 0, refusals: refused?.requests ?? 0 };
}
