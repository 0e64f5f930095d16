import type { Cancel, Clock } from "../base/clock.ts";
import { GatewayError } from "../canon/error.ts";
import { isUnavailable } from "./is-unavailable.ts";
import type { ChangeStamp, Storage } from "./storage.ts";

/** Something in memory that follows the storage. */
export interface Follower {
  /** For the log. */
  name: string;
  /** Applies everything up to the stamp. */
  read(stamp: ChangeStamp): Promise<void> | void;
  /** Writes what can wait; after each poll. */
  tend?(): Promise<void>;
}

/** Where a change is: most are only in the storage. */
export type ChangedPlace = "storage" | "configuration";

/** The other processes of this gateway on this machine. */
export interface Siblings {
  /** Resolves when each of them has caught up or has ended, with those that could not read the storage. */
  catchUp(place: ChangedPlace): Promise<readonly string[]>;
  /** Resolves once the others wait for this process, which catches up when they ask. */
  join(catchUp: (place: ChangedPlace) => Promise<void>): Promise<void>;
}

interface ChangesOptions {
  storage: Pick<Storage, "changeStamp">;
  clock: Clock;
  siblings?: Siblings | undefined;
  /** Called when a follower cannot read, and with undefined when it can again; "storage" if none of them can. */
  onTrouble: (name: string, error: unknown) => void;
}

/** How often a process looks for what other machines, and the command line, have changed. */
export const POLL_MS = 200;
/** The minimum between two looks that requests with unknown keys cause: nobody who guesses can load the storage. */
const LOOK_UP_GAP_MS = 50;
/** In place of the name of one follower. */
const ALL = "storage";

/**
 * Keeps this process's memory up to date with the storage. A change counts a number up, in its own transaction; one statement reads all of
 * these numbers, and followers read only what has changed. A change that this process makes is spread before it is answered (choices 9).
 */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #followers: Follower[] = [];
  readonly #failing = new Set<string>();
  #reading: Promise<void> | undefined;
  /** The reading after that one. */
  #next: Promise<void> | undefined;
  #lookingUp: Promise<void> | undefined;
  #begunMs = Number.NEGATIVE_INFINITY;
  #readMs: number;
  /** Called when another process has applied a changed configuration: this one need not wait until its file is certain to be whole. */
  onConfiguration: () => void = () => {};
  /** Resolves when the configuration that this process applied last is applied by all. It never rejects. */
  configured: Promise<void> = Promise.resolve();

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#readMs = options.clock.nowMs();
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** How long changes of other processes could not be read. */
  get blindMs(): number {
    return this.#options.clock.nowMs() - this.#readMs;
  }

  /** Resolves when everything that was committed before holds in this process. Rejects if the storage cannot be read. */
  catchUp(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#reading === undefined) return this.#begin();
    // A reading that has begun may have missed what was committed since.
    const begin = () => this.#begin();
    this.#next = this.#reading.then(begin, begin);
    return this.#next;
  }

  /** The same for what anyone can request: many at once cost one reading, and few of them follow each other. */
  lookUp(): Promise<void> {
    const { clock } = this.#options;
    this.#lookingUp ??= clock.sleep(Math.max(0, this.#begunMs + LOOK_UP_GAP_MS - clock.nowMs())).then(() => {
      this.#lookingUp = undefined;
      return this.catchUp();
    });
    return this.#lookingUp;
  }

  /** What this process has committed holds in every process of this machine once this resolves. */
  async spread(place: ChangedPlace = "storage"): Promise<void> {
    const others = this.#options.siblings?.catchUp(place);
    await this.catchUp();
    const late = (await others) ?? [];
    if (late.length === 0) return;
    const message = `The change is stored, but ${late.join(" and ")} of this gateway cannot read the database at the moment, and will apply it as soon as possible.`;
    throw new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5 });
  }

  /** Everything that the other processes of this machine were told before holds in this one when this resolves. */
  async join(): Promise<void> {
    await this.#options.siblings?.join((place) => {
      if (place === "configuration") this.onConfiguration();
      return this.catchUp();
    });
    await this.catchUp();
  }

  /** This process has applied a changed configuration. */
  spreadConfiguration(): void {
    this.configured = this.spread("configuration").catch(() => {});
  }

  /** The returned function stops it. */
  start(): Cancel {
    let stopped = false;
    let cancel: Cancel = () => {};
    const plan = (): void => {
      if (!stopped) cancel = this.#options.clock.after(POLL_MS, () => void poll(), { background: true });
    };
    const poll = async (): Promise<void> => {
      // Trouble was reported.
      await this.catchUp().catch(() => {});
      for (const { tend } of this.#followers) await tend?.().catch(() => {});
      plan();
    };
    plan();
    return () => {
      stopped = true;
      cancel();
    };
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    this.#begunMs = this.#options.clock.nowMs();
    const reading = this.#read().finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }

  async #read(): Promise<void> {
    const { storage, clock } = this.#options;
    const stamp = await this.#watched(ALL, () => storage.changeStamp());
    let unread: unknown;
    for (const follower of this.#followers) {
      try {
        await this.#watched(follower.name, async () => await follower.read(stamp));
      } catch (thrown) {
        // What is wrong in itself stays wrong, and must not keep the others from reading.
        if (isUnavailable(thrown)) unread ??= thrown;
      }
    }
    if (unread !== undefined) throw unread;
    this.#readMs = clock.nowMs();
  }

  /** Reports the first failure of several, and the end of them. */
  async #watched<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      if (this.#failing.delete(name)) this.#options.onTrouble(name, undefined);
      return result;
    } catch (thrown) {
      if (!this.#failing.has(name)) this.#options.onTrouble(name, thrown);
      this.#failing.add(name);
      throw thrown;
    }
  }
}
