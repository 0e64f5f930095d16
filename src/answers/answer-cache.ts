import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type CachedAnswerSums,
  cachedAnswerSize,
  deleteCachedAnswers,
  deleteExpiredCachedAnswers,
  insertCachedAnswer,
  selectCachedAnswer,
  sumCachedAnswers,
  totalCachedAnswers,
} from "../storage/tables/cached-answers.ts";
import type { AnswerPlace, CachedAnswer } from "./cached-answer.ts";
import type { Sealer } from "./sealer.ts";

/** How long a call waits for the storage. Then it calls a provider. */
const LOOK_MS = 100;
/** After a failure, calls do not ask the storage for this long. */
const AWAY_MS = 5_000;
/** The largest response, in characters. */
export const MAX_CACHED_CHARACTERS = 8 * 1024 * 1024;
/** The most memory of all responses that are being recorded or wait to be stored. */
const MAX_HELD = 64 * 1024 * 1024;
const MAX_WAITING = 256;
const DELETED_AT_ONCE = 100;
const MAX_SWEEPS = 1_000;
const PAUSE_MS = 20;
const TELL_MS = 60_000;

/** A response that answers a call, and how old it is. */
export interface FoundAnswer extends CachedAnswer {
  readonly ageSeconds: number;
}

/** A response to store. `make` is called after its client has received it; undefined if it cannot be used again. */
export interface WaitingAnswer {
  readonly place: AnswerPlace;
  readonly make: () => CachedAnswer | undefined;
  readonly release: () => void;
}

interface AnswerCacheOptions {
  storage: Storage;
  clock: Clock;
  /** Absent: nothing is stored. */
  sealer: Sealer | undefined;
  onProblem: (error: unknown, what: string) => void;
}

/**
 * Responses that answer equal requests of the same project, for calls whose key or project has this enabled. No call fails because of
 * it: if the storage is slow or unavailable, the call asks a provider, and its response is not stored.
 */
export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  readonly #waiting: WaitingAnswer[] = [];
  #writing: Promise<void> | undefined;
  #held = 0;
  #awayUntilMs = Number.NEGATIVE_INFINITY;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  /** Since the start, of this process. */
  readonly counts = { hits: 0, misses: 0, stored: 0, notStored: 0, evicted: 0, failed: 0, savedNanoUsd: 0 };
  /** Of all projects, when it was last added up. */
  total = { entries: 0, bytes: 0 };

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  /** Reserves memory for a response; false if there is none left. */
  hold(characters: number): boolean {
    if (this.#held + characters > MAX_HELD) return false;
    this.#held += characters;
    return true;
  }

  release(characters: number): void {
    this.#held -= characters;
  }

  /** Undefined if there is none, or if the storage does not answer in time. */
  async look({ project, digest }: AnswerPlace): Promise<FoundAnswer | undefined> {
    const { clock, sealer } = this.#options;
    if (sealer === undefined || clock.nowMs() < this.#awayUntilMs) return undefined;
    try {
      const late = () => new Error(`the storage did not answer within ${LOOK_MS} ms`);
      return await withTimeout(this.#read(project, digest, sealer), LOOK_MS, clock, late);
    } catch (thrown) {
      this.#failed(thrown, "a cached response could not be read; the call asks a provider");
      return undefined;
    }
  }

  async #read(project: string, digest: string, sealer: Sealer): Promise<FoundAnswer | undefined> {
    const nowMs = this.#options.clock.wallMs();
    const row = await selectCachedAnswer(this.#options.storage, { project, digest }, nowMs);
    if (row === undefined) return undefined;
    const answer = JSON.parse(await sealer.open(row.content, sealedFor(project, digest))) as CachedAnswer;
    return { ...answer, ageSeconds: Math.max(0, Math.floor((nowMs - row.storedAtMs) / 1000)) };
  }

  /** Stores a response in the background. */
  keep(answer: WaitingAnswer): void {
    if (this.#options.sealer === undefined || this.#waiting.length >= MAX_WAITING) {
      answer.release();
      this.counts.notStored++;
      return;
    }
    this.#waiting.push(answer);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    const { clock } = this.#options;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      // In a separate turn: the end of the response goes first.
      await clock.sleep(0);
      try {
        const isStored = clock.nowMs() >= this.#awayUntilMs && (await this.#store(next));
        if (isStored) this.counts.stored++;
        else this.counts.notStored++;
      } catch (thrown) {
        this.counts.notStored++;
        this.#failed(thrown, "a response could not be cached");
      } finally {
        next.release();
      }
    }
  }

  async #store({ place, make }: WaitingAnswer): Promise<boolean> {
    const { storage, clock, sealer } = this.#options;
    const answer = make();
    if (answer === undefined || sealer === undefined) return false;
    const { project, digest, ttlMs, maxBytes } = place;
    const content = await sealer.seal(JSON.stringify(answer), sealedFor(project, digest));
    if (cachedAnswerSize(content) > maxBytes) return false;
    const storedAtMs = clock.wallMs();
    const row = { project, digest, storedAtMs, expiresAtMs: storedAtMs + ttlMs, content };
    const { isStored, evicted } = await insertCachedAnswer(storage, row, maxBytes);
    this.counts.evicted += evicted;
    return isStored;
  }

  sums(project: string): Promise<CachedAnswerSums> {
    return sumCachedAnswers(this.#options.storage, project);
  }

  /** Deletes all responses of a project. Returns how many. */
  clear(project: string): Promise<number> {
    return this.#deleteAll(() => deleteCachedAnswers(this.#options.storage, project, DELETED_AT_ONCE));
  }

  /** Deletes expired responses. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#options;
    await this.#deleteAll(() => deleteExpiredCachedAnswers(storage, clock.wallMs(), DELETED_AT_ONCE));
    this.total = await totalCachedAnswers(storage);
  }

  async #deleteAll(deleteSome: () => Promise<number>): Promise<number> {
    let deleted = 0;
    for (let round = 0; round < MAX_SWEEPS; round++) {
      const some = await deleteSome();
      deleted += some;
      if (some < DELETED_AT_ONCE) break;
      await this.#options.clock.sleep(PAUSE_MS);
    }
    return deleted;
  }

  /** Resolves when nothing waits to be stored. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #failed(thrown: unknown, what: string): void {
    const nowMs = this.#options.clock.nowMs();
    this.counts.failed++;
    this.#awayUntilMs = nowMs + AWAY_MS;
    if (nowMs - this.#toldAtMs < TELL_MS) return;
    this.#toldAtMs = nowMs;
    this.#options.onProblem(thrown, what);
  }
}

const sealedFor = (project: string, digest: string): string => JSON.stringify(["cached answer", project, digest]);
