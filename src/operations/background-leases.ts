import type { Sources } from "../base/sources.ts";
import type { Storage } from "../storage/storage.ts";
import { type BackgroundWork, deleteWork, insertWork, leaseAbandonedWork } from "../storage/tables/background-work.ts";
import { renewLease } from "../storage/tables/operations.ts";

interface BackgroundLeasesOptions extends Sources {
  storage: Storage;
  leaseMs: number;
  onProblem: (error: unknown) => void;
}

/** The lease of one answer. Call one of the two at its end. */
export interface BackgroundLease {
  /** The answer is stored. */
  release(): Promise<void>;
  /** It could not be stored: another process ends it when the lease expires. */
  leave(): void;
}

/** How soon another process's cancellation is noticed. */
const LISTEN_MS = 2_000;
const ABANDONED_AT_ONCE = 50;

/**
 * Answers that this process makes in the background, each under a lease, so that every process knows which are still
 * running.
 */
export class BackgroundLeases {
  readonly #options: BackgroundLeasesOptions;
  /** Ends each answer that this process is making. */
  readonly #running = new Map<string, () => void>();

  constructor(options: BackgroundLeasesOptions) {
    this.#options = options;
  }

  /** How many answers this process is making, or has made and not stored yet. */
  get running(): number {
    return this.#running.size;
  }

  /** Begins; `lost` is called if the work was cancelled. */
  async begin(work: BackgroundWork, lost: () => void): Promise<BackgroundLease> {
    const { storage, clock, random, leaseMs, onProblem } = this.#options;
    const owner = random.id();
    const lease = () => ({ owner, untilMs: clock.nowMs() + leaseMs });
    await insertWork(storage, work, lease());
    const stopRenewing = clock.every(Math.min(leaseMs / 3, LISTEN_MS), () => {
      renewLease(storage, work.id, lease()).then((kept) => kept || this.#end(work.id), onProblem);
    });
    this.#running.set(work.id, () => {
      stopRenewing();
      lost();
    });
    const leave = () => {
      stopRenewing();
      this.#running.delete(work.id);
    };
    return { leave, release: () => deleteWork(storage, work.project, work.id).finally(leave) };
  }

  /** Cancels an answer, whichever process makes it. */
  async cancel(project: string, id: string): Promise<void> {
    this.#end(id);
    await deleteWork(this.#options.storage, project, id);
  }

  /** Passes the work of dead processes to `bury`. */
  async buryAbandoned(
    bury: (work: Pick<BackgroundWork, "id" | "project" | "keyId" | "dialect">) => Promise<void>,
  ): Promise<void> {
    const { storage, clock, random, leaseMs } = this.#options;
    const lease = { owner: random.id(), untilMs: clock.nowMs() + leaseMs };
    for (const work of await leaseAbandonedWork(storage, lease, clock.nowMs(), ABANDONED_AT_ONCE)) {
      await bury(work);
      await deleteWork(storage, work.project, work.id);
    }
  }

  #end(id: string): void {
    this.#running.get(id)?.();
  }
}
