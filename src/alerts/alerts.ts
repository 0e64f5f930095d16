import type { BudgetUse } from "../access/budget-use.ts";
import type { Cancel } from "../base/clock.ts";
import type { AlertSettings, WebhookSettings } from "../config/config.ts";
import { selectUnpricedUses } from "../storage/receipts/unpriced-uses.ts";
import type { Queries } from "../storage/storage.ts";
import { type StoredDelivery, selectLastTry, takeClaims } from "../storage/tables/alerts.ts";
import { makeAlert } from "./alert.ts";
import { passedThreshold } from "./budget-alerts.ts";
import { DeliveryCounts } from "./delivery-counts.ts";
import { type CallCounts, observeErrors, removedFromErrors } from "./error-share.ts";
import { Incidents } from "./incidents.ts";
import { type Observation, type RemovedProvider, removedProvider } from "./observation.ts";
import { Outbox, type OutboxOptions } from "./outbox.ts";
import { type Attempt, attempt } from "./post.ts";
import { unpricedAlert } from "./unpriced-alerts.ts";

interface AlertsOptions extends Omit<OutboxOptions, "settings" | "counts"> {
  settings: AlertSettings;
  /** What can be down, as of now. */
  observe: () => readonly Observation[];
  /** What became of the calls that ended within that time, of all processes. */
  countCalls: (range: { sinceMs: number; untilMs: number }) => Promise<readonly CallCounts[]>;
  /** Names of those that can be called. */
  providers: () => readonly string[];
}

/** How a test went. */
export interface TestedWebhook extends Pick<Attempt, "ok" | "status" | "error" | "answer"> {
  webhook: string;
  ms: number;
}

const LOOK_EVERY_MS = 30_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Of which one look tells. */
const MAX_UNPRICED = 100;
/** Names of what is told already are remembered, so that the storage is not asked for each of them again. */
const MAX_KNOWN = 10_000;

/**
 * Tells webhooks what happens. All of it is in the background: it starts from sums and states that others have made, and nothing
 * here is on the way of a call. Without webhooks it does nothing.
 */
export class Alerts {
  readonly #options: AlertsOptions;
  readonly #outbox: Outbox;
  readonly #incidents: Incidents;
  readonly #known = new Set<string>();
  readonly deliveries = new DeliveryCounts();
  #settings: AlertSettings;
  #looking: Promise<void> | undefined;
  #counting: Promise<void> | undefined;
  #unpriced: Promise<void> | undefined;

