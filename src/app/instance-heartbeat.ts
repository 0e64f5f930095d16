import type { Cancel, Clock } from "../base/clock.ts";
import type { Sources } from "../base/sources.ts";
import type { Log } from "../observe/log.ts";
import type { Storage } from "../storage/storage.ts";
import {
  beat,
  deleteInstance,
  type Instance,
  insertInstance,
  type RegisteredInstance,
  selectInstances,
} from "../storage/tables/instances.ts";
import { checkOthers, type Joined, placeOf, sharesLimits } from "./check-others.ts";
import { hasEnded, processName } from "./process-name.ts";

/** An instance whose count has not changed for this many of our beats is considered dead, and its row is removed. */
const BEATS_UNTIL_FORGOTTEN = 12;

/** The row of an instance is out of date if it has not changed for this many of our own beats. */
const STILL = 3;

/** While the storage is unavailable it is checked more often, so that its return is noticed soon. */
const FASTER_IN_TROUBLE = 5;

interface Neighbour {
  beats: number;
  /** Consecutive checks at which its count had not changed. */
  still: number;
  reported: boolean;
}

/**
 * Records in the storage, every few seconds, that this gateway is alive. That shows other gateways on the same storage, and whether
 * the storage accepts writes.
 */
export class InstanceHeartbeat {
  readonly #storage: Storage;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #self: RegisteredInstance;
  readonly #neighbours = new Map<string, Neighbour>();
  readonly #everyMs: number;
  #cancel: Cancel = () => {};
  #beating: Promise<void> = Promise.resolve();
  #stopped = false;
  #trouble: string | undefined;
  /** When the storage was last written. */
  #writtenAtMs: number;
  /** The running calls of this process, which each beat publishes. */
  runningCalls: () => number = () => 0;
  #others: readonly Instance[] = [];

  constructor(options: {
    id: string;
    storage: Storage;
    log: Log;
    sources: Sources;
    everyMs: number;
    /** The name of the server that shares limits; "" if they are not shared. */
    shares: string;
    /** The identity of its file store. */
    files: string;
    /** The process that ends the gateway if it is stopped; default: this one. */
    main?: number | undefined;
  }) {
    this.#storage = options.storage;
    this.#log = options.log;
    const { clock } = options.sources;
    this.#clock = clock;
    this.#everyMs = options.everyMs;
    this.#writtenAtMs = clock.nowMs();
    const startedAtMs = Math.round(clock.wallMs());
    const { id, shares, files, main } = options;
    this.#self = { id, place: placeOf(process.pid, main), process: processName(), startedAtMs, shares, files };
  }

  /** Why the last write to the storage failed; undefined if it succeeded. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** The time since the last write. */
  get ageMs(): number {
    return Math.round(this.#clock.nowMs() - this.#writtenAtMs);
  }

  /** The other instances at the last beat that are not known to be dead. */
  get others(): readonly Instance[] {
    return this.#others.filter(
      ({ id, process }) => !hasEnded(process) && (this.#neighbours.get(id)?.still ?? 0) < STILL,
    );
  }

  /** Registers this instance. Refuses to start while a gateway that shares no limits or files with it is running. */
  async join(): Promise<Joined> {
    await insertInstance(this.#storage, this.#self);
    try {
      return await checkOthers({
        storage: this.#storage,
        self: this.#self,
        clock: this.#clock,
        everyMs: this.#everyMs,
      });
    } catch (thrown) {
      await deleteInstance(this.#storage, this.#self.id).catch(() => {});
      throw thrown;
    }
  }

  start(): void {
    this.#beating = this.#beat();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#beating;
    // If the storage is unavailable the row stays, and another instance removes it later.
    if (this.#trouble === undefined) await deleteInstance(this.#storage, this.#self.id).catch(() => {});
  }

  async #beat(): Promise<void> {
    try {
      await beat(this.#storage, this.#self, this.runningCalls());
      await this.#lookAround();
      if (this.#trouble !== undefined) this.#log.info("the database is writable again");
      this.#trouble = undefined;
      this.#writtenAtMs = this.#clock.nowMs();
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (this.#trouble === undefined) this.#log.error({ err: thrown }, "cannot write to the database");
      this.#trouble = `cannot write to the database: ${reason}`;
    }
    if (this.#stopped) return;
    const waitMs = this.#trouble === undefined ? this.#everyMs : this.#everyMs / FASTER_IN_TROUBLE;
    this.#cancel = this.#clock.after(waitMs, () => this.start(), { background: true });
  }

  async #lookAround(): Promise<void> {
    const found = await selectInstances(this.#storage);
    this.#others = found.filter(({ id }) => id !== this.#self.id);
    const ids = new Set(found.map(({ id }) => id));
    for (const id of this.#neighbours.keys()) if (!ids.has(id)) this.#neighbours.delete(id);
    for (const instance of this.#others) await this.#notice(instance);
  }

  async #notice({ id, place, startedAtMs, shares, beats }: Instance): Promise<void> {
    const known = this.#neighbours.get(id);
    if (known === undefined) {
      this.#neighbours.set(id, { beats, still: 0, reported: false });
      return;
    }
    if (known.beats === beats) {
      known.still += 1;
      if (known.still < BEATS_UNTIL_FORGOTTEN) return;
      this.#neighbours.delete(id);
      await deleteInstance(this.#storage, id);
      return;
    }
    known.beats = beats;
    known.still = 0;
    if (known.reported || sharesLimits(this.#self.shares, shares)) return;
    known.reported = true;
    const since = new Date(startedAtMs).toISOString();
    this.#log.warn(
      `another gateway uses this database (${place}, since ${since}) without sharing limits with this one, so each of them applies the limits separately. Stop one of them, or set the same \`redis\` for both.`,
    );
  }
}
