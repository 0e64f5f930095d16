import type { BudgetUse } from "../access/budget.ts";
import type { Cancel } from "../base/clock.ts";
import type { AlertSettings, WebhookSettings } from "../config/config.ts";
import { selectUnpricedUses } from "../storage/receipts/unpriced-uses.ts";
import type { Queries } from "../storage/storage.ts";
import { type StoredDelivery, selectLastTry, takeClaims } from "../storage/tables/alerts.ts";
import { selectFailedBatches } from "../storage/tables/batches.ts";
import { selectExports } from "../storage/tables/exports.ts";
import { makeAlert } from "./alert.ts";
import { batchAlert } from "./batch-alerts.ts";
import { type PassedThreshold, passedThreshold } from "./budget-alerts.ts";
import { credentialAlert, type RefusedCredential } from "./credential-alerts.ts";
import { DeliveryCounts } from "./delivery-counts.ts";
import { type CallCounts, observeErrors, removedFromErrors } from "./error-share.ts";
import { exportAlert } from "./export-alerts.ts";
import { Incidents } from "./incidents.ts";
import { type Observation, type RemovedProvider, removedProvider } from "./observation.ts";
import { Outbox, type OutboxOptions } from "./outbox.ts";
import { attempt, type DeliveryAttempt } from "./post.ts";
import { dueWarnings, type KeyCalls, type RetiringModel, retirementAlert, USED_DAYS } from "./retirement-alerts.ts";
import { unpricedAlert } from "./unpriced-alerts.ts";

interface AlertsOptions extends Omit<OutboxOptions, "settings" | "counts"> {
  settings: AlertSettings;
  /** Everything that can be down, as of now. */
  observe: () => readonly Observation[];
  /** Outcomes of the calls that ended in this range, of all processes. */
  countCalls: (range: { sinceMs: number; untilMs: number }) => Promise<readonly CallCounts[]>;
  /** The configured providers. */
  providers: () => readonly string[];
  /** The models that end soon, and who has called one of them in the last days. */
  models?: {
    retiring: () => readonly RetiringModel[];
    callsOf: (model: string, days: number) => Promise<readonly KeyCalls[]>;
  };
  /** The credentials that their providers refuse, as this process sees it. */
  credentials?: () => readonly RefusedCredential[];
  /** Whether exports are configured. */
  hasExports?: boolean;
}

/** The result of a test. */
export interface TestedWebhook extends Pick<DeliveryAttempt, "ok" | "status" | "error" | "answer"> {
  webhook: string;
  ms: number;
}

const LOOK_EVERY_MS = 30_000;
const MINUTE_MS = 60_000;
/** How often the ledger is asked again whether a model that ends is in use now. */
const USE_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The most that one look reports. */
const MAX_UNPRICED = 100;
/** A batch ends at most a day after it was created. */
const BATCHES_SINCE_MS = 2 * DAY_MS;
const MAX_BATCHES = 1_000;
/** Names already reported are remembered, so that the storage is not queried for each of them again. */
const MAX_KNOWN = 10_000;

