import type { Config } from "../src/config/config.ts";
import type { CallFacts, SettledCall } from "../src/observe/call-line.ts";
import type { Storage } from "../src/storage/storage.ts";
import { StorageTimeout } from "../src/storage/storage-timeout.ts";
import { MemoryFileStore } from "../testing/memory-file-store.ts";
import type { VirtualClock } from "../testing/virtual-clock.ts";
import { BackgroundClient } from "./background-client.ts";
import type { CallBook } from "./book.ts";
import { SimulatedClient } from "./client.ts";
import { VIDEO_PROVIDERS } from "./configuration.ts";
import { FaultyStorage } from "./faulty-storage.ts";
import { checkAnswer } from "./invariants.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { KeptJournals } from "./kept-journals.ts";
import { LimitWatch } from "./limits.ts";
import { SimulatedProviders } from "./providers.ts";
import type { ReadAnswer } from "./read-answer.ts";
import type { ReadService } from "./read-service.ts";
import { requestEnd } from "./request-end.ts";
import { type Scenario, SERVICES, type ServicePlan, type Step, type VideoPlan } from "./scenario.ts";
import { ServiceClient } from "./service-client.ts";
import { isServiceHost, type ServiceBook, SimulatedServiceHost } from "./service-host.ts";
import { checkServiceAnswer } from "./service-invariants.ts";
import { SimulatedProcess, type Surroundings } from "./simulated-process.ts";
import { Trace } from "./trace.ts";
import { VideoClient } from "./video-client.ts";
import { SimulatedVideoHost, type VideoBook } from "./video-host.ts";

const VIDEO_HOSTS = new Set(Object.values(VIDEO_PROVIDERS).map((url) => new URL(url).host));

/** A rule that was broken, and by which call. */
export interface Violation {
  rule: string;
  what: string;
  call: number | undefined;
}

export interface WorldOptions {
  config: Config;
  keepsTrace?: boolean;
}

/** A run ends at its first violations: what follows from them means nothing. */
const MAX_VIOLATIONS = 5;
/** How long a store must have been healthy before rows are expected in time: lost ones are sent again within this. */
const SETTLING_MS = 12_000;

/**
 * After this many consecutive failures a breaker is open. Five are enough; the last ones a provider has sent may still
 * be in transit, behind a slow client.
 */
const FAILURES_THAT_OPEN = 8;

export const isClosed = (state: string): boolean => state === "closed";

/** Everything around the gateway: what happens from outside, and the rules that hold meanwhile. */
export class World {
  readonly #scenario: Scenario;
  readonly clock: VirtualClock;
  readonly storage: Storage;
  readonly trace: Trace;
  readonly store: FaultyStorage;
  readonly providers: SimulatedProviders;
  readonly videoHost: SimulatedVideoHost;
  readonly serviceHost: SimulatedServiceHost;
  readonly #limits: LimitWatch;
  readonly #surroundings: Surroundings;
  readonly violations: Violation[] = [];
  readonly books = new Map<number, CallBook>();
  readonly videos = new Map<number, VideoBook>();
  readonly services = new Map<number, ServiceBook>();
  readonly kept = new KeptAnswers();
  /** Clients that still wait for a video or a background response. */
  #patientClients = 0;
  /** Calls that are not over for their clients. */
  readonly clients = new Set<SimulatedClient | ServiceClient>();
  readonly #callOfRequest = new Map<string, number>();
  /** Calls with background responses, by the response's id. */
  readonly #inBackground = new Map<string, CallBook>();
  /** By receipt. */
  readonly settled = new Map<string, number>();
  readonly #spent = new Map<string, number>();
  /** By key and model. */
  readonly #spentOf = new Map<string, { nanoUsd: number; calls: number }>();
  process: SimulatedProcess | undefined;
  processes = 0;
  /** Timers of an idle process. */
  restingTimers = 0;
  /** Requests sent while no process runs. */
  readonly #waiting: (() => void)[] = [];
  #faults = 0;

