import type { Config } from "../src/config/config.ts";
import type { CallFacts, SettledCall } from "../src/observe/call-line.ts";
import { openStorage } from "../src/storage/open.ts";
import { START_MS, type Storage } from "../src/storage/storage.ts";
import { StorageTimeout } from "../src/storage/storage-timeout.ts";
import { MemoryFileStore } from "../testing/memory-file-store.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { CallBook } from "./book.ts";
import { SimulatedClient } from "./client.ts";
import { MODELS, VIDEO_PROVIDERS } from "./configuration.ts";
import { FaultyStorage } from "./faulty-storage.ts";
import { checkAnswer, checkRow } from "./invariants.ts";
import { KeptJournals } from "./kept-journals.ts";
import { LimitWatch } from "./limits.ts";
import { SimulatedProviders } from "./providers.ts";
import type { ReadAnswer } from "./read-answer.ts";
import type { CallPlan, Scenario, Step, VideoPlan } from "./scenario.ts";
import { SimulatedProcess, type Surroundings } from "./simulated-process.ts";
import { Trace } from "./trace.ts";
import { VideoClient } from "./video-client.ts";
import { SimulatedVideoHost, type VideoBook } from "./video-host.ts";
import { checkVideos } from "./video-invariants.ts";

const VIDEO_HOSTS = new Set(Object.values(VIDEO_PROVIDERS).map((url) => new URL(url).host));

/** A rule that did not hold, and of which call. */
export interface Violation {
  rule: string;
  what: string;
  call: number | undefined;
}

export interface RunResult {
  violations: readonly Violation[];
  /** Of everything that happened. */
  digest: string;
  trace: readonly string[] | undefined;
  calls: number;
  attempts: number;
  rows: number;
  kills: number;
  /** Answers that came to their end at another provider than the one that began them. */
  continued: number;
  endings: Readonly<Record<string, number>>;
  /** How much time has passed on the clock of the run. */
  passedMs: number;
}

export interface RunOptions {
  config: Config;
  keepsTrace?: boolean;
}

/** A whole gateway has nothing left to wait for when this long nothing has come from outside: longer than any of its deadlines for a call. */
const QUIET_MS = 600_000;
/** A start has two statements that may take long: if the answers to both are lost, it ends and is tried again. */
const MAX_START_MS = 2 * START_MS + QUIET_MS;
/** A run ends at its first violations: what follows from them says nothing. */
const MAX_VIOLATIONS = 5;
/** How long a store must have been sound before rows are expected in time: what it lost is sent again within this. */
const SETTLING_MS = 12_000;

/**
 * After so many failures in a row, with nothing answered in between, a breaker is open. Five are enough; the last of those that a
 * provider has sent may still be on their way, behind a slow client.
 */
const FAILURES_THAT_OPEN = 8;
/** Longer than any breaker stays open, and any provider is left alone. */
const MAX_PAUSE_MS = 900_000;
/** Calls at the end of a run, when all is well outside. */
export const RECOVERY_CALLS = 1_000_000_000;
const MAX_RECOVERY_ROUNDS = 30;
const RECOVERY_PAUSE_MS = 2_000;
const RECOVERY_CALL: Omit<CallPlan, "id" | "model"> = {
  key: "free",
  dialect: "chat",
  door: "contract",
  stream: false,
  words: 2,
  padding: 0,
  tool: false,
  input: 3,
  cached: 0,
  output: 6,
  routing: {},
  reading: {},
  providers: [],
};

const isClosed = (state: string): boolean => state === "closed";

