import type { Sources } from "../base/sources.ts";
import type { Storage } from "../storage/storage.ts";
import { type BackgroundWork, deleteWork, insertWork, leaseAbandonedWork } from "../storage/tables/background-work.ts";
import { renewLease } from "../storage/tables/operations.ts";

interface BackgroundLeasesOptions extends Sources {
  storage: Storage;
  leaseMs: number;
  onProblem: (error: unknown) => void;
}

/** Of one answer. One of the two is called at its end. */
export interface BackgroundLease {
  /** The answer is stored. */
  release(): Promise<void>;
  /** It could not be stored: when the lease is over, another process ends it. */
  leave(): void;
}

/** How soon another process's cancellation is heard of. */
const LISTEN_MS = 2_000;
const ABANDONED_AT_ONCE = 50;

/** Answers that this process makes in the background, each under a lease, so that every process knows which are still being made. */
export class BackgroundLeases {
  readonly #options: BackgroundLeasesOptions;
  /** How each is ended that this process is making. */
  readonly #running = new Map<string, () => void>();

  constructor(options: BackgroundLeasesOptions) {
    this.#options = options;
  }

  /** How many answers this process makes, or has made and not yet stored. */
  get running(): number {
    return this.#running.size;
  }

  /** Begins; `lost` is called where the work is not wanted any more. */
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

  /** Ends the making of an answer, in whichever process. */
  async cancel(project: string, id: string): Promise<void> {
    this.#end(id);
    await deleteWork(this.#options.storage, project, id);
  }

  /** Passes to `bury` what processes have left that died. */
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
