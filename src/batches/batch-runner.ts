import type { Cancel } from "../base/clock.ts";
import { parseObject } from "../base/json.ts";
import { nextTurn } from "../base/next-turn.ts";
import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { newObjectRandom } from "../objects/object-id.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type BatchTask,
  type BatchTerms,
  type ClaimedLine,
  claimLines,
  deleteLines,
  dropResults,
  endLine,
  endUnwantedLines,
  insertLines,
  type LineResult,
  leaseBatch,
  type NewLine,
  releaseBatch,
  renewBatchLease,
  renewLineLeases,
  returnLine,
  selectBatches,
  selectEndedLines,
  sumHeld,
} from "../storage/tables/batches.ts";
import {
  changeObject,
  insertBlobs,
  insertObject,
  type ObjectBlob,
  type StoredObject,
  selectObjects,
} from "../storage/tables/objects.ts";
import type { BatchError, BatchState, EndedBatch } from "./batch.ts";
import { type BatchForm, hasSucceeded } from "./batch-form.ts";
import { withMoment } from "./batches.ts";
import type { Choice } from "./choose-native.ts";
import { inputLines } from "./input-lines.ts";
import type { BatchMode } from "./native-work.ts";

/** A line with the batch that it belongs to. */
export interface LineToRun {
  batch: BatchTerms & Pick<StoredObject, "project" | "keyId">;
  customId: string;
  line: number;
  text: string;
}

/** What the gateway does with lines. */
export interface LineWork {
  /** What a line may cost. Zero for one that is going to be refused. */
  estimate(line: LineToRun): Promise<number>;
  /** Throws if the key or its project cannot afford it. */
  requireBudget(batch: LineToRun["batch"], costNanoUsd: number): void;
  /** `later`: a limit does not allow it now. `revoked`: the key may not call any more. */
  run(line: LineToRun): Promise<LineResult | "later" | "revoked">;
  /** Holds what the waiting lines of batches may cost, instead of what it held before. */
  hold(held: readonly { batch: Pick<StoredObject, "project" | "keyId">; costNanoUsd: number }[]): void;
}

/** The providers' batch APIs, if they may run batches. */
interface NativeBatches {
  choose(batch: LineToRun["batch"], object: StoredObject): Promise<Choice>;
  wake(): void;
}

interface BatchRunnerOptions extends Sources {
  storage: Storage;
  content: ObjectContent;
  forms: Readonly<Record<string, BatchForm>>;
  work: LineWork;
  native: NativeBatches;
  mode: BatchMode;
  /** How many lines run at once, in all processes together. */
  maxConcurrent: number;
  maxLineBytes: number;
  leaseMs: number;
  onProblem: (error: unknown, what: string) => void;
  /** Called when a batch ends, for alerts and the log. */
  onEnded?: (batch: EndedBatch) => void;
}

const TICK_MS = 1_000;
const MAX_LINES = 100_000;
const LINES_AT_ONCE = 500;
const TURN_LINES = 50;
/** How long a line waits that a limit has refused. */
const PAUSE_MS = 2_000;

