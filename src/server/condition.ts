/** How the gateway is. */
export interface Condition {
  /** `degraded`: calls are answered and their receipts kept, and something behind the gateway needs to be looked at. */
  status: "ready" | "degraded" | "not ready";
  reasons: readonly string[];
}
