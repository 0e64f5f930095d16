import type { Cancel } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import {
  beginCreation,
  changeNativeBatch,
  endSubmittedLine,
  keepSent,
  leaseNativeBatch,
  leaveLines,
  type NativeBatch,
  type NativeChange,
  releaseNativeBatch,
  renewNativeLease,
  type SubmittedLine,
  selectSubmittedLines,
  wantPoll,
} from "../storage/tables/native-batches.ts";
import { changeObject, type StoredObject, selectObjects } from "../storage/tables/objects.ts";
import type { BatchError, BatchState, EndedBatch } from "./batch.ts";
import { countOutcome, type LineOutcomes } from "./batch-form.ts";
import { withMoment } from "./batches.ts";
import { type Choice, type ChooseNativeOptions, chooseNative } from "./choose-native.ts";
import { ExpiredClaims, RENEWALS_PER_LEASE } from "./expired-claims.ts";
import { leaveAllLines } from "./leave-all-lines.ts";
import type { NativeLine, NativeProgress, NativeResponse, OwnedBatch } from "./native-work.ts";
import { removeLines } from "./read-input.ts";

interface NativeRunnerOptions extends ChooseNativeOptions, Sources {
  /** The owner of what is claimed here, which the storage knows. */
  instance: string;
  leaseMs: number;
  /** How long a creation without a response may take to appear at the provider. */
  lookupMs: number;
  onProblem: (error: unknown, what: string) => void;
  /** Lines have ended, or were returned to the gateway's own queue. */
  onWork: () => void;
  onSubmitted?: (batch: { id: string; provider: string; lines: number }) => void;
  /** The provider did not take the batch, and the gateway runs it instead. */
  onReturned?: (batch: { id: string; provider: string; reason: string }) => void;
  onEnded?: (batch: EndedBatch) => void;
  /** Given up: its credential is not configured. The provider may bill its lines. */
  onOrphaned?: (batch: { id: string; provider: string; providerId: string | undefined; lines: number }) => void;
  /** Counts the lines that end here. */
  outcomes: LineOutcomes;
  /** Results that belong to no line, and lines without a result. */
  onOddities?: (batch: { id: string; provider: string; strays: number; repeated: number; missing: number }) => void;
}

const TICK_MS = 1_000;
/** How often the provider is asked if no client asks. */
const POLL_MS = 60_000;
/** How often at most for clients, and while a batch is being cancelled. */
const CLIENT_POLL_MS = 2_000;
/** How long a client's poll waits for the provider's answer. */
const CLIENT_WAIT_MS = 2_000;
/** How long after its deadline a batch is awaited that was cancelled at the provider. */
const GRACE_MS = 24 * 60 * 60_000;
/** How long a batch waits for a credential that was removed from the configuration. */
const ORPHANED_MS = 60 * 60_000;
const RETRY_MS = 10_000;
const MAX_TRIES = 5;
const BATCHES_AT_ONCE = 4;
const RESULTS_AT_ONCE = 8;
const LINES_AT_ONCE = 500;

/**
 * Runs batches by providers' batch APIs: submits, polls, cancels, and reads results. All state is in the storage, and a process works on
 * a batch while it has its lease. Whatever was interrupted is done again; only the creation of a batch is looked up first.
 */
export class NativeRunner {
  readonly #options: NativeRunnerOptions;
  readonly #owner: string;
  readonly #expired: ExpiredClaims;
  readonly #working = new Map<string, Promise<void>>();
  /** One batch at a time is written in memory. */
  #submitting: Promise<unknown> = Promise.resolve();
  #stopTicking: Cancel | undefined;
  #isFilling = false;
  #isWanted = false;

  constructor(options: NativeRunnerOptions) {
    this.#options = options;
    this.#owner = options.instance;
    this.#expired = new ExpiredClaims(options.leaseMs);
  }

  start(): void {
    this.#stopTicking = this.#options.clock.every(TICK_MS, () => this.wake());
    this.wake();
  }