/** Plays one scenario against the gateway, and says which rules did not hold. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<RunResult> {
  const clock = new VirtualClock({ turns: 1 });
  const storage = await openStorage("sqlite::memory:", clock);
  try {
    return await new Run(scenario, options, clock, storage).play();
  } finally {
    await storage.close();
  }
}

class Run {
  readonly #scenario: Scenario;
  readonly #clock: VirtualClock;
  readonly #storage: Storage;
  readonly #trace: Trace;
  readonly #store: FaultyStorage;
  readonly #providers: SimulatedProviders;
  readonly #videoHost: SimulatedVideoHost;
  readonly #limits: LimitWatch;
  readonly #surroundings: Surroundings;
  readonly #violations: Violation[] = [];
  readonly #books = new Map<number, CallBook>();
  readonly #videos = new Map<number, VideoBook>();
  /** Clients that still want a video. */
  #videoClients = 0;
  /** Calls that are not over for their clients. */
  readonly #clients = new Set<SimulatedClient>();
  readonly #callOfRequest = new Map<string, number>();
  /** By receipt. */
  readonly #settled = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  #process: SimulatedProcess | undefined;
  #processes = 0;
  /** Timers of a process that has nothing to do. */
  #restingTimers = 0;
  /** Requests that are sent while no process runs. */
  readonly #waiting: (() => void)[] = [];
  #faults = 0;

  constructor(scenario: Scenario, { config, keepsTrace = false }: RunOptions, clock: VirtualClock, storage: Storage) {
    this.#scenario = scenario;
    this.#clock = clock;
    this.#storage = storage;
    this.#trace = new Trace(() => clock.passedMs, keepsTrace);
    this.#store = new FaultyStorage(storage, clock);
    this.#limits = new LimitWatch((rule, what) => this.#violate(rule, what));
    this.#providers = new SimulatedProviders({
      clock,
      trace: this.#trace,
      bookOf: (id) => this.#books.get(id),
      onAsked: (book) => this.#asked(book),
      onViolation: (rule, what) => this.#violate(rule, what),
    });
    this.#videoHost = new SimulatedVideoHost({
      clock,
      trace: this.#trace,
      bookOf: (id) => this.#videos.get(id),
      onViolation: (rule, what) => this.#violate(rule, what),
    });
    this.#surroundings = {
      config,
      clock,
      store: this.#store,
      fileStore: new MemoryFileStore(clock.wallMs),
      journals: new KeptJournals(),
      send: (request) =>
        VIDEO_HOSTS.has(new URL(request.url).host) ? this.#videoHost.send(request) : this.#providers.send(request),
      onSettled: (call, facts) => this.#settle(call, facts),
      onInternal: (what) => this.#internal(what),
    };
  }

  async play(): Promise<RunResult> {
    await this.#clock.until(this.#start());
    const steps = this.#scenario.steps;
    const { promise, resolve } = Promise.withResolvers<void>();
    let next = 0;
    const go = () => {
      for (;;) {
        const step = steps[next];
        if (step === undefined || this.#violations.length >= MAX_VIOLATIONS) return resolve();
        if (step.atMs > this.#clock.passedMs) {
          this.#clock.after(step.atMs - this.#clock.passedMs, go);
          return;
        }
        next++;
        this.#take(step);
      }
    };
    go();
    await this.#clock.until(promise);
    if (this.#violations.length < MAX_VIOLATIONS) await this.#comeToRest();
    if (this.#violations.length < MAX_VIOLATIONS) await this.#recover();
    if (this.#violations.length < MAX_VIOLATIONS) await this.#checkLedger();
    this.#process?.kill();
    return this.#result();
  }

  #take(step: Step): void {
    switch (step.kind) {
      case "call":
        this.#call(step.call);
        return;
      case "video":
        this.#video(step.video);
        return;
      case "store":
        this.#trace.note(`the store ${step.fault}`);
        this.#store.beginFault(step.fault);
        this.#later(step.forMs, () => {
          this.#trace.note("the store is back");
          this.#store.endFault();
        });
        return;
      case "outage":
        this.#trace.note(`${step.provider} is out: ${step.behaviour.fault}`);
        this.#providers.beginOutage(step.provider, step.behaviour);
        this.#later(step.forMs, () => {
          const failures = this.#providers.endOutage(step.provider);
          const states = this.#process?.breakers().get(step.provider) ?? [];
          if (failures >= FAILURES_THAT_OPEN * states.length && states.length > 0 && states.every(isClosed))
            this.#violate("breakers open and close", `${step.provider} has failed ${failures} times, and is asked on`);
        });
        return;
      case "kill":
        this.#kill(step.downMs);
    }
  }

  /** What ends by itself, and before the end of the run. */
  #later(ms: number, run: () => void): void {
    this.#faults++;
    this.#clock.after(ms, () => {
      this.#faults--;
      run();
    });
  }

  #call(plan: CallBook["plan"]): void {
    const process = this.#process;
    if (process === undefined) {
      // As a client whose connection is refused tries again.
      this.#waiting.push(() => this.#call(plan));
      return;
    }
    const book: CallBook = {
      plan,
      process: process.number,
      sentAtMs: this.#clock.nowMs(),
      requestId: "",
      attempts: [],
      ending: undefined,
      endedAtMs: 0,
      status: 0,
      receiptId: undefined,
      text: "",
      toolArguments: undefined,
      isSettled: false,
      wasCrowded: false,
    };
    this.#books.set(plan.id, book);
    const client = new SimulatedClient(book, {
      clock: this.#clock,
      onEnd: (_, answer) => this.#ended(client, answer),
    });
    this.#clients.add(client);
    client.send(process);
    this.#callOfRequest.set(book.requestId, plan.id);
    this.#trace.note(`call ${plan.id} of ${plan.key}: ${plan.dialect} ${plan.model}${plan.stream ? " streamed" : ""}`);
  }

  #video(plan: VideoPlan): void {
    const book: VideoBook = { plan, submits: 0, polls: 0, jobs: [], name: undefined, told: undefined };
    this.#videos.set(plan.id, book);
    this.#videoClients++;
    this.#trace.note(`video ${plan.id} of ${plan.key}`);
    const client = new VideoClient(book, {
      clock: this.#clock,
      process: () => this.#process,
      onViolation: (rule, what) => this.#violate(rule, what),
    });
    client.run().then(
      () => {
        this.#videoClients--;
        this.#trace.note(`video ${plan.id} is ${book.told ?? "given up"} for its client`);
      },
      (error: unknown) => this.#violate("the simulation itself is sound", String(error)),
    );
  }

  /** A call has sent a request to a provider. */
  #asked(book: CallBook): void {
    const { key } = book.plan;
    if (book.attempts.length === 1) {
      this.#limits.admitted(key, book.sentAtMs);
    }
    this.#limits.underWay(key, () => this.#providers.callsUnderWay(key));
    this.#limits.asked(this.#providers.open, (provider) => this.#providers.openAt(provider));
  }

  #ended(client: SimulatedClient, answer: ReadAnswer | undefined): void {
    const { book } = client;
    this.#clients.delete(client);
    const { plan, ending, status, text, receiptId } = book;
    this.#trace.note(`call ${plan.id} ${ending} ${status} ${text.length} characters`);
    book.wasCrowded = (this.#process?.refusedSlotAtMs ?? 0) >= book.sentAtMs;
    checkAnswer(book, answer, (rule, what) => this.#violate(rule, what, book));
    const isDue = ending === "whole" || (ending === "failed" && receiptId !== undefined);
    if (!isDue) return;
    if (receiptId === undefined) {
      this.#violate("a row is there before the last byte", "an answer without a receipt", book);
    } else if (this.#store.soundForMs > SETTLING_MS && !this.#store.receipts.has(receiptId)) {
      this.#violate("a row is there before the last byte", `${receiptId} is not in the ledger`, book);
    }
  }

  #settle(call: SettledCall, { requestId }: CallFacts): void {
    const key = call.key.replace("static:", "");
    const spent = (this.#spent.get(key) ?? 0) + call.costNanoUsd;
    this.#spent.set(key, spent);
    this.#limits.spent(key, spent);
    if (call.verb === "videos") {
      this.#trace.note(`a video is settled: ${call.outcome} ${call.costNanoUsd}`);
      return;
    }
    const id = this.#callOfRequest.get(requestId ?? "");
    const book = id === undefined ? undefined : this.#books.get(id);
    this.#trace.note(`call ${id} settled ${call.outcome} ${call.costNanoUsd}`);
    if (id === undefined || book === undefined) {
      this.#violate("a row is its call's", `${call.id} belongs to no call`);
      return;
    }
    if (book.isSettled) this.#violate("a call is settled once", `once more as ${call.id}`, book);
    book.isSettled = true;
    this.#settled.set(call.id, id);
  }

  #internal(what: string): void {
    // That the store fails is in the log, as it should be.
    if (/StorageTimeout|disk I\/O error|The ledger's store failed/.test(what)) return;
    this.#violate("the gateway makes no mistakes of its own", what);
  }

  #kill(downMs: number): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#trace.note("killed");
    this.#process = undefined;
    process.kill();
    this.#providers.cutAll();
    this.#videoHost.cutAll();
    for (const client of [...this.#clients]) client.cut();
    this.#limits.forget();
    this.#later(downMs, () => void this.#start());
  }

  /** Starts a process on what the store has kept. */
  async #start(): Promise<void> {
    for (;;) {
      try {
        const process = await SimulatedProcess.start(this.#scenario.seed, this.#processes++, this.#surroundings);
        await this.#countSpent();
        this.#restingTimers = process.clock.timers;
        this.#process = process;
        break;
      } catch (error) {
        // A process that finds its store away ends, and is started again.
        if (this.#store.soundForMs > SETTLING_MS && !(error instanceof StorageTimeout)) throw error;
        await this.#clock.sleep(1_000);
      }
    }
    this.#trace.note("started");
    for (const send of this.#waiting.splice(0)) send();
  }

  /** A process knows what the ledger holds. Rows that waited for the store when another was killed are lost. */
  async #countSpent(): Promise<void> {
    this.#spent.clear();
    const sums = "SELECT key_id, SUM(cost_nano_usd) AS spent FROM receipts GROUP BY key_id";
    for (const row of await this.#storage.query(sums)) {
      this.#spent.set(String(row["key_id"]).replace("static:", ""), Number(row["spent"]));
    }
  }

  /** When nothing comes from outside any more, every call comes to its end, and leaves nothing behind. */
  async #comeToRest(): Promise<void> {
    const startedUntilMs = this.#clock.nowMs() + MAX_START_MS;
    while (this.#clock.nowMs() < startedUntilMs && this.#process === undefined) await this.#clock.pass(1_000);
    const untilMs = this.#clock.nowMs() + QUIET_MS;
    while (this.#clock.nowMs() < untilMs && this.#isBusy) await this.#clock.pass(1_000);
    for (const { book } of this.#clients) this.#violate("every call ends once", "it never does", book);
    // What goes on without a client, and what waits for the store.
    await this.#clock.pass(30_000);
    const process = this.#process;
    if (process === undefined) return this.#violate("the simulation itself is sound", "no process runs");
    // A video goes on without its client for as long as it takes, and its money is held until then.
    const videosUntilMs = this.#clock.nowMs() + QUIET_MS;
    while (this.#clock.nowMs() < videosUntilMs && process.leftovers()["heldNanoUsd"] !== 0)
      await this.#clock.pass(1_000);
    const left = { ...process.leftovers(), openRequests: this.#providers.open + this.#videoHost.open };
    for (const [what, count] of Object.entries(left)) {
      if (count !== 0) this.#violate("nothing is left over", `${count} ${what}`);
    }
    // The poller has one timer more or less, as it looks or sleeps.
    const timers = process.clock.timers - this.#restingTimers;
    if (timers > 1) this.#violate("nothing is left over", `${timers} timers`);
  }

  /** When all is well outside, every call is answered, and every breaker closes. */
  async #recover(): Promise<void> {
    await this.#clock.pass(MAX_PAUSE_MS);
    let id = RECOVERY_CALLS;
    const areClosed = () => [...(this.#process?.breakers().values() ?? [])].flat().every(isClosed);
    // Which credential is tried is left to chance.
    for (let round = 0; round < 2 || (!areClosed() && round < MAX_RECOVERY_ROUNDS); round++) {
      for (const model of Object.keys(MODELS)) {
        const plan = { ...RECOVERY_CALL, id: id++, model };
        this.#call(plan);
        await this.#clock.pass(RECOVERY_PAUSE_MS);
        const book = this.#books.get(plan.id);
        if (book?.ending !== "whole") this.#violate("all is well again", `${book?.ending} ${book?.status}`, book);
      }
    }
    for (const [provider, states] of this.#process?.breakers() ?? []) {
      if (!states.every(isClosed))
        this.#violate("breakers open and close", `those of ${provider} are ${states.join()}`);
    }
  }

  get #isBusy(): boolean {
    return this.#clients.size > 0 || this.#videoClients > 0 || this.#faults > 0 || this.#process === undefined;
  }

  async #checkLedger(): Promise<void> {
    const query = (text: string) => this.#clock.until(this.#storage.query(text));
    const operations = await query("SELECT * FROM operations ORDER BY id");
    const videoRows = await query("SELECT * FROM receipts WHERE verb = 'videos' ORDER BY id");
    checkVideos(operations, videoRows, this.#videos, (rule, what) => this.#violate(rule, what));
    const rows = await query("SELECT * FROM receipts WHERE verb <> 'videos' ORDER BY id");
    const found = new Set<number>();
    for (const row of rows) {
      const id = this.#settled.get(String(row["id"]));
      const book = id === undefined ? undefined : this.#books.get(id);
      if (id === undefined || book === undefined) {
        this.#violate("a row is its call's", `${String(row["id"])} belongs to no call`);
        continue;
      }
      found.add(id);
      checkRow(row, book, (rule, what) => this.#violate(rule, what, book));
    }
    for (const [id, book] of this.#books) {
      // Whoever has read an answer to its end finds it in the ledger, whatever was killed since.
      const isLost = book.process !== this.#process?.number && book.ending !== "whole";
      if (found.has(id) || book.ending === "cut" || isLost) continue;
      const isAnswered = book.ending === "whole" || book.attempts.length > 0;
      if (isAnswered) this.#violate("committed answers are rows", `${book.ending}, and no row`, book);
    }
    for (const [id, book] of this.#books) {
      if (book.ending === "whole" && !found.has(id) && this.#store.receipts.has(book.receiptId ?? ""))
        this.#violate("committed answers are rows", "the row was there, and is not any more", book);
    }
  }

  #violate(rule: string, what: string, book?: CallBook): void {
    if (this.#violations.length >= MAX_VIOLATIONS) return;
    this.#trace.note(`VIOLATION ${rule}: ${what}`);
    this.#violations.push({ rule, what, call: book?.plan.id });
  }

  #result(): RunResult {
    const endings: Record<string, number> = {};
    let attempts = 0;
    let continued = 0;
    for (const book of this.#books.values()) {
      const ending = book.ending === "failed" ? `failed ${book.status}` : (book.ending ?? "none");
      endings[ending] = (endings[ending] ?? 0) + 1;
      attempts += book.attempts.length;
      if (book.ending === "whole" && book.attempts.some(({ isContinuation }) => isContinuation)) continued++;
    }
    const { passedMs } = this.#clock;
    return {
      violations: this.#violations,
      digest: this.#trace.digest(),
      trace: this.#trace.lines,
      calls: this.#scenario.steps.filter(({ kind }) => kind === "call" || kind === "video").length,
      attempts,
      rows: this.#settled.size,
      kills: this.#processes - 1,
      continued,
      endings,
      passedMs,
    };
  }
}