  constructor(scenario: Scenario, { config, keepsTrace = false }: WorldOptions, clock: VirtualClock, storage: Storage) {
    this.#scenario = scenario;
    this.clock = clock;
    this.storage = storage;
    this.trace = new Trace(() => clock.passedMs, keepsTrace);
    this.store = new FaultyStorage(storage, clock);
    this.store.onAnswerDone = (id) => this.#checkReadable(id);
    this.#limits = new LimitWatch((rule, what) => this.violate(rule, what));
    this.providers = new SimulatedProviders({
      clock,
      trace: this.trace,
      bookOf: (id) => this.books.get(id),
      onAsked: (book) => this.#asked(book),
      onViolation: (rule, what) => this.violate(rule, what),
    });
    this.videoHost = new SimulatedVideoHost({
      clock,
      trace: this.trace,
      bookOf: (id) => this.videos.get(id),
      onViolation: (rule, what) => this.violate(rule, what),
    });
    this.serviceHost = new SimulatedServiceHost({
      clock,
      trace: this.trace,
      bookOf: (id) => this.services.get(id),
      onAsked: (book) => this.#watchLimits(book.plan.key, book.requests.length === 1 ? book.sentAtMs : undefined),
      onViolation: (rule, what) => this.violate(rule, what),
    });
    this.#surroundings = {
      config,
      clock,
      store: this.store,
      fileStore: new MemoryFileStore(clock.wallMs),
      journals: new KeptJournals(),
      send: (request) => {
        const { host } = new URL(request.url);
        if (VIDEO_HOSTS.has(host)) return this.videoHost.send(request);
        return isServiceHost(host) ? this.serviceHost.send(request) : this.providers.send(request);
      },
      onSettled: (call, facts) => this.#settle(call, facts),
      onInternal: (what) => this.#internal(what),
    };
  }

  take(step: Step): void {
    switch (step.kind) {
      case "call":
        this.call(step.call);
        return;
      case "video":
        this.#video(step.video);
        return;
      case "service":
        this.service(step.service);
        return;
      case "store":
        this.trace.note(`the store ${step.fault}`);
        this.store.beginFault(step.fault);
        this.#later(step.forMs, () => {
          this.trace.note("the store is back");
          this.store.endFault();
        });
        return;
      case "outage":
        this.trace.note(`${step.provider} is out: ${step.behaviour.fault}`);
        this.providers.beginOutage(step.provider, step.behaviour);
        this.#later(step.forMs, () => {
          const failures = this.providers.endOutage(step.provider);
          const states = this.process?.breakers().get(step.provider) ?? [];
          if (failures >= FAILURES_THAT_OPEN * states.length && states.length > 0 && states.every(isClosed))
            this.violate("breakers open and close", `${step.provider} has failed ${failures} times, and is asked on`);
        });
        return;
      case "kill":
        this.#kill(step.downMs);
    }
  }

  /** Runs once after a delay, always before the end of the run. */
  #later(ms: number, run: () => void): void {
    this.#faults++;
    this.clock.after(ms, () => {
      this.#faults--;
      run();
    });
  }

  call(plan: CallBook["plan"]): void {
    const process = this.process;
    if (process === undefined) {
      // Like a client that retries after a refused connection.
      this.#waiting.push(() => this.call(plan));
      return;
    }
    const book: CallBook = {
      plan,
      process: process.number,
      sentAtMs: this.clock.nowMs(),
      requestEnd: "",
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
    this.books.set(plan.id, book);
    this.trace.note(`call ${plan.id} of ${plan.key}: ${plan.dialect} ${plan.model}${plan.stream ? " streamed" : ""}`);
    if (plan.background) {
      this.#background(book, process);
      return;
    }
    const client = new SimulatedClient(book, {
      clock: this.clock,
      onEnd: (_, answer) => this.#ended(client, answer),
      previous: this.kept.next(plan),
    });
    this.clients.add(client);
    client.send(process);
    this.#callOfRequest.set(book.requestEnd, plan.id);
  }

  service(plan: ServicePlan): void {
    const process = this.process;
    if (process === undefined) {
      this.#waiting.push(() => this.service(plan));
      return;
    }
    const book: ServiceBook = {
      plan,
      process: process.number,
      sentAtMs: this.clock.nowMs(),
      requestEnd: "",
      requests: [],
      ending: undefined,
      endedAtMs: 0,
      status: 0,
      receiptId: undefined,
      content: "",
      isSettled: false,
      wasCrowded: false,
    };
    this.services.set(plan.id, book);
    this.trace.note(`call ${plan.id} of ${plan.key}: ${plan.service} of ${plan.size}${plan.stream ? " streamed" : ""}`);
    const client = new ServiceClient(book, {
      clock: this.clock,
      onEnd: (ended, read) => this.#serviceEnded(ended, read),
    });
    this.clients.add(client);
    client.send(process).catch((error: unknown) => this.violate("the simulation itself is sound", String(error)));
    this.#callOfRequest.set(book.requestEnd, plan.id);
  }

  #background(book: CallBook, process: SimulatedProcess): void {
    this.#patientClients++;
    const client = new BackgroundClient(book, process, {
      clock: this.clock,
      process: () => this.process,
      onViolation: (rule, what) => this.violate(rule, what, book),
      onBegun: (id) => this.#inBackground.set(id, book),
    });
    const ended = client.run();
    this.#callOfRequest.set(book.requestEnd, book.plan.id);
    ended.then(
      () => {
        this.#patientClients--;
        this.trace.note(`call ${book.plan.id} in the background is ${book.ending} for its client`);
      },
      (error: unknown) => this.violate("the simulation itself is sound", String(error)),
    );
  }

  #video(plan: VideoPlan): void {
    const book: VideoBook = { plan, submits: 0, polls: 0, jobs: [], name: undefined, told: undefined };
    this.videos.set(plan.id, book);
    this.#patientClients++;
    this.trace.note(`video ${plan.id} of ${plan.key}`);
    const client = new VideoClient(book, {
      clock: this.clock,
      process: () => this.process,
      onViolation: (rule, what) => this.violate(rule, what),
    });
    client.run().then(
      () => {
        this.#patientClients--;
        this.trace.note(`video ${plan.id} is ${book.told ?? "given up"} for its client`);
      },
      (error: unknown) => this.violate("the simulation itself is sound", String(error)),
    );
  }

  /** A call has sent a request to a provider. */
  #asked(book: CallBook): void {
    this.#watchLimits(book.plan.key, book.attempts.length === 1 ? book.sentAtMs : undefined);
    this.#limits.asked(this.providers.open, (provider) => this.providers.openAt(provider));
  }

  /** `admittedAtMs`: when the call was sent, if this is its first request. */
  #watchLimits(key: string, admittedAtMs: number | undefined): void {
    if (admittedAtMs !== undefined) this.#limits.admitted(key, admittedAtMs);
    this.#limits.underWay(key, () => this.providers.callsUnderWay(key) + this.serviceHost.callsUnderWay(key));
  }

  #serviceEnded(client: ServiceClient, read: ReadService | undefined): void {
    const { book } = client;
    this.clients.delete(client);
    this.trace.note(`call ${book.plan.id} ${book.ending} ${book.status}`);
    book.wasCrowded = (this.process?.refusedSlotAtMs ?? 0) >= book.sentAtMs;
    checkServiceAnswer(book, read, (rule, what) => this.violate(rule, what, book));
    this.#checkReceipt(book);
  }

  #ended(client: SimulatedClient, answer: ReadAnswer | undefined): void {
    const { book } = client;
    this.clients.delete(client);
    const { plan, ending, status, text } = book;
    this.trace.note(`call ${plan.id} ${ending} ${status} ${text.length} characters`);
    book.wasCrowded = (this.process?.refusedSlotAtMs ?? 0) >= book.sentAtMs;
    checkAnswer(book, answer, (rule, what) => this.violate(rule, what, book));
    // The storage may have been unavailable when the call ended, long before its client has read everything.
    const takenMs = this.clock.nowMs() - book.sentAtMs;
    this.kept.ended(book, answer?.id, this.store.soundForMs > SETTLING_MS + takenMs);
    this.#checkReceipt(book);
  }

  #checkReceipt(book: CallBook | ServiceBook): void {
    const { ending, receiptId } = book;
    const isDue = ending === "whole" || (ending === "failed" && receiptId !== undefined);
    if (!isDue) return;
    if (receiptId === undefined) {
      this.violate("a row is stored before the last byte", "an answer without a receipt", book);
    } else if (this.store.soundForMs > SETTLING_MS && !this.store.receipts.has(receiptId)) {
      this.violate("a row is stored before the last byte", `${receiptId} is not in the ledger`, book);
    }
  }

  /** From now on, anyone who knows its id may read it. */
  #checkReadable(answerId: string): void {
    const receiptId = this.#inBackground.get(answerId)?.receiptId;
    if (receiptId === undefined || this.store.receipts.has(receiptId) || this.store.soundForMs <= SETTLING_MS) return;
    this.violate("a row is stored before its response can be read", `${receiptId} is not in the ledger`);
  }

  #settle(call: SettledCall, { requestId }: CallFacts): void {
    const key = call.key.replace("static:", "");
    const spent = (this.#spent.get(key) ?? 0) + call.costNanoUsd;
    this.#spent.set(key, spent);
    this.#limits.spent(key, spent);
    const { nanoUsd, calls } = this.#spentOf.get(`${key} ${call.model}`) ?? { nanoUsd: 0, calls: 0 };
    const ofModel = { nanoUsd: nanoUsd + call.costNanoUsd, calls: calls + 1 };
    this.#spentOf.set(`${key} ${call.model}`, ofModel);
    this.#limits.spentOf(key, call.model, ofModel);
    if (call.verb === "videos") {
      this.trace.note(`a video is settled: ${call.outcome} ${call.costNanoUsd}`);
      return;
    }
    const id = this.#callOfRequest.get(requestEnd(requestId ?? ""));
    const isService = (SERVICES as readonly string[]).includes(call.verb);
    const book = (isService ? this.services : this.books).get(id ?? Number.NaN);
    this.trace.note(`call ${id} settled ${call.outcome} ${call.costNanoUsd}`);
    if (id === undefined || book === undefined) {
      this.violate("a row matches its call", `${call.id} belongs to no call`);
      return;
    }
    if (book.isSettled) this.violate("a call is settled once", `once more as ${call.id}`, book);
    book.isSettled = true;
    this.settled.set(call.id, id);
  }

  #internal(what: string): void {
    // Store failures are logged, as they should be.
    if (/StorageTimeout|disk I\/O error|The ledger's store failed|not stored within/.test(what)) return;
    this.violate("the gateway has no internal errors", what);
  }

  #kill(downMs: number): void {
    const process = this.process;
    if (process === undefined) return;
    this.trace.note("killed");
    this.process = undefined;
    process.kill();
    this.providers.cutAll();
    this.videoHost.cutAll();
    this.serviceHost.cutAll();
    for (const client of [...this.clients]) client.cut();
    this.#limits.forget();
    this.#later(downMs, () => void this.start());
  }

  /** Starts a process on the content of the store. */
  async start(): Promise<void> {
    for (;;) {
      try {
        const process = await SimulatedProcess.start(this.#scenario.seed, this.processes++, this.#surroundings);
        await this.#countSpent();
        this.restingTimers = process.clock.timers;
        this.process = process;
        break;
      } catch (error) {
        // A process that finds its store unavailable exits and is started again.
        if (this.store.soundForMs > SETTLING_MS && !(error instanceof StorageTimeout)) throw error;
        await this.clock.sleep(1_000);
      }
    }
    this.trace.note("started");
    for (const send of this.#waiting.splice(0)) send();
  }

  /** A process knows what the ledger holds. Rows that waited for the store when another process was killed are lost. */
  async #countSpent(): Promise<void> {
    this.#spent.clear();
    this.#spentOf.clear();
    const sums =
      "SELECT key_id, model, SUM(cost_nano_usd) AS spent, COUNT(*) AS calls FROM receipts GROUP BY key_id, model";
    for (const row of await this.storage.query(sums)) {
      const key = String(row["key_id"]).replace("static:", "");
      const nanoUsd = Number(row["spent"]);
      this.#spent.set(key, (this.#spent.get(key) ?? 0) + nanoUsd);
      this.#spentOf.set(`${key} ${String(row["model"])}`, { nanoUsd, calls: Number(row["calls"]) });
    }
  }

  get isBusy(): boolean {
    return this.clients.size > 0 || this.#patientClients > 0 || this.#faults > 0 || this.process === undefined;
  }

  /** Whether later results are meaningless. */
  get isBroken(): boolean {
    return this.violations.length >= MAX_VIOLATIONS;
  }

  violate(rule: string, what: string, book?: CallBook | ServiceBook): void {
    if (this.isBroken) return;
    this.trace.note(`VIOLATION ${rule}: ${what}`);
    this.violations.push({ rule, what, call: book?.plan.id });
  }
}
