import type { Clock } from "../base/clock.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Operation } from "../canon/operation.ts";
import { isVisible, type Reader } from "../canon/ownership.ts";
import { isUnavailable } from "../storage/is-unavailable.ts";
import type { Storage } from "../storage/storage.ts";
import {
  cancelVideo,
  claimUnheard,
  deleteExpiredOperations,
  expireOperation,
  forgetIdempotencyKey,
  insertOperation,
  markHeard,
  markUnheard,
  renewLease,
  saveOperation,
  selectByIdempotencyKey,
  selectOpenOperations,
  selectOperation,
  selectVideoPage,
  shortenLeases,
  type VideoPage,
} from "../storage/tables/operations.ts";
import { expectedCostOf } from "./bill.ts";
import { failParts } from "./fail-parts.ts";
import type { OperationPoller } from "./poller.ts";
import type { Settlement } from "./settlement.ts";

const MS_PER_HOUR = 3_600_000;
/** Between two attempts to save a job that a provider has accepted. */
const STORE_RETRY_MS = 100;

interface OperationsOptions {
  storage: Storage;
  settlement: Settlement;
  poller: Pick<OperationPoller, "wake">;
  /** The name of this process in leases. */
  owner: string;
  clock: Clock;
  leaseMs: number;
  /** How long an operation is kept after its end. */
  keptMs: number;
  /** Reserves the estimated cost until the operation has ended. */
  reserve: (operation: Operation, costNanoUsd: number) => void;
}

/** The client that requested an operation. `disconnection` resolves only if it disconnects before the response. */
export interface WaitingClient {
  readonly disconnected: boolean;
  readonly disconnection: Promise<void>;
}

/**
 * Asynchronous jobs from the client's point of view: starting them, finding them, and recognising repeated requests.
 */
