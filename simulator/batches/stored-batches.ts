import type { JsonObject } from "../json.ts";
import { pause } from "../play.ts";

/** One request of a batch. */
export interface BatchLine {
  /** The client's name for it; empty if it gave none. */
  id: string;
  /** Where the request goes in this simulator. */
  path: string;
  /** JSON. */
  body: string;
}

/** The result of a line. An answer that was not JSON, or broke off, has no body. */
export type LineResult = { status: number; body: string | undefined } | "cancelled" | "expired";

export interface SimulatedBatch {
  id: string;
  /** The key that it belongs to. */
  owner: string;
  host: "openai" | "azure-openai" | "anthropic" | "gemini";
  /** What the host shows of it as it was given. */
  given: JsonObject;
  lines: readonly BatchLine[];
  /** Headers of the request that created it, which its lines have too. */
  headers: Headers;
  /** Why it does not run. */
  failures: readonly JsonObject[];
  phase: "validating" | "running" | "cancelling" | "completed" | "cancelled" | "expired" | "failed";
  results: (LineResult | undefined)[];
  createdAtMs: number;
  expiresAtMs: number;
  startedAtMs: number | undefined;
  cancelledAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** The files with its results, for hosts that have them. */
  files: { output?: string; error?: string };
}

type NewBatch = Pick<SimulatedBatch, "owner" | "host" | "given" | "lines" | "headers" | "failures"> & {
  /** Called right before it shows its end. */
  onEnd?: (batch: SimulatedBatch) => void;
};

interface BatchesOptions {
  nowMs: () => number;
  /** How long a batch waits before it runs. */
  delayMs: number;
  /** Answers a line as if it had arrived alone. */
  answer: (line: BatchLine, headers: Headers, signal: AbortSignal) => Promise<Response>;
}

/** Lines that a batch can have. */
export const MAX_LINES = 10_000;
const MAX_BATCHES = 100;
const MAX_UNENDED = 20;
/** Of the requests of all batches. */
const MAX_STORED_BYTES = 256 * 1024 * 1024;
/** Of the results of one batch; further lines fail. */
const MAX_RESULT_BYTES = 32 * 1024 * 1024;
const LIFETIME_MS = 24 * 3_600_000;
/** Lines of a batch that run at once. */
const AT_ONCE = 4;
/** Models that stop in the middle would hold the batch for longer. */
const LINE_TIMEOUT_MS = 60_000;
const HEADERS = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "anthropic-version", "anthropic-beta"];
const PREFIXES = {
  openai: "batch_sim",
  "azure-openai": "batch_sim",
  anthropic: "msgbatch_sim",
  gemini: "batches/sim",
} as const;

/** Words in a request that ask for a fault of the whole batch. */
const FAILS = "sim:batch-fails";
const EXPIRES = "sim:batch-expires";
const WAITS = "sim:batch-waits";

const ENDED: readonly SimulatedBatch["phase"][] = ["completed", "cancelled", "expired", "failed"];
export const hasEnded = ({ phase }: SimulatedBatch): boolean => ENDED.includes(phase);

