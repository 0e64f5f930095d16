import type { Clock } from "../base/clock.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { KeptVideo, Operation, OperationPart, StoredError } from "../canon/operation.ts";
import type { JobState } from "../media/adapter.ts";
import type { VideoReply } from "../media/video-reply.ts";
import type { Storage } from "../storage/storage.ts";
import { leaseDue, renewLease, saveOperation, selectNextDue } from "../storage/tables/operations.ts";
import { failParts } from "./fail-parts.ts";
import type { Settlement } from "./settlement.ts";

/** Polls jobs and fetches their videos. */
export interface JobRunner {
  /** Polls the provider once. Throws if the poll failed. */
  poll(operation: Operation, part: OperationPart, signal: AbortSignal): Promise<JobState<VideoReply>>;
  /** Between two polls. */
  pollIntervalMs(operation: Operation): number;
  /** Copies a video to the file store before its link expires. */
  keep(operation: Operation, source: VideoReply["videos"][number], signal: AbortSignal): Promise<KeptVideo>;
}

interface PollerOptions {
  storage: Storage;
  runner: JobRunner;
  settlement: Settlement;
  /** The name of this process in leases. */
  owner: string;
  clock: Clock;
  leaseMs?: number;
  /** The longest sleep: another process may have left work. */
  maxSleepMs?: number;
  onProblem: (error: unknown) => void;
  /** A video was generated, and cannot be stored. */
  onUnkept: (operation: Operation, error: GatewayError) => void;
}

const MAX_CONCURRENT = 16;
const MIN_SLEEP_MS = 20;
/** The consecutive polls that may fail before the job counts as lost. */
const MAX_FAILURES = 8;
const MAX_BACKOFF_MS = 60_000;
/** Poll intervals between two attempts to store a video that the store rejected. */
const UNKEPT_INTERVALS = 4;
/** No provider makes longer videos in one job. */
const MAX_VIDEO_SECONDS = 3_600;

/** Another worker took the operation after the lease expired, and will find the same results. */
class LeaseLost extends Error {}

/** Brings operations to their end, whether or not a client polls them. */
export class OperationPoller {
  readonly #options: Required<PollerOptions>;
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #looks = 0;
  #loop: Promise<void> | undefined;
  #wake: () => void = () => {};

