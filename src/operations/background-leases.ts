import type { Sources } from "../base/sources.ts";
import { type BackgroundWork, deleteWork, insertWork, leaseAbandonedWork } from "../storage/background-work.ts";
import { renewLease } from "../storage/operations.ts";
import type { Storage } from "../storage/storage.ts";

interface BackgroundLeasesOptions extends Sources {
  storage: Storage;
  leaseMs: number;
  onProblem: (error: unknown) => void;
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

  /** Begins; `lost` is called once where the work is not wanted any more. Gives back what ends the lease. */
  async begin(work: BackgroundWork, lost: () => void): Promise<() => Promise<void>> {
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
    return async () => {
      stopRenewing();
      this.#running.delete(work.id);
      await deleteWork(storage, work.project, work.id);
    };
  }

  /** Ends the making of an answer, in whichever process. */
  async cancel(project: string, id: string): Promise<void> {
    this.#end(id);
    await deleteWork(this.#options.storage, project, id);
  }

  /** Passes to `bury` what processes have left that died. */
  async buryAbandoned(
    bury: (work: Pick<BackgroundWork, "id" | "project" | "dialect">) => Promise<void>,
  ): Promise<void> {
    const { storage, clock, random, leaseMs } = this.#options;
    const lease = { owner: random.id(), untilMs: clock.nowMs() + leaseMs };
    for (const work of await leaseAbandonedWork(storage, lease, clock.nowMs(), ABANDONED_AT_ONCE)) {
      await bury(work);
      await deleteWork(storage, work.project, work.id);
    }
  }

  #end(id: string): void {
    const end = this.#running.get(id);
    this.#running.delete(id);
    end?.();
  }
}
