import type { Cancel } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { insertReady, makeReady } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type ClaimedLine,
  claimLines,
  endLine,
  endWaitingLines,
  freeLines,
  type LineResult,
  refuseLines,
  renewLineLeases,
  returnLine,
  sumHeld,
} from "../storage/tables/batch-lines.ts";
import {
  leaseBatch,
  type OpenBatch,
  releaseBatch,
  releaseBatches,
  renewBatchLeases,
  selectOpenBatches,
} from "../storage/tables/batches.ts";
import { changeObject, type StoredObject, selectObjects } from "../storage/tables/objects.ts";
import type { BatchError, BatchState, EndedBatch } from "./batch.ts";
import { type BatchForm, countOutcome, type LineOutcomes } from "./batch-form.ts";
import { BatchHolds } from "./batch-holds.ts";
import { BatchOutput } from "./batch-output.ts";
import { withMoment } from "./batches.ts";
import type { Choice } from "./choose-native.ts";
import { ExpiredClaims, RENEWALS_PER_LEASE } from "./expired-claims.ts";
import { InputReader } from "./input-reader.ts";
import type { LinePace } from "./line-pace.ts";
import type { LineWork } from "./line-work.ts";
import type { BatchMode } from "./native-work.ts";
import { readInput, removeLines } from "./read-input.ts";
import { Refusals } from "./refusals.ts";

/** The providers' batch APIs, if they may run batches. */
interface NativeBatches {
  choose(batch: OpenBatch, object: Pick<StoredObject, "createdAtMs">): Promise<Choice>;
  wake(): void;
}

interface BatchRunnerOptions extends Sources {
  /** The owner of what is claimed here, which the storage knows. */
  instance: string;
  storage: Storage;
  content: ObjectContent;
  forms: Readonly<Record<string, BatchForm>>;
  work: LineWork;
  native: NativeBatches;
  mode: BatchMode;
  /** How many lines run at once, in all processes together. */
  maxConcurrent: number;
  maxLineBytes: number;
  /** How long output files are kept; if absent, until they are deleted. */
  retentionMs?: number | undefined;
  leaseMs: number;
  /** How many processes run lines. */
  processes: () => number;
  pace: LinePace;
  onProblem: (error: unknown, what: string) => void;
  /** Counts the lines that end here. */
  outcomes: LineOutcomes;
  /** Called at the start if batches wait for an operator. */
  onHeld?: (ids: readonly string[]) => void;
  /** Called when a batch ends, for the log. */
  onEnded?: (batch: EndedBatch) => void;
}

/** A line whose result is not stored yet. */
interface DoneLine {
  line: ClaimedLine;
  result: LineResult;
}

const TICK_MS = 1_000;
/** How often a drain looks whether lines still run. */
const LOOK_MS = 20;
/** How often what other processes have run of a batch is subtracted from what is held for it. */
const HOLD_MS = 5_000;
/** Batches whose input is read, or whose output is written, at once. */
const MAX_TASKS = 4;
/** Results that are stored in one transaction. */
const RESULTS_AT_ONCE = 20;
/** Far less than a call takes. */
const GROUP_MS = 10;
const ROWS_AT_ONCE = 100;
/** When a line is tried again that could not be run, or whose input could not be read. */
const RETRY_MS = 10_000;