  constructor(options: PollerOptions) {
    this.#options = { leaseMs: 60_000, maxSleepMs: 2_000, ...options };
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Call it when there is new work. */
  wake(): void {
    this.#wake();
  }

  /** Stops at once; the next process continues where this one stopped. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#loop;
    await Promise.allSettled(this.#inFlight);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#lookOnce();
      } catch (error) {
        this.#options.onProblem(error);
      }
      await this.#sleep();
    }
  }

  async #lookOnce(): Promise<void> {
    const { storage, clock, leaseMs, settlement } = this.#options;
    await settlement.followOthers();
    const free = MAX_CONCURRENT - this.#inFlight.size;
    if (free <= 0) return;
    const now = clock.nowMs();
    // A new owner name for each round: a process that was suspended may find its own lease expired, and take it again.
    const owner = `${this.#options.owner}/${++this.#looks}`;
    for (const operation of await leaseDue(storage, { owner, untilMs: now + leaseMs }, now, free)) {
      const work = this.#work(operation, owner).finally(() => {
        this.#inFlight.delete(work);
        this.#wake();
      });
      this.#inFlight.add(work);
    }
  }

  async #sleep(): Promise<void> {
    const { storage, clock, maxSleepMs } = this.#options;
    const due = await selectNextDue(storage).catch(() => undefined);
    const dueInMs = (due ?? Number.POSITIVE_INFINITY) - clock.nowMs();
    const waitMs = Math.min(maxSleepMs, Math.max(MIN_SLEEP_MS, dueInMs));
    if (this.#stopping.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = clock.after(waitMs, resolve);
    await promise;
    cancel();
  }

  /** Advances one operation, under this process's lease, as far as possible. */
  async #work(operation: Operation, owner: string): Promise<void> {
    const { storage, clock, leaseMs, onProblem } = this.#options;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, lost.signal]);
    const stopRenewing = clock.every(leaseMs / 3, () => {
      renewLease(storage, operation.id, { owner, untilMs: clock.nowMs() + leaseMs }).then(
        (kept) => kept || lost.abort(new LeaseLost()),
        onProblem,
      );
    });
    try {
      await this.#advance(operation, owner, signal);
    } catch (error) {
      if (error instanceof LeaseLost) return;
      if (!this.#stopping.signal.aborted) onProblem(error);
      // Another process need not wait for the lease of one that stops cleanly.
      else await saveOperation(storage, operation, owner, true).catch(onProblem);
    } finally {
      stopRenewing();
    }
  }

  async #advance(operation: Operation, owner: string, signal: AbortSignal): Promise<void> {
    const { clock, settlement } = this.#options;
    if (operation.state === "submitting") abandonSubmit(operation);
    const now = clock.nowMs();
    const due = operation.parts.filter((part) => part.state === "waiting" && part.dueAtMs <= now);
    const asked = await Promise.allSettled(due.map((part) => this.#ask(operation, part, owner, signal)));
    for (const outcome of asked) if (outcome.status === "rejected") throw outcome.reason;
    if (clock.nowMs() >= operation.deadlineAtMs) {
      for (const part of operation.parts) {
        if (part.state === "waiting") fail(part, part.unkept ?? givenUp(operation));
      }
    }
    const waiting = operation.parts.filter((part) => part.state === "waiting");
    if (waiting.length === 0) {
      await settlement.end(operation, owner);
      return;
    }
    operation.dueAtMs = Math.min(...waiting.map((part) => part.dueAtMs), operation.deadlineAtMs);
    await this.#save(operation, owner, true);
  }

  async #ask(operation: Operation, part: OperationPart, owner: string, signal: AbortSignal): Promise<void> {
    const { runner } = this.#options;
    const { nowMs } = this.#options.clock;
    const pollIntervalMs = runner.pollIntervalMs(operation);
    let state: JobState<VideoReply> | undefined;
    try {
      state = await runner.poll(operation, part, signal);
      if (state.state === "done") await this.#keepAll(operation, part, state.reply, owner, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof LeaseLost) throw thrown;
      const error = asGatewayError(thrown);
      if (state?.state === "done" && isOurs(error)) {
        // Generated and billed: stored as soon as there is space, until its link or the operation expires.
        part.unkept = { kind: error.kind, message: error.message, made: state.reply.videos.length };
        takeFacts(part, state.reply);
        part.dueAtMs = nowMs() + Math.min(MAX_BACKOFF_MS, pollIntervalMs * UNKEPT_INTERVALS);
        this.#options.onUnkept(operation, error);
        return;
      }
      part.failures += 1;
      if (error.kind === "not_found" || part.failures > MAX_FAILURES) return fail(part, error);
      part.dueAtMs = nowMs() + Math.min(MAX_BACKOFF_MS, pollIntervalMs * 2 ** Math.min(part.failures, 6));
      return;
    }
    part.failures = 0;
    if (state.state === "failed") return fail(part, state.error);
    if (state.state === "done") return;
    part.providerJob = state.job;
    part.dueAtMs = nowMs() + (state.afterMs ?? pollIntervalMs);
    if (state.progress !== undefined) part.progress = state.progress;
  }

  async #keepAll(
    operation: Operation,
    part: OperationPart,
    reply: VideoReply,
    owner: string,
    signal: AbortSignal,
  ): Promise<void> {
    for (const source of reply.videos.slice(part.videos.length)) {
      part.videos.push(await this.#options.runner.keep(operation, source, signal));
      await this.#save(operation, owner, false);
    }
    part.filtered = [...reply.filtered];
    takeFacts(part, reply);
    delete part.unkept;
    part.state = "done";
  }

  async #save(operation: Operation, owner: string, release: boolean): Promise<void> {
    if (!(await saveOperation(this.#options.storage, operation, owner, release))) throw new LeaseLost();
  }
}

/** Why an operation ends before its provider has ended it. */
function givenUp({ deadlineAtMs, createdAtMs }: Operation): GatewayError {
  if (deadlineAtMs > createdAtMs) return new GatewayError("upstream_timeout", "The provider took too long.");
  return new GatewayError("upstream_failed", "The operator of this gateway has cancelled this operation.");
}

/** Applies what the provider reports about its videos. */
function takeFacts(part: OperationPart, { seconds, resolution, audio }: VideoReply): void {
  // An impossible length is ignored: the requested one counts instead.
  if (seconds !== undefined && seconds > 0 && seconds <= MAX_VIDEO_SECONDS) part.seconds = seconds;
  if (resolution !== undefined) part.resolution = resolution;
  if (audio !== undefined) part.audio = audio;
}

/** The gateway's own store is full or broken; all other kinds are about the provider, or the video. */
const isOurs = ({ kind }: GatewayError): boolean => kind === "overloaded" || kind === "internal";

/**
 * The process that submitted it is gone. Jobs that the provider is known to have accepted continue; whether the others
 * arrived is unknown, and submitting them again might make a second video.
 */
function abandonSubmit(operation: Operation): void {
  operation.state = "running";
  for (const part of operation.parts) if (part.state === "asking") part.uncertain = true;
  const again = "Submit it again, with a new Idempotency-Key if it had one.";
  const message = `The gateway was stopped while it was submitting this video. ${again}`;
  failParts(operation, { kind: "upstream_failed", message }, ({ state }) => state === "new" || state === "asking");
}

function fail(part: OperationPart, { kind, message }: StoredError): void {
  part.state = "failed";
  part.error = { kind, message };
}