/**
 * Sends alerts to webhooks. Everything runs in the background on sums and states that other parts have already
 * computed; no call waits for it. Without webhooks it does nothing.
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
  #batches: Promise<void> | undefined;
  #exports: Promise<void> | undefined;
  #retirements: Promise<unknown> | undefined;
  /** Until when a model is taken to be unused, by the name of its warning. */
  readonly #unused = new Map<string, number>();

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

  /**
   * Never rejects; one look at a time. The ledger is read in parallel with the rest, because its failure to answer is
   * itself a reason for an alert.
   */
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
    this.#batches ??= this.#lookAtBatches().finally(() => {
      this.#batches = undefined;
    });
    this.#retirements ??= Promise.all([this.#lookAtRetirements(), this.#lookAtCredentials()]).finally(() => {
      this.#retirements = undefined;
    });
    if (this.#options.hasExports)
      this.#exports ??= this.#lookAtExports().finally(() => {
        this.#exports = undefined;
      });
    await Promise.all([this.#looking, this.#counting, this.#unpriced, this.#batches, this.#exports, this.#retirements]);
  }

  async #lookAtExports(): Promise<void> {
    const { storage, onProblem } = this.#options;
    try {
      await this.#tellNew((await selectExports(storage)).flatMap((one) => exportAlert(one) ?? []));
    } catch (error) {
      onProblem(error, "looking for failing exports failed");
    }
  }

  async #lookAtCredentials(): Promise<void> {
    const { clock, credentials, onProblem } = this.#options;
    try {
      await this.#tellNew((credentials?.() ?? []).map((one) => credentialAlert(one, clock.wallMs())));
    } catch (error) {
      onProblem(error, "recording that a credential was refused failed");
    }
  }

  async #lookAtRetirements(): Promise<void> {
    const { clock, models, onProblem } = this.#options;
    const nowMs = clock.wallMs();
    try {
      for (const one of models?.retiring() ?? []) {
        const [due] = dueWarnings(one);
        if (due === undefined || this.#known.has(due) || (this.#unused.get(due) ?? 0) > nowMs) continue;
        const alert = retirementAlert(one, (await models?.callsOf(one.model, USED_DAYS)) ?? []);
        if (alert === undefined) this.#unused.set(due, nowMs + USE_EVERY_MS);
        else await this.#tellNew([alert]);
      }
    } catch (error) {
      onProblem(error, "looking for models that end failed");
    }
  }

  async #lookAtBatches(): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    try {
      const range = { sinceMs: clock.wallMs() - BATCHES_SINCE_MS, limit: MAX_BATCHES };
      await this.#tellNew((await selectFailedBatches(storage, range)).map(batchAlert));
    } catch (error) {
      onProblem(error, "looking for failed batches failed");
    }
  }

  async #lookAtUnpriced(): Promise<void> {
    const { storage, clock, onProblem } = this.#options;
    try {
      const uses = await selectUnpricedUses(storage, { sinceMs: clock.wallMs() - DAY_MS, limit: MAX_UNPRICED });
      await this.#tellNew(uses.map(unpricedAlert));
    } catch (error) {
      onProblem(error, "reading use without a known price failed");
    }
  }

  async #lookAtErrors(): Promise<void> {
    const errors = await this.#observeErrors();
    const ended = (subject: string) => removedFromErrors(subject, this.#settings.errors);
    if (errors.length > 0) await this.#incidents.look(errors, this.#removed(ended));
  }

  /** A provider removed from the configuration is no longer observed, so nothing else would end its open incidents. */
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
      onProblem(error, "counting failed calls failed");
      return [];
    }
  }

  /** Compares the use of budgets with the thresholds. Never rejects. */
  async tellBudgets(uses: readonly BudgetUse[], asOfMs: number): Promise<void> {
    const { webhooks, budgetPercent } = this.#settings;
    if (webhooks.length === 0) return;
    for (const use of uses) {
      const passed = passedThreshold(use, budgetPercent, asOfMs);
      if (passed === undefined || this.#known.has(passed.claims[0] ?? "")) continue;
      try {
        await this.#tellOnce(passed);
      } catch (error) {
        this.#options.onProblem(error, "recording that a budget passed a threshold failed");
        return;
      }
    }
    this.#outbox.kick();
  }

  async #tellNew(alerts: readonly PassedThreshold[]): Promise<void> {
    const unknown = alerts.filter(({ claims: [claim = ""] }) => !this.#known.has(claim));
    for (const alert of unknown) await this.#tellOnce(alert);
    if (unknown.length > 0) this.#outbox.kick();
  }

  /** The process that inserts the row first sends the alert, which is stored in the same transaction. */
  async #tellOnce({ claims, expiresAtMs, draft }: PassedThreshold): Promise<void> {
    const [highest = ""] = claims;
    await this.#options.storage.transaction(async (queries) => {
      const taken = await takeClaims(queries, claims, expiresAtMs);
      if (taken.has(highest)) await this.#outbox.put(queries, makeAlert(draft, this.#options));
    });
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(highest);
  }

  /** Sends a test alert once, immediately. */
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

  /** Sends an alert again under its id; `record` writes the audit entry in the same transaction. */
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
