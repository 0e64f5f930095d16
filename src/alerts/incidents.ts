import { withoutAbsent } from "../base/without-absent.ts";
import type { AlertSettings } from "../config/config.ts";
import type { Queries, Storage } from "../storage/storage.ts";
import { closeIncident, openIncident, seeIncidents } from "../storage/tables/alert-incidents.ts";
import { insertAlert, type NewDelivery, type StoredAlert } from "../storage/tables/alerts.ts";
import { type AlertDraft, makeAlert } from "./alert.ts";
import type { Observation } from "./observation.ts";
import { type Outbox, type OutboxOptions, receiversOf } from "./outbox.ts";
import { pausesFor } from "./pauses.ts";
import { attempt } from "./post.ts";

/** The minimum time between two reports of the same subject. */
const PAUSE_MS = 600_000;
/** The owner looks every half minute. */
const STALE_MS = 300_000;
const FORGOTTEN_MS = 3_600_000;
/** A subject must be down for this many looks in a row, so that a momentary failure is not reported. */
const LOOKS = 2;
const RECORD_EVERY_MS = 30_000;
const MAX_RECORDS = 2_880;

/** Where the incident is recorded; `direct` if the storage could not take it. */
type Told = "stored" | "direct";

/** Reports once when something goes down, and once when it is up again, for all processes together. */
export class Incidents {
  readonly #options: OutboxOptions;
  readonly #outbox: Outbox;
  readonly #told = new Map<string, Told>();
  readonly #looks = new Map<string, number>();
  readonly #abort = new AbortController();
  #toldDirectlyMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutboxOptions, outbox: Outbox) {
    this.#options = options;
    this.#outbox = outbox;
  }

  stop(): void {
    this.#abort.abort();
  }

  /** `gone`: how an open incident ends that can no longer be observed; undefined if this look cannot decide it. */
  async look(
    observations: readonly Observation[],
    gone: (subject: string) => Observation | undefined = () => undefined,
  ): Promise<void> {
    const open = await this.#open(observations);
    for (const one of observations) {
      if (one.state === "down") await this.#down(one);
      else await this.#up(one, open);
    }
    for (const subject of new Set([...(open ?? []), ...this.#told.keys()])) {
      const ended = observations.every((one) => one.subject !== subject) && gone(subject);
      if (ended) await this.#up(ended, open);
    }
    this.#outbox.kick();
  }

  /** Undefined while the storage does not answer. */
  async #open(observations: readonly Observation[]): Promise<ReadonlySet<string> | undefined> {
    const { storage, instance: owner, clock } = this.#options;
    const subjects = observations.flatMap(({ state, subject }) => (state === "down" ? [subject] : []));
    // A subject that this process sees for the first time is not taken over here: it may be a new incident.
    const known = subjects.filter((subject) => this.#told.has(subject));
    try {
      return await seeIncidents(storage, { owner, subjects: known, nowMs: clock.wallMs(), staleMs: STALE_MS });
    } catch {
      return undefined;
    }
  }

  async #down(one: Observation): Promise<void> {
    const { subject } = one;
    const looks = (this.#looks.get(subject) ?? 0) + 1;
    this.#looks.set(subject, looks);
    if (looks < LOOKS || this.#told.has(subject)) return;
    const { storage, instance, clock, onProblem } = this.#options;
    const alert = makeAlert(one.down(), this.#options);
    try {
      const found = await storage.transaction(async (queries) => {
        const opening = {
          subject,
          owner: instance,
          nowMs: clock.wallMs(),
          pauseMs: PAUSE_MS,
          forgottenMs: FORGOTTEN_MS,
        };
        const outcome = await openIncident(queries, opening);
        if (outcome === "opened") await this.#outbox.put(queries, alert);
        return outcome;
      });
      if (found !== "too soon") this.#told.set(subject, "stored");
    } catch (error) {
      if (!one.withoutStore) return onProblem(error, `recording that ${subject} is down failed`);
      if (clock.nowMs() - this.#toldDirectlyMs < PAUSE_MS) return;
      this.#toldDirectlyMs = clock.nowMs();
      this.#told.set(subject, "direct");
      void this.#tellDirectly(alert);
    }
  }

  async #up(one: Observation, open: ReadonlySet<string> | undefined): Promise<void> {
    const { subject } = one;
    this.#looks.delete(subject);
    const told = this.#told.get(subject);
    if (open === undefined || (told === undefined && !open.has(subject))) return;
    const { storage, instance, clock, onProblem } = this.#options;
    try {
      await storage.transaction(async (queries) => {
        const closing = { subject, owner: instance, nowMs: clock.wallMs(), staleMs: STALE_MS };
        const closed = open.has(subject) && (await closeIncident(queries, closing));
        if (closed || told === "direct") await this.#put(queries, one.up());
      });
      this.#told.delete(subject);
    } catch (error) {
      onProblem(error, `recording that ${subject} is up again failed`);
    }
  }

  #put(queries: Queries, draft: AlertDraft): Promise<void> {
    return this.#outbox.put(queries, makeAlert(draft, this.#options));
  }

  /** Each process on its own, from memory: without the storage, no row decides which process sends. */
  async #tellDirectly(alert: StoredAlert): Promise<void> {
    const { settings } = this.#options;
    const deliveries = await Promise.all(
      receiversOf(alert.type, settings()).map((receiver) => this.#sendUntilTaken(alert, receiver)),
    );
    await this.#record(alert, deliveries);
  }

  async #sendUntilTaken(alert: StoredAlert, receiver: AlertSettings["webhooks"][number]): Promise<NewDelivery> {
    const { clock, post, settings, counts } = this.#options;
    const { signal: abort } = this.#abort;
    counts.direct += 1;
    for (let tries = 1; ; tries++) {
      const { ok, status, error, isGone } = await attempt(post, alert, receiver, { wallMs: clock.wallMs(), abort });
      const pauseMs = pausesFor(settings().retryHours)[tries - 1];
      if (ok || isGone || pauseMs === undefined || abort.aborted) {
        counts.direct -= 1;
        const state = ok ? ("delivered" as const) : ("failed" as const);
        counts.add(receiver.name, state);
        return withoutAbsent({ webhook: receiver.name, state, tries, status, error });
      }
      counts.add(receiver.name, "retried");
      await clock.sleep(pauseMs);
    }
  }

  /** Adds the alert to the history once the storage takes it. */
  async #record(alert: StoredAlert, deliveries: readonly NewDelivery[]): Promise<void> {
    const { storage, clock } = this.#options;
    for (let tries = 0; tries < MAX_RECORDS && !this.#abort.signal.aborted; tries++) {
      try {
        return await insertWhole(storage, alert, deliveries);
      } catch {
        await clock.sleep(RECORD_EVERY_MS);
      }
    }
  }
}

const insertWhole = (storage: Storage, alert: StoredAlert, deliveries: readonly NewDelivery[]): Promise<void> =>
  storage.transaction((queries) => insertAlert(queries, alert, deliveries));