/**
 * Runs the lines of batches as ordinary calls. All state is in the storage. Any process runs lines, each under a lease. One process
 * at a time has the lease of a batch: it reads the input, holds the money and writes the output. Another takes it over if it dies.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #owner: string;
  readonly #expired: ExpiredClaims;
  readonly #pace: LinePace;
  readonly #input: InputReader;
  readonly #output: BatchOutput;
  readonly #holds: BatchHolds;
  readonly #refusals = new Refusals();
  /** The lines that run here, until their results are stored. */
  readonly #running = new Map<ClaimedLine, Promise<void>>();
  readonly #done: DoneLine[] = [];
  /** Work on whole batches. */
  readonly #tasks = new Map<string, Promise<void>>();
  /** As of the last tick. */
  #open: readonly OpenBatch[] = [];
  #stopTicking: Cancel | undefined;
  #isDraining = false;
  #isTicking = false;
  #isWanted = false;
  #isAdvancing = false;
  #isAdvanceWanted = false;
  #isAdvanceSoon = false;
  /** A result could not be stored with others. */
  #storesSingly = false;
  #lastProject = "";

  constructor(options: BatchRunnerOptions) {
    const { instance, content, work, pace, retentionMs, leaseMs } = options;
    this.#options = options;
    this.#owner = instance;
    this.#expired = new ExpiredClaims(leaseMs);
    this.#pace = pace;
    this.#input = new InputReader(content);
    this.#output = new BatchOutput({ ...options, retentionMs });
    this.#holds = new BatchHolds((batch, costNanoUsd) => work.hold(batch, costNanoUsd));
  }

  start(): void {
    const { clock, leaseMs, storage } = this.#options;
    const stops = [
      clock.every(TICK_MS, () => this.wake()),
      clock.every(leaseMs / RENEWALS_PER_LEASE, () => {
        const lines = [...this.#running.keys()];
        this.#report(renewLineLeases(storage, lines, this.#lease()), "failed to renew the leases of batch lines");
        const hasBatches = this.#tasks.size > 0 || this.#open.some((batch) => this.#isOwn(batch));
        if (hasBatches) this.#report(renewBatchLeases(storage, this.#lease()), "failed to renew the leases of batches");
      }),
    ];
    this.#stopTicking = () => {
      for (const stop of stops) stop();
    };
    this.wake();
  }

  /** Takes no more lines, and lets those that run end: their calls cost money, whether or not somebody waits for them. */
  async drain(seconds: number, hurry?: AbortSignal): Promise<void> {
    const { nowMs, sleep } = this.#options.clock;
    this.#isDraining = true;
    for (const untilMs = nowMs() + seconds * 1000; nowMs() < untilMs && !hurry?.aborted; await sleep(LOOK_MS))
      if (this.#running.size === 0) return;
  }

  /** Ends what it does for batches. Other processes continue with them at once. */
  async stop(): Promise<void> {
    this.#stopTicking?.();
    this.#stopTicking = undefined;
    await Promise.all([...this.#running.values(), ...this.#tasks.values()]);
    this.#advance();
    while (this.#isAdvancing) await this.#options.clock.sleep(5);
    await releaseBatches(this.#options.storage, this.#owner);
  }

  /** There may be something to do. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isTicking || this.#isStopped()) return;
    this.#isTicking = true;
    const done = this.#tick().finally(() => {
      this.#isTicking = false;
      if (this.#isWanted) this.wake();
    });
    this.#report(done, "failed to work on batches");
  }

  readonly #isStopped = (): boolean => this.#stopTicking === undefined;

  async #tick(): Promise<void> {
    while (this.#isWanted && !this.#isStopped()) {
      this.#isWanted = false;
      await this.#look();
      for (const batch of this.#open) await this.#attend(batch);
      if (this.#open.length > 0) this.#advance();
    }
  }

  async #look(): Promise<void> {
    const { storage, clock } = this.#options;
    this.#open = await selectOpenBatches(storage);
    this.#expired.answered(clock.nowMs());
    this.#holds.keepOnly(this.#open.filter((batch) => this.#isOwn(batch)));
    this.#refusals.keepOnly(this.#open);
    if (this.#open.length > 0) await freeLines(storage, this.#expired.endedBefore(clock.nowMs()));
  }

  /** Takes over the batches of processes that have stopped or died, and holds what is left of them. Nothing runs yet. */
  async prepare(): Promise<void> {
    await this.#look();
    const held = this.#open.filter(({ isHeld }) => isHeld);
    if (held.length > 0) this.#options.onHeld?.(held.map(({ id }) => id));
    for (const batch of this.#open)
      if (batch.state !== "validating" && (await this.#take(batch))) await this.#hold(batch);
  }

  /** Whether this process has the lease of a batch now. */
  async #take(batch: OpenBatch): Promise<boolean> {
    const { storage, clock } = this.#options;
    if (this.#isOwn(batch)) return true;
    const endedBeforeMs = this.#expired.endedBefore(clock.nowMs());
    if (batch.leaseUntilMs >= endedBeforeMs && !batch.isAbandoned) return false;
    if (!(await leaseBatch(storage, batch.id, this.#lease(), endedBeforeMs))) return false;
    batch.leaseOwner = this.#owner;
    return true;
  }

  async #hold(batch: OpenBatch): Promise<void> {
    const { storage, clock } = this.#options;
    this.#holds.set(batch, await sumHeld(storage, batch.id), clock.nowMs());
  }

  #isOwn({ leaseOwner }: OpenBatch): boolean {
    return leaseOwner === this.#owner;
  }

  /** Does what the process with the lease of a batch has to do. */
  async #attend(batch: OpenBatch): Promise<void> {
    const { storage, clock } = this.#options;
    if (this.#tasks.has(batch.id)) return;
    // Another process may have time for it.
    if (batch.state === "validating" && this.#tasks.size >= MAX_TASKS) return;
    const nowMs = clock.nowMs();
    if (!(await this.#take(batch))) return;
    if (batch.state === "validating") return this.#begin(batch, () => this.#validate(batch));
    const unwanted =
      batch.state === "cancelling" ? "cancelled" : batch.deadlineAtMs <= nowMs ? ("expired" as const) : undefined;
    if (unwanted !== undefined) {
      for (let ended = ROWS_AT_ONCE; ended === ROWS_AT_ONCE; await this.#pace.rest()) {
        ended = await endWaitingLines(storage, batch.id, unwanted, ROWS_AT_ONCE);
        // Perhaps they were the last.
        if (ended > 0) this.#isWanted = true;
      }
    }
    if (!batch.hasLines) return this.#begin(batch, () => this.#finish(batch));
    if (this.#holds.ageMs(batch.id, nowMs) >= HOLD_MS) await this.#hold(batch);
  }

  #begin(batch: OpenBatch, work: () => Promise<void>): void {
    if (this.#tasks.size >= MAX_TASKS) return;
    const task = work().then(
      () => {
        this.#tasks.delete(batch.id);
        this.wake();
      },
      (error: unknown) => {
        // The next tick tries again.
        this.#tasks.delete(batch.id);
        this.#options.onProblem(error, `failed to work on the batch ${batch.id}`);
      },
    );
    this.#tasks.set(batch.id, task);
  }

  /** Reads the whole input before any line runs. Nothing runs if one of them is malformed. */
  async #validate(batch: OpenBatch): Promise<void> {
    const { work, forms, clock } = this.#options;
    const form = forms[batch.form];
    // It may have been read since it was listed.
    if (form === undefined || (await this.#find(batch.id))?.state !== "validating") return;
    const tools = { ...this.#options, isStopped: this.#isStopped };
    const found = await readInput(batch, form, { ...tools, estimate: (line) => work.estimate(line) });
    if (found === undefined) return;
    if ("code" in found) return await this.#fail(batch, [found]);
    try {
      await work.reserve(batch, found.heldNanoUsd);
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      return await this.#refuse(batch, form, refusal);
    }
    this.#holds.set(batch, found.heldNanoUsd, clock.nowMs());
    if (!(await this.#chooseNative(batch))) return;
    await this.#change(batch, ["validating"], "in_progress");
    this.#options.native.wake();
  }

  /** False if no provider's batch API can run it, and the gateway may not. */
  async #chooseNative(batch: OpenBatch): Promise<boolean> {
    const { native, mode } = this.#options;
    const object = await this.#find(batch.id);
    if (object === undefined) return false;
    const choice = await native.choose(batch, object);
    if (choice.isNative || mode !== "native") return true;
    const message = `No provider's batch API can run this batch. ${choice.reason}`;
    await this.#fail(batch, [{ code: "not_native", message }]);
    return false;
  }

  /** A protocol without a state for it shows the failure in each line. */
  async #refuse(batch: OpenBatch, form: BatchForm, refusal: GatewayError): Promise<void> {
    const { storage, work } = this.#options;
    if (!form.failsByLine) {
      return await this.#fail(batch, [{ code: "insufficient_budget", message: refusal.message }]);
    }
    const result = work.refused(batch, refusal);
    while (await refuseLines(storage, batch.id, result, ROWS_AT_ONCE)) await this.#pace.rest();
    await this.#change(batch, ["validating"], "in_progress");
  }

  async #fail(batch: OpenBatch, errors: readonly BatchError[]): Promise<void> {
    const { storage, onEnded } = this.#options;
    await removeLines(storage, batch.id, this.#pace);
    if (!(await this.#change(batch, ["validating"], "failed", { errors }))) return;
    await releaseBatch(storage, batch.id, this.#owner);
    onEnded?.({ id: batch.id, project: batch.project, state: "failed", errors });
  }

  async #finish({ id, form: name }: OpenBatch): Promise<void> {
    const { storage, forms, onEnded } = this.#options;
    const [batch, form] = [await this.#find(id), forms[name]];
    if (batch === undefined || form === undefined) return;
    // It may have ended since it was listed.
    const isOpen = batch.state === "in_progress" || batch.state === "cancelling";
    const state = isOpen ? await this.#output.write(batch, form) : undefined;
    if (isOpen && state === undefined) return;
    await releaseBatch(storage, id, this.#owner);
    if (state !== undefined) onEnded?.({ id, project: batch.project, state });
  }

  /** A line has ended. Those that end in the next moment are stored together with it. */
  #advanceSoon(): void {
    if (this.#isAdvanceSoon || this.#isStopped()) return;
    this.#isAdvanceSoon = true;
    this.#options.clock.after(GROUP_MS, () => {
      this.#isAdvanceSoon = false;
      this.#advance();
    });
  }

  /** Stores results, and takes the next lines. */
  #advance(): void {
    this.#isAdvanceWanted = true;
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    const advance = async () => {
      while (this.#isAdvanceWanted) {
        this.#isAdvanceWanted = false;
        await this.#storeAndClaim();
      }
    };
    const done = advance().finally(() => {
      this.#isAdvancing = false;
    });
    this.#report(done, "failed to store results of batch lines, or to take more");
  }

  async #storeAndClaim(): Promise<void> {
    const { storage, clock, maxConcurrent } = this.#options;
    const done = this.#done.splice(0, this.#storesSingly ? 1 : RESULTS_AT_ONCE);
    const nowMs = clock.nowMs();
    const batches = this.#open.filter(
      ({ id, state, deadlineAtMs, isHeld }) =>
        state === "in_progress" && !isHeld && deadlineAtMs > nowMs && !this.#refusals.isPaused(id, nowMs),
    );
    // One process must not take all of them: the others would never find one free.
    const share = Math.max(1, Math.ceil(maxConcurrent / this.#options.processes()));
    const limit =
      this.#isStopped() || this.#isDraining ? 0 : Math.min(share, this.#pace.limit) - this.#running.size + done.length;
    const isClaiming = limit > 0 && batches.length > 0;
    if (done.length === 0 && !isClaiming) return;
    const claim = { limit, maxRunning: maxConcurrent, batches, lastProject: this.#lastProject, nowMs };
    try {
      const receipts = await makeReady(
        storage,
        done.flatMap(({ result }) => result.receipts),
      );
      const { stored, claimed } = await storage.transaction(async (queries) => {
        const stored: DoneLine[] = [];
        for (const one of done) if (await endLine(queries, one.line, one.result)) stored.push(one);
        // What was sent costs money, whichever result counts.
        await insertReady(queries, receipts);
        return { stored, claimed: isClaiming ? await claimLines(queries, storage.engine, this.#lease(), claim) : [] };
      });
      this.#storesSingly = false;
      for (const { result } of stored) countOutcome(this.#options.outcomes, result);
      for (const { line } of done) this.#running.delete(line);
      for (const line of claimed) {
        const batch = batches.find(({ id }) => id === line.batchId);
        if (batch !== undefined) this.#start(line, batch);
      }
      if (this.#done.length > 0) this.#isAdvanceWanted = true;
      // Perhaps a batch is finished.
      if (done.length > 0 && this.#running.size === 0) this.wake();
    } catch (error) {
      // The results are kept, and stored with the next tick. One that cannot be stored must not keep others.
      this.#done.push(...done);
      this.#storesSingly = true;
      throw error;
    }
  }

  #start(line: ClaimedLine, batch: OpenBatch): void {
    this.#lastProject = batch.project;
    this.#pace.follow(() => this.#running.size > 0);
    this.#holds.claim(line);
    const running = this.#run(line, batch).catch(async (error: unknown) => {
      this.#options.onProblem(error, "failed to run a line of a batch");
      await this.#return(line, RETRY_MS).catch(() => this.#running.delete(line));
    });
    this.#running.set(line, running);
    void running.then(() => this.#advanceSoon());
  }

  async #run(line: ClaimedLine, batch: OpenBatch): Promise<void> {
    const text = await this.#input.read(line.batchId, line.start, line.size);
    if (text === undefined) return await this.#leaveToOthers(line);
    const toRun = { batch, customId: line.customId, line: line.line, text };
    const outcome = await this.#options.work.run(toRun, () => this.#holds.admit(line));
    if (outcome === "revoked") {
      await this.#return(line, 0);
      await this.#cancelRevoked(batch);
    } else if ("retryAfterMs" in outcome) {
      this.#refusals.add(line.batchId, this.#options.clock.nowMs() + outcome.retryAfterMs);
      await this.#return(line, outcome.retryAfterMs);
    } else {
      this.#refusals.forget(line.batchId);
      this.#holds.admit(line);
      this.#done.push({ line, result: outcome });
    }
  }

  /** Another process may have the input: one that does not share the folder of files never gets it. */
  async #leaveToOthers(line: ClaimedLine): Promise<void> {
    const nowMs = this.#options.clock.nowMs();
    if (!this.#refusals.isPaused(line.batchId, nowMs)) {
      this.#refusals.pause(line.batchId, nowMs + RETRY_MS);
      const error = new Error("Its input is not in `files`. All gateways that use this storage must share that folder");
      this.#options.onProblem(error, `failed to read the batch ${line.batchId}`);
    }
    await this.#return(line, 0);
  }

  async #return(line: ClaimedLine, afterMs: number): Promise<void> {
    const { storage, clock } = this.#options;
    await returnLine(storage, line, this.#owner, clock.nowMs() + afterMs);
    this.#holds.putBack(line);
    this.#running.delete(line);
  }

  async #cancelRevoked(batch: OpenBatch): Promise<void> {
    if (await this.#change(batch, ["in_progress"], "cancelling")) this.wake();
  }

  async #find(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    return (await selectObjects(storage, [id], clock.wallMs())).get(id);
  }

  async #change(
    { id }: OpenBatch,
    from: readonly BatchState[],
    state: BatchState,
    more: { errors?: readonly BatchError[] } = {},
  ): Promise<boolean> {
    const { storage, clock } = this.#options;
    const batch = await this.#find(id);
    if (batch === undefined) return false;
    return changeObject(storage, id, from, { state, metadata: withMoment(batch, state, clock.wallMs(), more) });
  }

  #lease() {
    const { clock, leaseMs } = this.#options;
    return { owner: this.#owner, untilMs: clock.nowMs() + leaseMs };
  }

  #report(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => this.#options.onProblem(error, what));
  }
}
