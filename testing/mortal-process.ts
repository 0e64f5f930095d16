import type { Clock } from "../src/base/clock.ts";
import type { FileStore } from "../src/files/file-store.ts";
import type { Queries, Storage } from "../src/storage/storage.ts";
import type { HttpExchange } from "../src/wire/http/http-exchange.ts";
import type { Send } from "../src/wire/send.ts";
import type { Machine, ProcessParts } from "./harness.ts";

/** When it is killed: just before one of its steps has its effect, or just after, when it has not learnt of it. */
export interface Death {
  /** Counted from 1, starting when it is scheduled to die. */
  step: number;
  when: "before" | "after";
}

const never = <T>(): Promise<T> => new Promise<T>(() => {});
const isRead = (statement: string): boolean => /^\s*SELECT/i.test(statement);

/**
 * A simulated process that can be killed. Its steps are its visible effects: a row written, a file stored, a request sent.
 * Once dead, it takes no steps and receives nothing.
 */
export class MortalProcess implements ProcessParts {
  readonly clock: Clock;
  readonly send: Send;
  readonly storage: Storage;
  readonly fileStore: FileStore;
  /** Every step so far, for people. */
  readonly steps: string[] = [];
  #death: Death | undefined;
  #dead = false;

  constructor(machine: Machine) {
    this.clock = this.#clockOf(machine.clock);
    this.send = (request) => this.#send(machine.upstream.send, request);
    this.storage = this.#storageOf(machine.storage);
    this.fileStore = this.#filesOf(machine.fileStore);
  }

  get isDead(): boolean {
    return this.#dead;
  }

  dieAt({ step, when }: Death): void {
    this.#death = { step: this.steps.length + step, when };
  }

  /** Whether the step that comes now is the last, and how. */
  #begin(what: string): Death["when"] | undefined {
    this.steps.push(what);
    if (this.steps.length !== this.#death?.step) return undefined;
    if (this.#death.when === "before") this.#dead = true;
    return this.#death.when;
  }

  async #step<T>(what: string, take: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const last = this.#begin(what);
    if (this.#dead) return never();
    const taking = take();
    if (last === "after") this.#dead = true;
    const outcome = await taking.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (this.#dead) return never();
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  async #look<T>(look: () => Promise<T>): Promise<T> {
    if (this.#dead) return never();
    const found = await look();
    return this.#dead ? never() : found;
  }

  #clockOf({ nowMs, wallMs, soon, after, every, sleep }: Clock): Clock {
    const alive = (run: () => void) => () => {
      if (!this.#dead) run();
    };
    return {
      nowMs,
      wallMs,
      soon: (run) => soon(alive(run)),
      after: (ms, run, options) => after(ms, alive(run), options),
      every: (ms, run, options) => every(ms, alive(run), options),
      sleep: (ms) => this.#look(() => sleep(ms)),
    };
  }

  #send(send: Send, request: Parameters<Send>[0]): HttpExchange {
    const silent: HttpExchange = { answer: never, close: () => {} };
    if (this.#dead) return silent;
    const last = this.#begin(`${request.method ?? "POST"} ${new URL(request.url).pathname}`);
    if (this.#dead) return silent;
    const exchange = send(request);
    if (last === "after") this.#dead = true;
    return { answer: () => this.#look(() => exchange.answer()), close: () => exchange.close() };
  }

  #storageOf(storage: Storage): Storage {
    const query: Queries["query"] = (text, ...rest) =>
      isRead(text)
        ? this.#look(() => storage.query(text, ...rest))
        : this.#step(text.trim().split("\n", 1)[0] ?? "", () => storage.query(text, ...rest));
    return {
      engine: storage.engine,
      query,
      transaction: (...given) => this.#step("a transaction", () => storage.transaction(...given)),
      runForEach: (text, rows, followUp) => this.#step(text, () => storage.runForEach(text, rows, followUp)),
      changeStamp: () => this.#look(() => storage.changeStamp()),
      close: async () => {},
    };
  }

  #filesOf(files: FileStore): FileStore {
    return {
      put: (...given) => this.#step("a file", () => files.put(...given)),
      open: (...given) => this.#look(() => files.open(...given)),
      remove: (...given) => this.#step("a file's removal", () => files.remove(...given)),
      list: () => files.list(),
      identity: () => this.#look(() => files.identity()),
      removeUnfinished: (...given) => files.removeUnfinished(...given),
    };
  }
}
