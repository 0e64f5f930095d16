/** The health of the gateway. */
export interface Condition {
  /** `degraded`: calls are answered and their receipts kept, but a dependency of the gateway needs attention. */
  status: "ready" | "degraded" | "not ready";
  reasons: readonly string[];
}
