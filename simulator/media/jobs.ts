import { BadGateway } from "../host-error.ts";
import type { Outcome } from "./outcome.ts";

export interface MediaJob<T = unknown> {
  id: string;
  /** The host that took it: a job is known nowhere else. */
  host: string;
  /** Whose it is: another key of the same host does not see it. */
  key: string;
  request: T;
  outcome: Outcome | undefined;
  createdAtMs: number;
  /** Waiting in line until then. */
  startsAtMs: number;
  endsAtMs: number;
  /** How often it was asked about. */
  asked: number;
}

export type Phase = "queued" | "running" | "ended";

/** What a job takes whose outcome is to be slow. */
export const SLOW_JOB_MS = 5_000;
const MAX_JOBS = 10_000;
/** Hosts differ; each of them keeps a job for at least a day. */
const KEPT_MS = 24 * 3_600_000;

/** The jobs of every simulated host. They only progress with the clock. */
export class MediaJobs {
  readonly #nowMs: () => number;
  readonly #takesMs: number;
  readonly #jobs = new Map<string, MediaJob>();
  #made = 0;

  constructor(nowMs: () => number, takesMs: number) {
    this.#nowMs = nowMs;
    this.#takesMs = takesMs;
  }

  /** How many jobs were ever taken: what a real host would bill. */
  get made(): number {
    return this.#made;
  }

  create<T>(job: Pick<MediaJob<T>, "id" | "host" | "key" | "request" | "outcome">): MediaJob<T> {
    const createdAtMs = this.#nowMs();
    const takesMs = job.outcome === "slow" ? Math.max(SLOW_JOB_MS, this.#takesMs) : this.#takesMs;
    const [startsAtMs, endsAtMs] = [createdAtMs + takesMs / 4, createdAtMs + takesMs];
    const made = { ...job, createdAtMs, startsAtMs, endsAtMs, asked: 0 };
    this.#made += 1;
    this.#jobs.set(`${job.host} ${job.id}`, made);
    for (const key of this.#jobs.keys()) {
      if (this.#jobs.size <= MAX_JOBS) break;
      this.#jobs.delete(key);
    }
    return made;
  }

  /** Answers a question about a job. Undefined where the host never knew it, has forgotten it, or took it from another key. */
  find<T>(host: string, id: string, key: string): MediaJob<T> | undefined {
    const job = this.recall<T>(host, id, key);
    if (job === undefined) return undefined;
    job.asked += 1;
    if (job.outcome === "unsteady" && job.asked % 2 === 1) throw new BadGateway();
    return job;
  }

  /** The same where it is not asked how the job stands, but for what it made. */
  recall<T>(host: string, id: string, key: string): MediaJob<T> | undefined {
    const job = this.#jobs.get(`${host} ${id}`);
    if (job === undefined || job.key !== key || job.outcome === "forgotten") return undefined;
    return this.#nowMs() - job.createdAtMs > KEPT_MS ? undefined : (job as MediaJob<T>);
  }

  /** The jobs of one host and key that have not ended, for hosts that limit their number. */
  running(host: string, key: string): number {
    const now = this.#nowMs();
    return [...this.#jobs.values()].filter((job) => job.host === host && job.key === key && job.endsAtMs > now).length;
  }

  phase(job: MediaJob): Phase {
    const now = this.#nowMs();
    if (now >= job.endsAtMs) return "ended";
    return now >= job.startsAtMs ? "running" : "queued";
  }

  /** 0..100 */
  progress(job: MediaJob): number {
    const share = (this.#nowMs() - job.createdAtMs) / Math.max(1, job.endsAtMs - job.createdAtMs);
    return Math.floor(Math.min(1, Math.max(0, share)) * 100);
  }
}