export class Operations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /**
   * Saves the operation, lets `submit` send it to its provider, and hands it to the poller. If the provider accepted
   * nothing, the operation ends here with a receipt, and the error is thrown. A client that disconnects before the
   * response does not cancel the job: its repeated request gets this operation.
   */
  async begin(
    operation: Operation,
    client: WaitingClient,
    submit: (save: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { storage, clock, leaseMs, settlement, poller } = this.#options;
    const owner = `${this.#options.owner}/${operation.id}`;
    const lease = () => ({ owner, untilMs: clock.nowMs() + leaseMs });
    if (!(await insertOperation(storage, operation, lease()))) {
      const message = "A request with this Idempotency-Key is already being processed. Retry in a moment.";
      throw new GatewayError("rate_limited", message, { code: "idempotency_key_in_use", retryAfterSeconds: 2 });
    }
    client.disconnection.then(() => markUnheard(storage, operation.id)).catch(() => {});
    const renew = () => void renewLease(storage, operation.id, lease()).catch(() => {});
    const stopRenewing = clock.every(leaseMs / 3, renew);
    // One write after the other: of two concurrent ones the later may be the older state.
    let saving: Promise<unknown> = Promise.resolve();
    const save = (release = false): Promise<void> => {
      const saved = saving.then(async () => {
        if (await saveOperation(storage, operation, owner, release)) return;
        throw new GatewayError("internal", "The operation was taken over while it was being submitted.");
      });
      saving = saved.catch(() => {});
      return saved;
    };
    try {
      await submit(save).catch(async (thrown: unknown) => {
        const { kind, message } = asGatewayError(thrown);
        failParts(operation, { kind, message }, () => true);
        await saving;
        await settlement.end(operation, owner);
        throw thrown;
      });
      operation.state = "running";
      operation.dueAtMs = Math.min(
        ...operation.parts.filter((part) => part.state === "waiting").map((part) => part.dueAtMs),
      );
      await this.#onceStored(operation, async () => {
        // Before the lease is released: otherwise another client's equal request could claim the operation in
        // between.
        if (!client.disconnected) await markHeard(storage, operation.id);
        await save(true);
      });
    } finally {
      stopRenewing();
    }
    poller.wake();
  }

  /**
   * Only this process knows the jobs that a provider has just accepted, and they will be billed: it waits for an
   * unavailable storage as long as its lease lasts (H29).
   */
  async #onceStored(operation: Operation, write: () => Promise<void>): Promise<void> {
    const { storage, leaseMs } = this.#options;
    const { nowMs, sleep } = this.#options.clock;
    const untilMs = nowMs() + leaseMs;
    for (let again = false; ; again = true) {
      try {
        // A write that timed out may still have taken effect, and then the lease is released.
        const stored = again ? await selectOperation(storage, operation.project, operation.id) : undefined;
        if (!stored?.parts.some((part) => part.providerJob) || stored.state === "submitting") await write();
        return;
      } catch (thrown) {
        if (!isUnavailable(thrown) || nowMs() >= untilMs) throw thrown;
      }
      await sleep(STORE_RETRY_MS);
    }
  }

  /** Undefined also for an operation that the reader may not see (S09), and for one that has expired. */
  async find(reader: Reader, id: string): Promise<Operation | undefined> {
    const { storage, clock } = this.#options;
    const found = await selectOperation(storage, reader.project, id);
    if (found === undefined || (found.expiresAtMs ?? Number.POSITIVE_INFINITY) <= clock.nowMs()) return undefined;
    return isVisible({ ...found, share: found.share ?? "project" }, reader) ? found : undefined;
  }

  /** The reader's videos, including those of other protocols' clients. */
  list(reader: Reader, page: Omit<VideoPage, "nowMs">): Promise<Operation[]> {
    const { storage, clock } = this.#options;
    return selectVideoPage(storage, reader, { ...page, nowMs: clock.nowMs() });
  }

  /** Removes an ended operation from its client's view; the sweep deletes the row. False if it has not ended. */
  forget(id: string): Promise<boolean> {
    const { storage, clock } = this.#options;
    return expireOperation(storage, id, clock.nowMs());
  }

  /** Records that the client has received its operation's name. */
  async claim(id: string): Promise<void> {
    await markHeard(this.#options.storage, id);
  }

  claimUnheard(keyId: string, requestDigest: string, sinceMs: number): Promise<Operation | undefined> {
    const { storage, clock } = this.#options;
    return claimUnheard(storage, keyId, requestDigest, sinceMs, clock.nowMs());
  }

  async findByKey(project: string, key: string, sinceMs: number): Promise<Operation | undefined> {
    const { storage } = this.#options;
    const found = await selectByIdempotencyKey(storage, project, key, sinceMs);
    if (found === undefined) await forgetIdempotencyKey(storage, project, key, sinceMs);
    // A submit that certainly did not arrive made nothing: the same key may be used again.
    if (found?.state !== "failed" || found.parts.some((part) => part.providerJob || part.uncertain)) return found;
    await forgetIdempotencyKey(storage, project, key, Number.MAX_SAFE_INTEGER);
    return undefined;
  }

  /** Reserves its cost, at the prices that it will be billed by. */
  reserve(operation: Operation): void {
    this.#options.reserve(operation, expectedCostOf(operation));
  }

  /** Ends it without waiting for its provider, whichever process polls it. False if it has ended. */
  async cancel(id: string): Promise<boolean> {
    const { storage, poller } = this.#options;
    const cancelled = await cancelVideo(storage, id);
    if (cancelled) poller.wake();
    return cancelled;
  }

  open(): Promise<Operation[]> {
    return selectOpenOperations(this.#options.storage);
  }

  get keptHours(): number {
    return this.#options.keptMs / MS_PER_HOUR;
  }

  /** Deletes expired operations, and frees those that a wrong clock would withhold from all processes. */
  async sweep(): Promise<number> {
    const { storage, clock, leaseMs } = this.#options;
    await shortenLeases(storage, clock.nowMs(), leaseMs);
    return await deleteExpiredOperations(storage, clock.nowMs());
  }
}