  /** Takes no more batches, and leaves those it works on at the next step. Another process continues them. */
  async stop(): Promise<void> {
    this.#stopTicking?.();
    this.#stopTicking = undefined;
    await Promise.all(this.#working.values());
  }

  /** Whether a provider's batch API runs a batch. Its lines are ready for it then. */
  choose(batch: OwnedBatch, object: Pick<StoredObject, "createdAtMs">): Promise<Choice> {
    return chooseNative(this.#options, batch, object);
  }

  /** A client asks for the state of a batch. Asks the provider, unless that was done just now. */
  async poll(id: string): Promise<void> {
    const { storage, clock } = this.#options;
    if (this.#stopTicking === undefined) return;
    if (!(await wantPoll(storage, id, clock.nowMs() - CLIENT_POLL_MS))) return;
    await this.#fill();
    await Promise.race([this.#working.get(id), clock.sleep(CLIENT_WAIT_MS)]);
  }

  wake(): void {
    this.#fill().catch((error: unknown) => this.#options.onProblem(error, "failed to take batches"));
  }

  async #fill(): Promise<void> {
    this.#isWanted = true;
    if (this.#isFilling) return;
    this.#isFilling = true;
    try {
      const { storage, clock } = this.#options;
      while (this.#isWanted && this.#stopTicking !== undefined) {
        this.#isWanted = false;
        while (this.#working.size < BATCHES_AT_ONCE && this.#stopTicking !== undefined) {
          const nowMs = clock.nowMs();
          const batch = await leaseNativeBatch(storage, this.#lease(), nowMs, this.#expired.endedBefore(nowMs));
          this.#expired.answered(clock.nowMs());
          if (batch === undefined) break;
          this.#begin(batch);
        }
      }
    } finally {
      this.#isFilling = false;
    }
  }

  #begin(batch: NativeBatch): void {
    const { storage, clock, leaseMs, onProblem } = this.#options;
    const stopRenewing = clock.every(leaseMs / RENEWALS_PER_LEASE, () => {
      renewNativeLease(storage, batch.id, this.#lease()).catch((error: unknown) =>
        onProblem(error, "failed to renew the lease of a batch"),
      );
    });
    const working = this.#work(batch)
      .catch(async (error: unknown) => {
        onProblem(error, "failed to work on a batch at a provider");
        await this.#change(batch, { dueAtMs: clock.nowMs() + RETRY_MS });
      })
      .finally(async () => {
        stopRenewing();
        await releaseNativeBatch(storage, batch.id, this.#owner);
      })
      .catch((error: unknown) => onProblem(error, "failed to release a batch"))
      .finally(() => {
        this.#working.delete(batch.id);
        this.wake();
      });
    this.#working.set(batch.id, working);
  }

  async #work(batch: NativeBatch): Promise<void> {
    const { storage, clock, jobs } = this.#options;
    const nowMs = clock.nowMs();
    const object = await this.#cancelRevoked((await selectObjects(storage, [batch.id], clock.wallMs())).get(batch.id));
    if (object === undefined) return;
    if (!jobs.isConfigured(batch)) return this.#orphaned(batch, object, nowMs);
    if (batch.deadlineAtMs + GRACE_MS > nowMs) return this.#advance(batch, object, nowMs);
    // What the provider does not say by now, it never will.
    await this.#advance(batch, object, nowMs).catch((error: unknown) =>
      this.#options.onProblem(error, "gave up a batch at a provider"),
    );
    await this.#leave(batch, object);
  }

  /** Its credential was removed from the configuration, perhaps by mistake. Without it the provider's results cannot be read. */
  async #orphaned(batch: NativeBatch, object: StoredObject, nowMs: number): Promise<void> {
    const { phase, lineCount, provider, polledAtMs, sentAtMs } = batch;
    const gone = `The credential of the provider ${provider} that a batch was submitted with is not configured any more.`;
    if (phase === "new") return this.#refused(batch, object, new GatewayError("upstream_credentials", gone));
    if (nowMs - Math.max(polledAtMs, sentAtMs) < ORPHANED_MS) {
      this.#options.onProblem(new Error(gone), "a batch waits for its provider to be configured again");
      return this.#change(batch, { dueAtMs: nowMs + POLL_MS });
    }
    this.#options.onOrphaned?.({ id: batch.id, provider, providerId: batch.providerId, lines: lineCount });
    const owed = `The provider may have run up to ${lineCount} of its requests, whose results and cost are unknown here.`;
    await this.#fail(batch, object, [`${gone} ${owed}`]);
  }

  async #advance(batch: NativeBatch, object: StoredObject, nowMs: number): Promise<void> {
    const isUnwanted = object.state === "cancelling" || batch.deadlineAtMs <= nowMs;
    if (batch.phase === "new") return isUnwanted ? this.#leave(batch, object) : this.#submit(batch, object);
    if (batch.phase === "creating") return this.#find(batch, object);
    await this.#change(batch, { polledAtMs: nowMs, dueAtMs: nowMs + (isUnwanted ? CLIENT_POLL_MS : POLL_MS) });
    if (isUnwanted && !batch.cancelSent) await this.#cancel(batch);
    const progress = await this.#options.jobs.poll(batch);
    if (progress.state === "failed") return this.#fail(batch, object, progress.reasons);
    if (progress.state === "ended") return this.#collect(batch, object, progress);
  }

  /** A revoked key or a suspended project cancels its batches. */
  async #cancelRevoked(object: StoredObject | undefined): Promise<StoredObject | undefined> {
    const { storage, clock, lines } = this.#options;
    if (object?.state !== "in_progress" || (await lines.mayRun(object))) return object;
    const state: BatchState = "cancelling";
    const metadata = withMoment(object, state, clock.wallMs());
    return (await changeObject(storage, object.id, ["in_progress"], { state, metadata }))
      ? { ...object, state, metadata }
      : object;
  }

  /** Ends the lines that the provider has not run. */
  async #leave(batch: NativeBatch, object: StoredObject): Promise<void> {
    await leaveAllLines(this.#options, batch.id, object.state === "cancelling" ? "cancelled" : "expired");
    await this.#end(batch);
  }

  async #end(batch: NativeBatch): Promise<void> {
    await this.#change(batch, { phase: "ended" });
    this.#options.onWork();
  }

