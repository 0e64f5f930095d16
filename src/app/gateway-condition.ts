import type { Leases } from "../leases/leases.ts";
import type { LedgerWriter } from "../ledger/writer.ts";
import type { GatewayCondition, PartCondition } from "../server/condition.ts";
import type { Changes } from "../storage/changes.ts";
import type { InstanceHeartbeat } from "./instance-heartbeat.ts";

/** Changes are polled five times a second; this long without a response is more than a brief failure. */
const BLIND_MS = 3_000;

interface Parts {
  phase: "starting" | "running" | "draining";
  changes: Pick<Changes, "blindMs">;
  ledger: LedgerWriter;
  heartbeat: InstanceHeartbeat;
  /** Absent where limits are not shared. */
  leases?: Pick<Leases, "trouble" | "isParted"> | undefined;
}

/**
 * The health of the gateway, from what its parts have observed. Nothing is queried, so a dependency that hangs does not delay
 * it (H29). Calls need the storage only for their receipts, which wait in memory while it is unavailable.
 */
export function gatewayCondition({ phase, changes, ledger, heartbeat, leases }: Parts): GatewayCondition {
  const reasons: string[] = [];
  if (ledger.trouble !== undefined) reasons.push(ledger.trouble);
  if (heartbeat.trouble !== undefined) reasons.push(heartbeat.trouble);
  if (leases?.trouble !== undefined) reasons.push(sharingTrouble(leases));
  if (changes.blindMs > BLIND_MS) {
    const seconds = Math.round(changes.blindMs / 1000);
    reasons.push(
      `API keys were last read ${seconds} s ago: keys revoked since then by other processes are still accepted`,
    );
  }
  if (phase !== "running") return { status: "not ready", reasons: [phase, ...reasons] };
  const { refusal } = ledger;
  if (refusal !== undefined)
    return { status: "not ready", reasons: [`receipts cannot be stored: ${refusal}`, ...reasons] };
  return { status: reasons.length === 0 ? "ready" : "degraded", reasons };
}

/** The cause is only logged, because it may contain the address of the server. */
const sharingTrouble = ({ isParted }: Pick<Leases, "isParted">): string =>
  isParted
    ? "limit sharing is unavailable: each instance uses an equal share of every limit"
    : "limit sharing is unavailable: this instance uses the share of the limits that it already holds";

interface DetailedParts extends Omit<Parts, "phase"> {
  memory: { readonly held: number };
  runningCalls: number;
}

/** The state of each part, for operators. It is informational, and nothing is queried. */
export function partConditions({
  changes,
  ledger,
  heartbeat,
  leases,
  memory,
  runningCalls,
}: DetailedParts): PartCondition[] {
  const waiting = `${ledger.queued} receipts queued, ${ledger.lost} lost`;
  return [
    {
      part: "storage",
      ok: heartbeat.trouble === undefined,
      detail: heartbeat.trouble ?? "writable",
      age_ms: heartbeat.ageMs,
    },
    {
      part: "ledger",
      ok: ledger.trouble === undefined && ledger.refusal === undefined,
      detail: ledger.trouble ?? waiting,
      age_ms: Math.round(ledger.oldestMs),
    },
    {
      part: "keys",
      ok: changes.blindMs <= BLIND_MS,
      detail: "read from the database",
      age_ms: Math.round(changes.blindMs),
    },
    {
      part: "limits",
      ok: leases?.trouble === undefined,
      detail: leases === undefined ? "not shared" : leases.trouble === undefined ? "shared" : sharingTrouble(leases),
      age_ms: 0,
    },
    { part: "memory", ok: true, detail: `${memory.held} bytes in use by calls`, age_ms: 0 },
    { part: "calls", ok: true, detail: `${runningCalls} in flight`, age_ms: 0 },
  ];
}