/** The batches of all hosts. They run by themselves, in this process, and end with it. */
export class StoredBatches {
  readonly #batches = new Map<string, SimulatedBatch>();
  readonly #running = new Map<SimulatedBatch, AbortController>();
  readonly #options: BatchesOptions;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** Undefined if too many have not ended, or are too large together. */
  create({ onEnd, ...made }: NewBatch): SimulatedBatch | undefined {
    if (this.#running.size >= MAX_UNENDED || !this.#makeRoom(sizeOf(made))) return undefined;
    const createdAtMs = this.#options.nowMs();
    const headers = new Headers({ "content-type": "application/json" });
    for (const name of HEADERS) {
      const value = made.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const batch: SimulatedBatch = {
      ...made,
      headers,
      id: PREFIXES[made.host] + Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex"),
      phase: "validating",
      results: new Array<undefined>(made.lines.length).fill(undefined),
      createdAtMs,
      expiresAtMs: createdAtMs + LIFETIME_MS,
      startedAtMs: undefined,
      cancelledAtMs: undefined,
      endedAtMs: undefined,
      files: {},
    };
    this.#batches.set(batch.id, batch);
    const controller = new AbortController();
    this.#running.set(batch, controller);
    void this.#run(batch, controller.signal).then((phase) => this.#end(batch, phase, onEnd));
    return batch;
  }

  /** Undefined for one that another key has. */
  find(id: string, owner: string): SimulatedBatch | undefined {
    const batch = this.#batches.get(id);
    if (batch === undefined || batch.owner !== owner) return undefined;
    if (this.#options.nowMs() >= batch.expiresAtMs) this.#running.get(batch)?.abort();
    return batch;
  }

  /** Newest first. */
  of(owner: string, host: SimulatedBatch["host"]): SimulatedBatch[] {
    return [...this.#batches.values()].filter((one) => one.owner === owner && one.host === host).reverse();
  }

  /** One that has ended stays as it is. */
  cancel(batch: SimulatedBatch): void {
    if (hasEnded(batch) || batch.phase === "cancelling") return;
    batch.phase = "cancelling";
    batch.cancelledAtMs = this.#options.nowMs();
    this.#running.get(batch)?.abort();
  }

  remove({ id }: SimulatedBatch): void {
    this.#batches.delete(id);
  }

  stop(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  /** Runs the lines. Returns how the batch ends. */
  async #run(batch: SimulatedBatch, signal: AbortSignal): Promise<SimulatedBatch["phase"]> {
    const { nowMs, delayMs } = this.#options;
    await pause(delayMs, signal);
    const fault = (word: string): boolean => batch.lines.some(({ body }) => body.includes(word));
    if (!signal.aborted && fault(FAILS))
      batch.failures = [{ code: "simulated", message: "Simulated: the batch fails.", param: null, line: null }];
    if (!signal.aborted && batch.failures.length > 0) return "failed";
    if (!signal.aborted) {
      batch.phase = "running";
      batch.startedAtMs = nowMs();
    }
    if (fault(WAITS)) await pause(LIFETIME_MS, signal);
    const found = batch.lines.findIndex(({ body }) => body.includes(EXPIRES));
    const end = found < 0 ? batch.lines.length : found;
    let next = 0;
    let bytes = 0;
    const work = async (): Promise<void> => {
      while (next < end && !signal.aborted) {
        const at = next++;
        const line = batch.lines[at];
        if (line === undefined) continue;
        const result = await this.#answer(line, batch.headers, signal);
        const size = result?.body?.length ?? 0;
        if (result === undefined) continue;
        bytes += size;
        batch.results[at] = bytes > MAX_RESULT_BYTES ? { status: 500, body: undefined } : result;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (signal.aborted) return batch.cancelledAtMs === undefined ? "expired" : "cancelled";
    return found < 0 ? "completed" : "expired";
  }

  /** Undefined if the batch was stopped meanwhile. */
  async #answer(
    line: BatchLine,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Exclude<LineResult, string> | undefined> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LINE_TIMEOUT_MS)]);
    try {
      const answered = this.#options.answer(line, headers, limited);
      const read = answered.then(async (response) => ({ status: response.status, body: await response.text() }));
      const { status, body } = await Promise.race([read, rejectAt(limited)]);
      if (signal.aborted) return undefined;
      return { status, body: JSON.stringify(JSON.parse(body)) };
    } catch {
      // Its connection would have been dropped, or its answer would not have been JSON.
      return signal.aborted ? undefined : { status: 500, body: undefined };
    }
  }

  #end(batch: SimulatedBatch, phase: SimulatedBatch["phase"], onEnd: NewBatch["onEnd"]): void {
    if (phase === "expired" || phase === "cancelled")
      batch.results = batch.results.map((result): LineResult => result ?? phase);
    batch.endedAtMs = this.#options.nowMs();
    this.#running.delete(batch);
    if (phase !== "failed") onEnd?.(batch);
    batch.phase = phase;
  }

  /** The oldest that have ended go first. */
  #makeRoom(bytes: number): boolean {
    let stored = bytes;
    for (const batch of this.#batches.values()) stored += sizeOf(batch);
    for (const batch of this.#batches.values()) {
      if (this.#batches.size < MAX_BATCHES && stored <= MAX_STORED_BYTES) return true;
      if (!hasEnded(batch)) continue;
      this.#batches.delete(batch.id);
      stored -= sizeOf(batch);
    }
    return this.#batches.size < MAX_BATCHES && stored <= MAX_STORED_BYTES;
  }
}

/** The body of an answer whose client has left does not end. */
const rejectAt = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const leave = (): void => reject(new Error("this line is no longer awaited"));
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
  });

/** What is kept of a batch, in characters. */
function sizeOf({ lines, results = [] }: { lines: readonly BatchLine[]; results?: SimulatedBatch["results"] }): number {
  const written = results.reduce((sum, one) => sum + (typeof one === "object" ? (one.body?.length ?? 0) : 0), 0);
  return lines.reduce((sum, { body }) => sum + body.length, written);
}