  async #submit(batch: NativeBatch, object: StoredObject): Promise<void> {
    const before = this.#submitting;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#submitting = promise;
    try {
      await before;
      if (this.#stopTicking !== undefined) await this.#submitNow(batch, object);
    } finally {
      resolve();
    }
  }

  async #submitNow(batch: NativeBatch, object: StoredObject): Promise<void> {
    const { jobs, clock, onSubmitted, onProblem } = this.#options;
    const { lines, headers } = await this.#written(batch, object);
    if (lines.length === 0) return this.#end(batch);
    const prepared = { ...batch, headers, lineCount: lines.length, tries: batch.tries + 1 };
    let isCreating = false;
    const beforeCreation = async () => {
      const sentAtMs = clock.nowMs();
      const times = { sentAtMs, dueAtMs: sentAtMs + this.#options.lookupMs };
      if (!(await beginCreation(this.#options.storage, prepared, this.#owner, times))) throw new LostLeaseError();
      isCreating = true;
    };
    let providerId: string;
    try {
      providerId = await jobs.submit(prepared, lines, beforeCreation);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      // Another process works on it.
      if (error.cause instanceof LostLeaseError) return;
      // It is looked up when it must have appeared at the provider.
      if (isCreating && jobs.isUncertain(error)) return onProblem(error, "no response to the creation of a batch");
      return this.#refused(prepared, object, error);
    }
    await this.#change(batch, { phase: "running", providerId, dueAtMs: clock.nowMs() + CLIENT_POLL_MS });
    onSubmitted?.({ id: batch.id, provider: batch.provider, lines: lines.length });
  }

  /** The provider has taken nothing. */
  async #refused(batch: NativeBatch, object: StoredObject, error: GatewayError): Promise<void> {
    const { clock, mode, onReturned } = this.#options;
    if (error.rule.retrySameOffer && batch.tries < MAX_TRIES) {
      const dueAtMs = clock.nowMs() + RETRY_MS * 2 ** (batch.tries - 1);
      return this.#change(batch, { phase: "new", tries: batch.tries, dueAtMs });
    }
    if (mode === "native") return this.#fail(batch, object, [error.message]);
    await leaveAllLines(this.#options, batch.id, "waiting");
    onReturned?.({ id: batch.id, provider: batch.provider, reason: error.message });
    await this.#end(batch);
  }

  /** The lines as the provider is sent them. Those that are refused by now run in the gateway's own queue. */
  async #written(
    batch: NativeBatch,
    object: StoredObject,
  ): Promise<{ lines: Uint8Array[]; headers: NativeBatch["headers"] }> {
    const { storage, lines: work, jobs, pace } = this.#options;
    const written: Uint8Array[] = [];
    let headers: NativeBatch["headers"] = {};
    for await (const found of this.#submitted(batch.id)) {
      const prepared = await work.prepare(await this.#toRun(batch, object, found), batch.target);
      if ("body" in prepared) {
        headers = prepared.headers;
        if (prepared.left !== found.sent) await keepSent(storage, batch.id, found.line, prepared.left ?? null);
        written.push(Buffer.from(jobs.line(batch.target, `${batch.marker}-${found.line}`, prepared.body)));
      } else await leaveLines(storage, batch.id, "waiting", [found.line]);
      await pace.rest();
    }
    return { lines: written, headers };
  }

  /** The response to the creation of the batch was lost. */
  async #find(batch: NativeBatch, object: StoredObject): Promise<void> {
    const { jobs, clock, lookupMs, onSubmitted } = this.#options;
    const found = await jobs.find(batch);
    const nowMs = clock.nowMs();
    if (found === "unclear") return this.#change(batch, { dueAtMs: nowMs + lookupMs });
    if (found !== undefined) {
      await this.#change(batch, { phase: "running", providerId: found.id, dueAtMs: nowMs });
      return onSubmitted?.({ id: batch.id, provider: batch.provider, lines: batch.lineCount });
    }
    if (batch.tries < MAX_TRIES) return this.#change(batch, { phase: "new", dueAtMs: nowMs });
    await this.#refused(batch, object, new GatewayError("upstream_failed", "The provider did not create the batch."));
  }

  /** A batch that has just ended cannot be cancelled: its state decides. */
  async #cancel(batch: NativeBatch): Promise<void> {
    const { jobs, onProblem } = this.#options;
    try {
      await jobs.cancel(batch);
    } catch (thrown) {
      onProblem(thrown, "failed to cancel a batch at its provider");
      if (jobs.isUncertain(asGatewayError(thrown))) return;
    }
    await this.#change(batch, { cancelSent: true });
  }

  async #fail(batch: NativeBatch, object: StoredObject, reasons: readonly string[]): Promise<void> {
    if (object.state === "cancelling") return this.#leave(batch, object);
    const { storage, clock, pace, onEnded } = this.#options;
    const shown = reasons.length === 0 ? ["The provider did not run this batch."] : reasons.slice(0, 20);
    const errors: BatchError[] = shown.map((message) => ({ code: "provider_failed", message }));
    const state: BatchState = "failed";
    const metadata = withMoment(object, state, clock.wallMs(), { errors });
    await removeLines(storage, batch.id, pace);
    await changeObject(storage, batch.id, ["in_progress"], { state, metadata });
    await this.#change(batch, { phase: "ended" });
    onEnded?.({ id: batch.id, project: object.project, state, errors });
  }