/**
 * Runs the lines of batches as ordinary calls. All state is in the storage: any process may read an input, run a line or write an
 * output, each under a lease, and continues where another one died.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #owner: string;
  readonly #running = new Set<Promise<void>>();
  #stopTicking: Cancel | undefined;
  #isTicking = false;
  #isWanted = false;
  #isRefilling = false;
  #isRefillWanted = false;
  /** A line has ended since it was last asked whether a batch is finished. */
  #hasEnded = false;
  #pausedUntilMs = 0;
  /** The batches of the lines that run here. */
  readonly #batches = new Map<string, LineToRun["batch"]>();

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#owner = options.random.id();
  }

  start(): void {
    const { clock, leaseMs } = this.#options;
    const stopTicking = clock.every(TICK_MS, () => this.wake());
    const stopRenewing = clock.every(leaseMs / 3, () => {
      if (this.#running.size === 0) return;
      this.#report(renewLineLeases(this.#options.storage, this.#lease()), "failed to renew the leases of batch lines");
    });
    this.#stopTicking = () => {
      stopTicking();
      stopRenewing();
    };
    this.wake();
  }

  /** Takes no more lines, and waits for those that run. */
  async stop(): Promise<void> {
    this.#stopTicking?.();
    this.#stopTicking = undefined;
    await Promise.all(this.#running);
  }

  /** There may be something to do. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isTicking || this.#stopTicking === undefined) return;
    this.#isTicking = true;
    const done = this.#work().finally(() => {
      this.#isTicking = false;
      if (this.#isWanted) this.wake();
    });
    this.#report(done, "failed to work on batches");
  }

  async #work(): Promise<void> {
    const { storage, clock } = this.#options;
    while (this.#isWanted && this.#stopTicking !== undefined) {
      this.#isWanted = false;
      await endUnwantedLines(storage, clock.wallMs());
      await this.#each("new", (batch) => this.#validate(batch));
      await this.#holdWaiting();
      this.#refill();
      await this.#each("finished", (batch) => this.#finish(batch));
    }
  }

  async #each(task: BatchTask, work: (batch: BatchTerms) => Promise<void>): Promise<void> {
    const { storage, clock, leaseMs } = this.#options;
    const seen = new Set<string>();
    for (;;) {
      const batch = await leaseBatch(storage, task, this.#lease(), clock.wallMs());
      if (batch === undefined) return;
      if (seen.has(batch.id)) return await releaseBatch(storage, batch.id, this.#owner);
      seen.add(batch.id);
      const stopRenewing = clock.every(leaseMs / 3, () => {
        this.#report(renewBatchLease(storage, batch.id, this.#lease()), "failed to renew the lease of a batch");
      });
      try {
        await work(batch);
      } finally {
        stopRenewing();
        await releaseBatch(storage, batch.id, this.#owner);
      }
    }
  }

  /** Reads the whole input before any line runs. Nothing runs if one of them is malformed. */
  async #validate(terms: BatchTerms): Promise<void> {
    const { storage, work, forms, content, maxLineBytes } = this.#options;
    const batch = await this.#find(terms.id);
    const form = forms[terms.form];
    if (batch === undefined || form === undefined) return;
    const owned = { ...terms, project: batch.project, keyId: batch.keyId };
    await deleteLines(storage, terms.id);
    const input = await content.open(terms.id);
    const fail = (error: BatchError) => this.#fail(batch, [error]);
    if (input === undefined) return fail({ code: "input_missing", message: "The input file has been deleted." });
    let waiting: NewLine[] = [];
    let held = 0;
    let count = 0;
    const insert = async (): Promise<number | undefined> => {
      const repeated = await insertLines(storage, terms.id, waiting);
      waiting = [];
      return repeated;
    };
    for await (const found of inputLines(input, maxLineBytes)) {
      if (found === undefined) {
        return fail({ code: "line_too_large", message: `A line is larger than ${maxLineBytes} bytes.` });
      }
      const { number: line, bytes, start } = found;
      const refuse = (code: string, message: string) => fail({ code, message, line });
      if (++count > MAX_LINES) {
        return refuse("too_many_lines", `The input has more than ${MAX_LINES} lines, which is the limit.`);
      }
      const text = bytes.toString();
      const body = parseObject(text);
      if (body === undefined) return refuse("invalid_json_line", "This line is not a JSON object.");
      const customId = form.customId(body);
      if (!customId) return refuse("missing_custom_id", `This line has no ${form.idField}.`);
      const problem = form.problem(body, terms.endpoint);
      if (problem !== undefined) return refuse("invalid_line", problem);
      const costNanoUsd = await work.estimate({ batch: owned, customId, line, text });
      held += costNanoUsd;
      waiting.push({ line, customId, start, size: bytes.length, heldNanoUsd: costNanoUsd });
      if (count % TURN_LINES === 0) await nextTurn();
      const repeated = waiting.length === LINES_AT_ONCE ? await insert() : undefined;
      if (repeated !== undefined) return fail(repeatedId(form, repeated));
    }
    const repeated = await insert();
    if (repeated !== undefined) return fail(repeatedId(form, repeated));
    if (count === 0) return fail({ code: "empty_input", message: "The input has no lines." });
    try {
      work.requireBudget(owned, held);
    } catch (refusal) {
      if (!(refusal instanceof GatewayError)) throw refusal;
      return fail({ code: "insufficient_budget", message: refusal.message });
    }
    const choice = await this.#options.native.choose(owned, batch);
    if (!choice.isNative && this.#options.mode === "native") {
      return fail({ code: "not_native", message: `No provider's batch API can run this batch. ${choice.reason}` });
    }
    await this.#change(batch, ["validating"], "in_progress");
    if (choice.isNative) this.#options.native.wake();
  }

  async #fail(batch: StoredObject, errors: readonly BatchError[]): Promise<void> {
    await deleteLines(this.#options.storage, batch.id);
    if (!(await this.#change(batch, ["validating"], "failed", { errors }))) return;
    this.#options.onEnded?.({ id: batch.id, project: batch.project, state: "failed", errors });
  }

  async #holdWaiting(): Promise<void> {
    const { storage, work, clock } = this.#options;
    const held = await sumHeld(storage);
    const owners = await selectObjects(storage, [...held.keys()], clock.wallMs());
    work.hold([...owners.values()].map((batch) => ({ batch, costNanoUsd: held.get(batch.id) ?? 0 })));
  }

  async #claim(): Promise<void> {
    const { storage, clock, maxConcurrent } = this.#options;
    const free = maxConcurrent - this.#running.size;
    const nowMs = clock.wallMs();
    if (free <= 0 || nowMs < this.#pausedUntilMs || this.#stopTicking === undefined) return;
    const limits = { limit: free, maxRunning: maxConcurrent, nowMs };
    for (const line of await claimLines(storage, this.#lease(), limits)) {
      const running: Promise<void> = this.#run(line)
        .catch((error: unknown) => this.#options.onProblem(error, "failed to run a line of a batch"))
        .finally(() => {
          this.#running.delete(running);
          this.#hasEnded = true;
          this.#refill();
        });
      this.#running.add(running);
    }
  }

  /** A line has ended: takes the next ones, without looking for anything else to do. */
  #refill(): void {
    this.#isRefillWanted = true;
    if (this.#isRefilling || this.#stopTicking === undefined) return;
    this.#isRefilling = true;
    const refill = async () => {
      while (this.#isRefillWanted && this.#stopTicking !== undefined) {
        this.#isRefillWanted = false;
        await this.#claim();
      }
    };
    const done = refill().finally(() => {
      this.#isRefilling = false;
      if (this.#running.size > 0 || !this.#hasEnded) return;
      // Perhaps a batch is finished.
      this.#hasEnded = false;
      this.wake();
    });
    this.#report(done, "failed to take lines of batches");
  }

  async #run(line: ClaimedLine): Promise<void> {
    const { storage, work, content, clock } = this.#options;
    const batch = await this.#batchOf(line.batchId);
    const range = { start: line.start, end: line.start + line.size };
    const input = batch === undefined ? undefined : await content.open(line.batchId, range);
    if (batch === undefined || input === undefined) return await returnLine(storage, line, this.#owner);
    const text = await new Response(input).text();
    const result = await work.run({ batch, customId: line.customId, line: line.line, text });
    if (result === "later" || result === "revoked") {
      await returnLine(storage, line, this.#owner);
      if (result === "later") this.#pausedUntilMs = clock.wallMs() + PAUSE_MS;
      else await this.#cancelRevoked(line.batchId);
      return;
    }
    await endLine(storage, line, this.#owner, result);
  }

  async #cancelRevoked(id: string): Promise<void> {
    const batch = await this.#find(id);
    if (batch !== undefined) await this.#change(batch, ["in_progress"], "cancelling");
  }

  /** Writes the output, and only then shows the batch as ended. */
  async #finish(terms: BatchTerms): Promise<void> {
    const { storage, forms, content } = this.#options;
    const batch = await this.#find(terms.id);
    const form = forms[terms.form];
    if (batch === undefined || form === undefined) return;
    const seen = { succeeded: 0, others: 0, expired: 0 };
    for await (const line of this.#lines(terms.id)) {
      if (hasSucceeded(line)) seen.succeeded++;
      else seen.others++;
      if (line.state === "expired") seen.expired++;
    }
    const outputs: { key: "outputId" | "errorId"; isWanted: (succeeded: boolean) => boolean; count: number }[] =
      form.separatesErrors
        ? [
            { key: "outputId", isWanted: (succeeded) => succeeded, count: seen.succeeded },
            { key: "errorId", isWanted: (succeeded) => !succeeded, count: seen.others },
          ]
        : [{ key: "outputId", isWanted: () => true, count: seen.succeeded + seen.others }];
    const files: { key: "outputId" | "errorId"; object: StoredObject; blob: ObjectBlob }[] = [];
    for (const { key, isWanted, count } of outputs) {
      if (count === 0) continue;
      const blob = await content.write(this.#rendered(terms.id, form, isWanted), Number.MAX_SAFE_INTEGER);
      files.push({ key, object: this.#outputFile(batch, key, blob.size), blob });
    }
    const state: BatchState = batch.state === "cancelling" ? "cancelled" : seen.expired > 0 ? "expired" : "completed";
    const isEnded = await storage.transaction(async (queries) => {
      const ids = Object.fromEntries(files.map(({ key, object }) => [key, object.id]));
      const metadata = withMoment(batch, state, this.#options.clock.wallMs(), ids);
      if (!(await changeObject(queries, batch.id, [batch.state], { state, metadata }))) return false;
      for (const { object, blob } of files) {
        await insertObject(queries, object);
        await insertBlobs(queries, object.id, 0, [blob]);
      }
      await dropResults(queries, batch.id);
      return true;
    });
    if (!isEnded) await content.remove(files.map(({ blob }) => blob));
    else this.#options.onEnded?.({ id: batch.id, project: batch.project, state });
  }

  #outputFile(batch: StoredObject, key: "outputId" | "errorId", size: number): StoredObject {
    const { random, clock } = this.#options;
    return {
      id: newObjectRandom(random),
      kind: "file",
      project: batch.project,
      keyId: batch.keyId,
      share: batch.share,
      state: "uploaded",
      size,
      purpose: "batch_output",
      metadata: {
        name: `batch_${batch.id}_${key === "outputId" ? "output" : "error"}.jsonl`,
        mimeType: "application/jsonl",
      },
      createdAtMs: Math.floor(clock.wallMs()),
    };
  }

  async *#rendered(id: string, form: BatchForm, isWanted: (succeeded: boolean) => boolean): AsyncGenerator<Uint8Array> {
    for await (const line of this.#lines(id)) {
      if (isWanted(hasSucceeded(line))) yield Buffer.from(`${form.render(line)}\n`);
    }
  }

  async *#lines(id: string) {
    for (let from = 0; ; ) {
      const page = await selectEndedLines(this.#options.storage, id, from, LINES_AT_ONCE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < LINES_AT_ONCE) return;
      from = last.line + 1;
    }
  }

  async #batchOf(id: string): Promise<LineToRun["batch"] | undefined> {
    const known = this.#batches.get(id);
    if (known !== undefined) return known;
    const { storage } = this.#options;
    const object = await this.#find(id);
    const terms = (await selectBatches(storage, [id])).get(id);
    if (object === undefined || terms === undefined) return undefined;
    const batch = { ...terms, project: object.project, keyId: object.keyId };
    if (this.#batches.size > 100) this.#batches.clear();
    this.#batches.set(id, batch);
    return batch;
  }

  async #find(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    return (await selectObjects(storage, [id], clock.wallMs())).get(id);
  }

  #change(
    batch: StoredObject,
    from: readonly BatchState[],
    state: BatchState,
    more: { errors?: readonly BatchError[] } = {},
  ): Promise<boolean> {
    const { storage, clock } = this.#options;
    return changeObject(storage, batch.id, from, { state, metadata: withMoment(batch, state, clock.wallMs(), more) });
  }

  #lease() {
    const { clock, leaseMs } = this.#options;
    return { owner: this.#owner, untilMs: clock.wallMs() + leaseMs };
  }

  #report(work: Promise<unknown>, what: string): void {
    work.catch((error: unknown) => this.#options.onProblem(error, what));
  }
}

const repeatedId = (form: BatchForm, line: number): BatchError => ({
  code: "duplicate_custom_id",
  message: `The ${form.idField} of this line was used before.`,
  line,
});
