/** `retried`: a try that failed, and that another one follows. `failed`: none follows, or none was made. */
const DELIVERY_OUTCOMES = ["delivered", "retried", "failed"] as const;

type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

interface DeliveryCount {
  webhook: string;
  outcome: DeliveryOutcome;
  count: number;
}

/** How the tries of this process went since its start, and what waits. Tests that an operator sends are not among them. */
export class DeliveryCounts {
  readonly #counts = new Map<string, Record<DeliveryOutcome, number>>();
  /** Deliveries in the storage that no webhook has taken yet, of all processes, as it was last looked at. */
  stored = 0;
  /** Those that this process makes from memory, while the storage is away. */
  direct = 0;

  get waiting(): number {
    return this.stored + this.direct;
  }

  add(webhook: string, outcome: DeliveryOutcome): void {
    this.#of(webhook)[outcome] += 1;
  }

  /** Of these webhooks, also where nothing was sent yet: what is there from the start is seen to grow. */
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