  async #collect(
    batch: NativeBatch,
    object: StoredObject,
    progress: Extract<NativeProgress, { state: "ended" }>,
  ): Promise<void> {
    const { storage, jobs, clock, pace, onOddities } = this.#options;
    const settling = new Settling(RESULTS_AT_ONCE);
    const seen = new Set<number>();
    const odd = { strays: 0, repeated: 0, missing: 0 };
    const undone =
      object.state === "cancelling" ? "cancelled" : batch.deadlineAtMs <= clock.nowMs() ? "expired" : undefined;
    for await (const { id, outcome } of jobs.results(batch, progress)) {
      if (this.#stopTicking === undefined) return settling.end();
      const line = lineOf(batch, id);
      if (line === undefined) odd.strays++;
      else if (seen.has(line)) odd.repeated++;
      else {
        seen.add(line);
        if (outcome.type !== "response") await leaveLines(storage, batch.id, undone ?? outcome.type, [line]);
        else await settling.add(() => this.#settle(batch, object, line, outcome));
        await pace.rest();
      }
    }
    await settling.end();
    const how = undone ?? progress.how;
    if (how !== "completed") await leaveAllLines(this.#options, batch.id, how);
    for await (const { line } of this.#submitted(batch.id)) {
      odd.missing++;
      await settling.add(() => this.#settle(batch, object, line, undefined));
      await pace.rest();
    }
    await settling.end();
    if (odd.strays + odd.repeated + odd.missing > 0) onOddities?.({ id: batch.id, provider: batch.provider, ...odd });
    await this.#end(batch);
  }

  /** `response` is undefined if the provider has none. */
  async #settle(
    batch: NativeBatch,
    object: StoredObject,
    line: number,
    response: NativeResponse | undefined,
  ): Promise<void> {
    const { storage, lines, outcomes } = this.#options;
    const [found] = await selectSubmittedLines(storage, batch.id, line, 1);
    // It has a result already.
    if (found?.line !== line) return;
    const { sent } = found;
    const settled = { ...(await this.#toRun(batch, object, found)), sent };
    const result = await lines.settle(settled, batch.target, response);
    if (await endSubmittedLine(storage, batch.id, line, result)) countOutcome(outcomes, result);
  }

  async *#submitted(id: string): AsyncGenerator<SubmittedLine> {
    for (let from = 0; ; ) {
      const page = await selectSubmittedLines(this.#options.storage, id, from, LINES_AT_ONCE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < LINES_AT_ONCE) return;
      from = last.line + 1;
    }
  }

  async #toRun(batch: NativeBatch, object: StoredObject, found: SubmittedLine): Promise<NativeLine> {
    const { start, size, line, customId } = found;
    const input = await this.#options.content.open(batch.id, { start, end: start + size });
    const text = input === undefined ? "" : await new Response(input).text();
    return { batch: { ...batch, ...ownerOf(object) }, customId, line, text };
  }

  #change({ id }: NativeBatch, change: NativeChange): Promise<void> {
    return changeNativeBatch(this.#options.storage, id, change);
  }

  #lease() {
    const { clock, leaseMs } = this.#options;
    return { owner: this.#owner, untilMs: clock.nowMs() + leaseMs };
  }
}

const ownerOf = ({ project, keyId, metadata }: StoredObject) => ({ project, keyId, metadata });

/** Another process works on the batch. */
class LostLeaseError extends Error {}

/** The line that a result is for; undefined if it is for none of this batch. */
function lineOf({ marker }: NativeBatch, id: string | undefined): number | undefined {
  if (id === undefined || !id.startsWith(`${marker}-`)) return undefined;
  const line = Number(id.slice(marker.length + 1));
  return Number.isSafeInteger(line) && line > 0 ? line : undefined;
}

/** Work on several results at once. The first failure ends it. */
class Settling {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits until there is room. */
  async add(work: () => Promise<void>): Promise<void> {
    if (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
    const running: Promise<void> = work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
