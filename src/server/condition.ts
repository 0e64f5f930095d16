/** One of the things that the gateway depends on. */
export interface PartCondition {
  part: "storage" | "ledger" | "keys" | "limits" | "memory" | "calls";
  ok: boolean;
  /** What an operator should know. */
  detail: string;
  /** Of what is known of it. */
  age_ms: number;
}

/** The health of the gateway. */
export interface Condition {
  /** `degraded`: calls are answered and their receipts kept, but a dependency of the gateway needs attention. */
  status: "ready" | "degraded" | "not ready";
  reasons: readonly string[];
}