  constructor(options: AlertsOptions) {
    this.#options = options;
    this.#settings = options.settings;
    const parts = { ...options, settings: () => this.#settings, counts: this.deliveries };
    this.#outbox = new Outbox(parts);
    this.#incidents = new Incidents(parts, this.#outbox);
  }

  get settings(): AlertSettings {
    return this.#settings;
  }

  reconfigure(settings: AlertSettings): void {
    this.#settings = settings;
    this.#outbox.kick();
  }

  start(): Cancel {
    const stopSending = this.#outbox.start();
    const stopLooking = this.#options.clock.every(LOOK_EVERY_MS, () => void this.look(), { background: true });
    this.#outbox.kick();
    return () => {
      stopSending();
      stopLooking();
    };
  }

  async stop(): Promise<void> {
    this.#incidents.stop();
    await this.#outbox.stop();
  }

  /** Never rejects; one look at a time. The ledger is asked beside the rest: that it does not answer is to be told, too. */
  async look(): Promise<void> {
    if (this.#settings.webhooks.length === 0) return;
    this.#looking ??= this.#incidents.look(this.#observed(), this.#removed(removedProvider)).finally(() => {
      this.#looking = undefined;
    });
    this.#counting ??= this.#lookAtErrors().finally(() => {
      this.#counting = undefined;
    });
    this.#unpriced ??= this.#lookAtUnpriced().finally(() => {
      this.#unpriced = undefined;
    });
    await Promise.all([this.#looking, this.#counting, this.#unpriced]);
  }

  async #lookAtUnpriced(): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    try {
      const uses = await selectUnpricedUses(storage, { sinceMs: clock.wallMs() - DAY_MS, limit: MAX_UNPRICED });
      for (const use of uses) {
        const alert = unpricedAlert(use);
        if (!this.#known.has(alert.claims[0] ?? "")) await this.#tellOnce(alert);
      }
      if (uses.length > 0) this.#outbox.kick();
    } catch (error) {
      onProblem(error, "what was used without a known price could not be read");
    }
  }

  async #lookAtErrors(): Promise<void> {
    const errors = await this.#observeErrors();
    const ended = (subject: string) => removedFromErrors(subject, this.#settings.errors);
    if (errors.length > 0) await this.#incidents.look(errors, this.#removed(ended));
  }

  /** A provider that has left the configuration is looked at no more, so that nothing else would end what is open of it. */
  #removed(ended: (subject: string) => RemovedProvider | undefined) {
    return (subject: string): Observation | undefined => {
      const removed = ended(subject);
      return removed === undefined || this.#options.providers().includes(removed.provider)
        ? undefined
        : removed.observation;
    };
  }

  #observed(): readonly Observation[] {
    const { providerDown, gatewayDegraded } = this.#settings;
    return this.#options
      .observe()
      .filter(({ withoutStore: isGateway }) => (isGateway ? gatewayDegraded : providerDown));
  }

  async #observeErrors(): Promise<readonly Observation[]> {
    const { errors } = this.#settings;
    if (errors.percent === 0) return [];
    const { clock, countCalls, providers, onProblem } = this.#options;
    const untilMs = clock.wallMs();
    try {
      const counts = await countCalls({ sinceMs: untilMs - errors.minutes * MINUTE_MS, untilMs });
      return observeErrors(counts, providers(), errors);
    } catch (error) {
      onProblem(error, "how many calls have failed could not be read");
      return [];
    }
  }

  /** Told what budgets are used to. Never rejects. */
  async tellBudgets(uses: readonly BudgetUse[], asOfMs: number): Promise<void> {
    const { webhooks, budgetPercent } = this.#settings;
    if (webhooks.length === 0) return;
    for (const use of uses) {
      const passed = passedThreshold(use, budgetPercent, asOfMs);
      if (passed === undefined || this.#known.has(passed.claims[0] ?? "")) continue;
      try {
        await this.#tellOnce(passed);
      } catch (error) {
        this.#options.onProblem(error, "that a budget has passed a threshold could not be written down");
        return;
      }
    }
    this.#outbox.kick();
  }

  /** The row that is there first decides who tells; the alert is in the same transaction. */
  async #tellOnce({ claims, expiresAtMs, draft }: NonNullable<ReturnType<typeof passedThreshold>>): Promise<void> {
    const [highest = ""] = claims;
    await this.#options.storage.transaction(async (queries) => {
      const taken = await takeClaims(queries, claims, expiresAtMs);
      if (taken.has(highest)) await this.#outbox.put(queries, makeAlert(draft, this.#options));
    });
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(highest);
  }

  /** Sends an alert that says that it is a test; once, and at once. */
  test(webhooks: readonly WebhookSettings[], abort: AbortSignal): Promise<TestedWebhook[]> {
    const { clock, post } = this.#options;
    const draft = { type: "test", text: "This is a test of Trivium's alerts.", data: {} } as const;
    return Promise.all(
      webhooks.map(async (webhook) => {
        const startedMs = clock.nowMs();
        const alert = makeAlert(draft, this.#options);
        const { ok, status, error, answer } = await attempt(post, alert, webhook, { wallMs: clock.wallMs(), abort });
        return { webhook: webhook.name, ok, status, error, answer, ms: Math.round(clock.nowMs() - startedMs) };
      }),
    );
  }

  /** Sends an alert again, under its id; `record` writes down who wants that, in the same transaction. */
  async deliverAgain(
    alertId: string,
    webhooks: readonly string[],
    record: (queries: Queries) => Promise<void>,
  ): Promise<void> {
    await this.#options.storage.transaction(async (queries) => {
      await this.#outbox.again(queries, alertId, webhooks);
      await record(queries);
    });
    this.#outbox.kick();
  }

  lastTry(webhook: string): Promise<StoredDelivery | undefined> {
    return selectLastTry(this.#options.storage, webhook);
  }
}
