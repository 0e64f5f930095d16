/** `retried`: the attempt failed, and another one follows. `failed`: none follows, or none was made. */
const DELIVERY_OUTCOMES = ["delivered", "retried", "failed"] as const;

type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

interface DeliveryCount {
  webhook: string;
  outcome: DeliveryOutcome;
  count: number;
}

/**
 * Outcomes of this process's attempts since its start, and the pending deliveries. Tests by an operator do not count.
 */
export class DeliveryCounts {
  readonly #counts = new Map<string, Record<DeliveryOutcome, number>>();
  /** Pending deliveries in the storage, of all processes, at the last look. */
  stored = 0;
  /** Deliveries that this process makes from memory while the storage is unavailable. */
  direct = 0;

  get waiting(): number {
    return this.stored + this.direct;
  }

  add(webhook: string, outcome: DeliveryOutcome): void {
    this.#of(webhook)[outcome] += 1;
  }

  /** Includes webhooks that nothing was sent to yet: a counter must start at 0 for its growth to be seen. */
  list(webhooks: readonly string[]): DeliveryCount[] {
    for (const webhook of webhooks) this.#of(webhook);
    return [...this.#counts].flatMap(([webhook, counts]) =>
      DELIVERY_OUTCOMES.map((outcome) => ({ webhook, outcome, count: counts[outcome] })),
    );
  }

  #of(webhook: string): Record<DeliveryOutcome, number> {
    const counts = this.#counts.get(webhook) ?? { delivered: 0, retried: 0, failed: 0 };
    this.#counts.set(webhook, counts);
    return counts;
  }
}
