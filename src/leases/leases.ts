import type { Cancel, Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { LeaseSource, Reclaim, Sync, SyncAnswer } from "./lease-source.ts";
import { LeasedWindow, type LeaseState, type WindowOptions } from "./leased-window.ts";

/** What the ledger knows of budgets. */
export interface SpentByInstance {
  /** What each instance has spent of each window; those long gone together as "". */
  ofWindows(windows: readonly string[]): Promise<ReadonlyMap<string, Readonly<Record<string, number>>>>;
  /** What a dead instance has spent of these windows. */
  ofDead(instance: string, windows: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

interface LeasesOptions {
  source: LeaseSource;
  clock: Clock;
  instance: string;
  /** How long what is held stays valid without an answer from the source. */
  leaseMs: number;
  spent: SpentByInstance;
  /** Whether no other instance was running when this one started. */
  isFirst: boolean;
  /** Instances that have died, as far as this one knows. */
  dead?: readonly string[];
  /** The receipts of this process that the ledger does not have; absent: there are none. */
  journal?: { folder: string; isBehind: () => boolean };
  /** Called once when the source becomes unavailable, and once, with undefined, when it recovers. */
  onTrouble?: (reason: unknown) => void;
}

/** Between two syncs when there is nothing to report. */
const POLL_MS = 200;
/** The minimum between two syncs. */
const GAP_MS = 20;
/**
 * The same for a message with what the ledger knows of a window, which each needs once. In the simulated world of
 * end-users-shared.test.ts, the first call of an end user waits 14 ms instead of 27, or 25 instead of 40 at fifty a second,
 * for 57 messages a second instead of 42.
 */
const LEDGER_GAP_MS = 5;
/** If others must give back first, asking sooner does not help. */
const RETRY_MS = 50;
/** A source that has not answered by then is tried again. */
const SYNC_MS = 1_000;
/** The most windows in a message, and of how many instances: it takes the source as long as both together. */
const MAX_CLAIMS = 500;
const MAX_CLAIMS_OF = 5;
/** How many unchanged windows are reported in each sync, and in fewer of them by each of more than ten instances. */
const REMINDED = 4;
const REMINDING = 10;
/**
 * How many windows take a share before a call needs it. A share of every window for every instance is a message of each
 * to each: of 10,000 keys at 50 instances, a million parts that move whenever one starts.
 */
const MAX_JOINING = 1_000;
/**
 * How long a start waits for its shares after the first answer: others may have to give them back, which takes seconds
 * on overloaded machines.
 */
const START_MS = 4_000;
/** How long it waits for that answer. */
const FIRST_ANSWER_MS = 5_000;
const LEDGER_RETRY_MS = 1_000;

/** What this process may use of every shared limit, kept up to date in the background: no call waits for it (H21, H23). */
export class Leases implements LeaseState {
  readonly #options: LeasesOptions;
  readonly #windows = new Map<string, LeasedWindow>();
  /** To be reported to the source. */
  readonly #touched = new Set<LeasedWindow>();
  /** Held windows that the source of this epoch does not know. */
  readonly #unregistered = new Set<LeasedWindow>();
  /** Forgotten once the source has it. */
  readonly #leaving = new Set<LeasedWindow>();
  /** How many of them are not lazy. */
  #joining = 0;
  #reminder: Iterator<LeasedWindow, undefined> = this.#windows.values();
  readonly #spent = new Map<string, Readonly<Record<string, number>>>();
  readonly #asked = new Set<string>();
  /** To be asked together next: a question costs as much for one as for thousands. */
  readonly #toAsk = new Set<string>();
  #isAsking = false;
  #reclaims: Reclaim[] = [];
  readonly #reclaiming = new Set<string>();
  #news: string[] = [];
  #newsSeen = 0;
  #epoch = "";
  #number = 0;
  #answered = 0;
  /** When that message was sent. */
  #answeredSentMs = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #syncing: Promise<void> | undefined;
  /** Requested while a sync was in flight. */
  #nextGapMs = POLL_MS;
  #cancel: Cancel = () => {};
  #stopped = false;
  #trouble: unknown;
  /** Called with what other instances publish. */
  onNews: (news: string) => void = () => {};
  instances = Number.POSITIVE_INFINITY;
  sourceAheadMs = 0;
  validUntilMs = Number.NEGATIVE_INFINITY;
  partedMs = Number.POSITIVE_INFINITY;

  constructor(options: LeasesOptions) {
    this.#options = options;
    options.source.onWanted = () => this.#hurry(GAP_MS);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get isAnswered(): boolean {
    return this.#answered > 0 && this.#trouble === undefined;
  }

  /** Why the source does not answer; undefined while it does. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** What is held is no longer valid: an equal share is used. */
  get isParted(): boolean {
    return this.#options.clock.nowMs() >= this.validUntilMs;
  }

  /** The window of that name, created if there is none. */
  window(options: WindowOptions): LeasedWindow {
    const known = this.#windows.get(options.name);
    const nowMs = this.#options.clock.nowMs();
    if (known !== undefined) {
      this.#leaving.delete(known);
      known.reuse(options, nowMs);
      return known;
    }
    const { isPassing = false } = options;
    const isLazy = isPassing || this.#joining >= MAX_JOINING;
    const made = new LeasedWindow({ ...options, isLazy }, this, nowMs);
    if (!isLazy) this.#joining++;
    this.#windows.set(options.name, made);
    if (isPassing || !isLazy) this.touch(made, true);
    return made;
  }

  /** It is no longer used. */
  drop(name: string): void {
    const window = this.#windows.get(name);
    if (window === undefined || this.#leaving.has(window)) return;
    const nowMs = this.#options.clock.nowMs();
    if (window.isUnused(nowMs)) {
      this.#windows.delete(name);
      this.#touched.delete(window);
      return;
    }
    this.#leaving.add(window);
    window.leave(nowMs);
  }

  /** Notifies all other instances. */
  publish(news: string): void {
    this.#news.push(news);
    this.#hurry(GAP_MS);
  }

  /** Receipts go to the journal now: the source must know before more of them do. */
  tellBehind(): void {
    this.#hurry(GAP_MS);
  }

  /** Takes the first shares. Rejects if the source does not answer. */
  async start(): Promise<void> {
    const { clock } = this.#options;
    for (const untilMs = clock.nowMs() + FIRST_ANSWER_MS; ; await clock.sleep(RETRY_MS)) {
      await this.#sync();
      if (this.#answered > 0) break;
      if (clock.nowMs() >= untilMs) throw this.#trouble;
    }
    for (const untilMs = clock.nowMs() + START_MS; clock.nowMs() < untilMs; await this.#sync()) {
      if (this.#touched.size === 0 && this.#asked.size === 0) break;
      await clock.sleep(RETRY_MS);
    }
    this.#plan();
  }

  /** Gives back what was not used, and is dead. What it has spent is in the ledger, where the others look for that of the dead. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#syncing;
    const nowMs = this.#options.clock.nowMs();
    // There may be very many windows of end users: the others find those.
    for (const window of this.#windows.values()) {
      if (!window.isPassing && !window.isUnused(nowMs)) window.leave(nowMs);
    }
    while (this.#touched.size > this.#mostClaims && this.#trouble === undefined) await this.#sync();
    if (this.#trouble === undefined) await this.#sync(true);
    await this.#options.source.close();
  }

  touch(window: LeasedWindow, isUrgent: boolean): void {
    this.#touched.add(window);
    if (isUrgent) this.#hurry(this.#failures === 0 ? GAP_MS : RETRY_MS);
  }

  part(nowMs: number): void {
    if (this.partedMs <= nowMs) return;
    this.partedMs = nowMs;
    this.#epoch = "";
    for (const window of this.#windows.values()) window.part(nowMs);
    this.#mustRegisterAll();
  }

  /** The next sync starts this long after the last one, or earlier. */
  #hurry(gapMs: number): void {
    if (this.#stopped || this.#number === 0) return;
    if (this.#syncing !== undefined) {
      this.#nextGapMs = Math.min(this.#nextGapMs, gapMs);
      return;
    }
    this.#cancel();
    const waitMs = Math.max(0, this.#sentMs + gapMs - this.#options.clock.nowMs());
    this.#cancel = this.#options.clock.after(waitMs, () => void this.#turn(), { background: true });
  }

  #plan(): void {
    const asked = this.#nextGapMs;
    this.#nextGapMs = POLL_MS;
    if (this.#failures > 0) this.#hurry(Math.min(SYNC_MS, RETRY_MS * 2 ** this.#failures));
    else this.#hurry(Math.min(asked, this.#touched.size > 0 || this.#reclaims.length > 0 ? RETRY_MS : POLL_MS));
  }

  async #turn(): Promise<void> {
    if (this.#syncing !== undefined) return;
    await this.#sync();
    this.#plan();
  }

  async #sync(leaves = false): Promise<void> {
    this.#syncing = this.#exchange(leaves);
    await this.#syncing;
    this.#syncing = undefined;
  }

  async #exchange(leaves: boolean): Promise<void> {
    const { source, clock, onTrouble } = this.#options;
    const sentMs = clock.nowMs();
    this.#sentMs = sentMs;
    if (this.#number > 0 && sentMs >= this.validUntilMs) this.part(sentMs);
    const batch = this.#batch(sentMs);
    const sync = this.#write(batch, sentMs, leaves);
    try {
      const late = () => new Error(`the source of leases did not answer within ${SYNC_MS} ms`);
      const answer = await withTimeout(source.sync(sync), SYNC_MS, clock, late);
      this.#take(sync, answer, batch, sentMs);
      this.#failures = 0;
      if (this.#trouble !== undefined) onTrouble?.(undefined);
      this.#trouble = undefined;
    } catch (thrown) {
      for (const window of batch) this.#touched.add(window);
      this.#failures++;
      if (this.#trouble === undefined) onTrouble?.(thrown);
      this.#trouble = thrown;
    }
  }

  get #mostClaims(): number {
    return Math.ceil(MAX_CLAIMS / Math.max(1, Math.min(this.instances, MAX_CLAIMS) / MAX_CLAIMS_OF));
  }

  /**
   * What the source must know first comes first. A few others are reported each time, so that it does not forget them.
   */
  #batch(nowMs: number): LeasedWindow[] {
    const batch: LeasedWindow[] = [];
    const isReminding = this.#number % Math.ceil(this.instances / REMINDING) === 0;
    for (let count = 0; isReminding && count < REMINDED; count++) {
      const { value, done } = this.#reminder.next();
      if (done) this.#reminder = this.#windows.values();
      else if (!value.isUnused(nowMs)) this.#touched.add(value);
    }
    for (const windows of [this.#unregistered, this.#touched]) {
      for (const window of windows) {
        if (batch.length >= this.#mostClaims) break;
        if (this.#touched.delete(window)) batch.push(window);
      }
    }
    return batch;
  }

  #write(batch: readonly LeasedWindow[], nowMs: number, leaves: boolean): Sync {
    const { instance, isFirst, dead = [], journal } = this.#options;
    return {
      instance,
      number: ++this.#number,
      epoch: this.#epoch,
      answered: this.#answered,
      answeredAgoMs: this.#answered === 0 ? 0 : Math.ceil(nowMs - this.#answeredSentMs),
      journals: journal?.folder ?? "",
      isBehind: journal?.isBehind() ?? false,
      claims: batch.map((window) => window.claim(nowMs, this.#spent.get(window.name))),
      reclaims: [...this.#reclaims],
      isFirst: isFirst && this.#answered === 0,
      dead: this.#answered === 0 ? dead : [],
      leaves,
      news: [...this.#news],
      newsSeen: this.#newsSeen,
    };
  }

  #take(sync: Sync, answer: SyncAnswer, batch: readonly LeasedWindow[], sentMs: number): void {
    const { clock, leaseMs } = this.#options;
    const nowMs = clock.nowMs();
    this.#answered = sync.number;
    this.#answeredSentMs = sentMs;
    this.instances = answer.instances;
    this.#news.splice(0, sync.news.length);
    this.#reclaims.splice(0, sync.reclaims.length);
    if (answer.epoch !== this.#epoch) {
      this.sourceAheadMs = answer.nowMs - sentMs;
      this.#registerAgain(answer);
    }
    for (const [index, window] of batch.entries()) {
      this.#unregistered.delete(window);
      // What has arrived since the message was written is sent with the next one.
      if (sync.claims[index]?.spent !== undefined) this.#spent.delete(window.name);
      window.granted(answer.held[index] ?? 0, answer.left[index] ?? 0, answer.alone.includes(window.name), nowMs);
      const isForgotten = sync.claims[index]?.forgets === true;
      const isLeaving = this.#leaving.has(window);
      if (!isLeaving && isForgotten) {
        // A call came in the meantime: for the source the window is a new one.
        window.isKnown = false;
        this.touch(window, true);
      }
      // The source does not know yet that it leaves.
      if (isLeaving && window.isPassing && !isForgotten && window.mayBeForgotten(nowMs)) {
        this.touch(window, false);
        continue;
      }
      if (!this.#leaving.delete(window)) continue;
      if (!window.isLazy) this.#joining--;
      this.#windows.delete(window.name);
      this.#touched.delete(window);
    }
    if (this.#unregistered.size === 0) {
      this.validUntilMs = sentMs + leaseMs;
      this.partedMs = Number.POSITIVE_INFINITY;
    }
    for (const { window, level } of answer.wanted) this.#windows.get(window)?.giveBack(level, nowMs);
    this.#askSpent(answer.unknown);
    for (const { instance, windows } of answer.dead) this.#reclaim(instance, windows);
    this.#newsSeen = answer.newsSeen;
    for (const news of answer.news) this.onNews(news);
  }

  #registerAgain({ epoch, newsSeen }: SyncAnswer): void {
    this.#epoch = epoch;
    this.#newsSeen = Math.min(this.#newsSeen, newsSeen);
    this.#mustRegisterAll();
  }

  #mustRegisterAll(): void {
    const nowMs = this.#options.clock.nowMs();
    for (const window of this.#windows.values()) if (!window.isUnused(nowMs)) this.#mustRegister(window);
  }

  #mustRegister(window: LeasedWindow): void {
    window.isKnown = false;
    this.#touched.add(window);
    this.#unregistered.add(window);
  }

  #askSpent(unknown: readonly string[]): void {
    for (const name of unknown) if (!this.#asked.has(name) && !this.#spent.has(name)) this.#toAsk.add(name);
    if (this.#toAsk.size === 0 || this.#isAsking) return;
    const asked = [...this.#toAsk];
    this.#toAsk.clear();
    this.#isAsking = true;
    for (const name of asked) this.#asked.add(name);
    const again = () => {
      for (const name of asked) {
        this.#asked.delete(name);
        const window = this.#windows.get(name);
        if (window !== undefined) this.touch(window, false);
      }
      this.#hurry(this.#failures === 0 ? LEDGER_GAP_MS : RETRY_MS);
    };
    const next = () => {
      this.#isAsking = false;
      this.#askSpent([]);
    };
    this.#options.spent.ofWindows(asked).then(
      (found) => {
        for (const name of asked) this.#spent.set(name, found.get(name) ?? {});
        again();
        next();
      },
      () => {
        this.#options.clock.after(LEDGER_RETRY_MS, again, { background: true });
        next();
      },
    );
  }

  #reclaim(instance: string, windows: readonly string[]): void {
    if (this.#reclaiming.has(instance)) return;
    this.#reclaiming.add(instance);
    const done = () => void this.#reclaiming.delete(instance);
    this.#options.spent.ofDead(instance, windows).then(
      (found) => {
        for (const window of windows) this.#reclaims.push({ instance, window, spent: found.get(window) ?? 0 });
        this.#hurry(GAP_MS);
        this.#options.clock.after(LEDGER_RETRY_MS, done, { background: true });
      },
      () => void this.#options.clock.after(LEDGER_RETRY_MS, done, { background: true }),
    );
  }
}
