/** A dependency of the gateway. */
export interface PartCondition {
  part: "storage" | "ledger" | "keys" | "limits" | "memory" | "calls";
  ok: boolean;
  /** What an operator should know. */
  detail: string;
  /** The age of this state. */
  age_ms: number;
}

/** The health of the gateway. */
export interface GatewayCondition {
  /** `degraded`: calls are served and their receipts kept, but a dependency needs attention. */
  status: "ready" | "degraded" | "not ready";
  reasons: readonly string[];
}
