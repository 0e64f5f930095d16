import type { Cancel } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { AlertSettings, WebhookSettings } from "../config/config.ts";
import type { Queries, Storage } from "../storage/storage.ts";
import {
  countPending,
  deliverAgain,
  insertAlert,
  type LeasedDelivery,
  leaseDeliveries,
  type NewDelivery,
  releaseDelivery,
  type StoredAlert,
  sweepAlerts,
  writeTry,
} from "../storage/tables/alerts.ts";
import type { DeliveryCounts } from "./delivery-counts.ts";
import { MAX_PAUSE_MS, pausesFor } from "./pauses.ts";
import { attempt, type PostAlert } from "./post.ts";

export interface OutboxOptions extends Sources {
  storage: Storage;
  post: PostAlert;
  /** The name of this process. */
  instance: string;
  settings: () => AlertSettings;
  counts: DeliveryCounts;
  onProblem: (error: unknown, what: string) => void;
}

const EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 3_600_000;
/** Longer than an attempt may take; after it another process tries. */
const LEASE_MS = 60_000;
/** Clocks of several machines differ by less than this. */
const FAR_MS = MAX_PAUSE_MS + 600_000;
const AT_ONCE = 8;
const MAX_PENDING = 1_000;
const DAY_MS = 86_400_000;
/** Longer than all attempts together may take. */
const ABANDONED_MS = 10 * DAY_MS;
const FORGOTTEN_MS = 90 * DAY_MS;

const TOO_MANY = `not sent: ${MAX_PENDING} deliveries are already pending`;

/** The webhooks that subscribe to this type. */
export const receiversOf = (type: string, { webhooks }: AlertSettings): readonly WebhookSettings[] =>
  webhooks.filter(({ events }) => events === undefined || events.some((event) => event === type));

/**
 * Alerts wait in the storage until each webhook has accepted them. The process that holds a delivery's lease makes the
 * next attempt; if it dies, another takes over. A webhook may therefore receive an alert twice, under the same id.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #abort = new AbortController();
  #delivering: Promise<void> | undefined;
  #wanted = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  start(): Cancel {
    const { clock } = this.#options;
    const cancels = [
      clock.every(EVERY_MS, () => this.kick(), { background: true }),
      clock.every(SWEEP_EVERY_MS, () => void this.#sweep(), { background: true }),
    ];
    return () => {
      for (const cancel of cancels) cancel();
    };
  }

  /**
   * Call it within a transaction, so that the alert is stored together with what caused it, or not at all. `kick`
   * sends it.
   */
  async put(queries: Queries, alert: StoredAlert): Promise<void> {
    const receivers = receiversOf(alert.type, this.#options.settings());
    const isFull = (await countPending(queries)) + receivers.length > MAX_PENDING;
    const deliveries = receivers.map(({ name }): NewDelivery => {
      if (isFull) return { webhook: name, state: "failed", tries: 0, error: TOO_MANY };
      return { webhook: name, state: "pending", tries: 0 };
    });
    await insertAlert(queries, alert, deliveries);
    if (isFull) for (const { name } of receivers) this.#options.counts.add(name, "failed");
  }

  /**
   * Sends an alert again to these webhooks. Call it within a transaction, like `put`. An alert that is being sent is
   * not sent twice.
   */
  async again(queries: Queries, alertId: string, webhooks: readonly string[]): Promise<void> {
    const nowMs = this.#options.clock.wallMs();
    if ((await countPending(queries)) + webhooks.length > MAX_PENDING) {
      throw new GatewayError(
        "overloaded",
        `${MAX_PENDING} deliveries are already pending. Retry when they have been sent.`,
      );
    }
    for (const webhook of webhooks) await deliverAgain(queries, { alertId, webhook, nowMs });
  }

  /** Delivers what is due, and once more if more was put in the meantime. */
  kick(): void {
    if (this.#abort.signal.aborted) return;
    if (this.#delivering !== undefined) {
      this.#wanted = true;
      return;
    }
    const { onProblem } = this.#options;
    this.#delivering = this.#deliverDue()
      .catch((error: unknown) => onProblem(error, "reading pending alerts failed"))
      .finally(() => {
        this.#delivering = undefined;
        if (!this.#wanted) return;
        this.#wanted = false;
        this.kick();
      });
  }

  /** Aborts what is being sent: the next process sends it again. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#delivering;
  }

  async #deliverDue(): Promise<void> {
    const { storage, clock, instance, settings, counts } = this.#options;
    for (;;) {
      const webhooks = settings().webhooks.map(({ name }) => name);
      if (webhooks.length === 0 || this.#abort.signal.aborted) return;
      const due = await leaseDeliveries(storage, {
        webhooks,
        owner: instance,
        nowMs: clock.wallMs(),
        leaseMs: LEASE_MS,
        farMs: FAR_MS,
        limit: AT_ONCE,
      });
      await Promise.all(due.map((delivery) => this.#deliver(delivery)));
      if (due.length < AT_ONCE) {
        counts.stored = await countPending(storage);
        return;
      }
    }
  }

  async #deliver({ id, alertId, webhook, tries, type, body }: LeasedDelivery): Promise<void> {
    const { storage, clock, instance: owner, settings, counts, post, onProblem } = this.#options;
    const { webhooks, retryHours } = settings();
    const receiver = webhooks.find(({ name }) => name === webhook);
    const { signal } = this.#abort;
    try {
      if (receiver === undefined || signal.aborted) return await releaseDelivery(storage, id, owner);
      const now = { wallMs: clock.wallMs(), abort: signal };
      const { ok, status, error, retryAfterMs, isGone } = await attempt(
        post,
        { id: alertId, type, body },
        receiver,
        now,
      );
      if (!ok && signal.aborted) return await releaseDelivery(storage, id, owner);
      const pauseMs = isGone ? undefined : pausesFor(retryHours)[tries];
      const outcome = ok ? "delivered" : pauseMs === undefined ? "failed" : "retried";
      const triedAtMs = clock.wallMs();
      await writeTry(storage, {
        id,
        owner,
        state: outcome === "retried" ? "pending" : outcome,
        tries: tries + 1,
        triedAtMs,
        dueAtMs: triedAtMs + Math.min(MAX_PAUSE_MS, Math.max(pauseMs ?? 0, retryAfterMs)),
        status,
        error,
      });
      counts.add(webhook, outcome);
      if (outcome === "failed")
        onProblem(error, `every attempt to deliver the alert ${alertId} to the webhook ${webhook} failed`);
    } catch (error) {
      onProblem(error, "recording the delivery of an alert failed: it will be sent again");
    }
  }

  async #sweep(): Promise<void> {
    const { storage, clock, settings, onProblem } = this.#options;
    if (settings().webhooks.length === 0) return;
    const nowMs = clock.wallMs();
    const moments = { abandonedMs: nowMs - ABANDONED_MS, forgottenMs: nowMs - FORGOTTEN_MS, nowMs };
    await sweepAlerts(storage, moments).catch((error: unknown) => onProblem(error, "removing old alerts failed"));
  }
}
