import {
  type Claim,
  FORGET_MS,
  JOURNAL_LOST_MS,
  MAX_DEAD_WINDOWS,
  MAX_NEWS,
  MAX_WANTED,
  MINUTE_MS,
  type Reclaim,
  SHORT_MS,
  SILENCE_MS,
  type Sync,
  type SyncAnswer,
  type WindowKind,
} from "./lease-source.ts";

interface LeaseTableOptions {
  /** An instance that was not heard of for so long is dead. */
  leaseMs: number;
  nowMs: () => number;
  /** Names the table: another one has another name. */
  epoch: () => string;
  /** An instance should sync soon: another wants some of what it holds, or has given what it wants. */
  onWanted?: (instance: string) => void;
}

interface InstanceRow {
  number: number;
  seenMs: number;
  /** Undefined while it lives. */
  goneMs: number | undefined;
  /** The folder of the journal that has receipts which the ledger has not; "" where there are none. */
  unstoredIn: string;
}

interface WindowRow {
  kind: WindowKind;
  limit: number;
  /** Of a budget: what was spent by instances that are not in `held`; undefined until it is told. */
  base: number | undefined;
  held: Map<string, number>;
  /** What instances held when they first told of it in this epoch: in the time of grace no more than that is granted. */
  told: number;
  /** What was added to the base for an instance that was thought dead: it may come back and claim it itself. */
  reclaimed: Map<string, number>;
  short: Map<string, { untilMs: number; ofMore: boolean }>;
}

/** What all instances hold, in the memory of one process. `lease-script.ts` is the same in Redis. */
export class LeaseTable {
  readonly #leaseMs: number;
  readonly #nowMs: () => number;
  readonly #newEpoch: () => string;
  readonly #onWanted: (instance: string) => void;
  readonly #instances = new Map<string, InstanceRow>();
  readonly #windows = new Map<string, WindowRow>();
  /** Of which some instance is short, or was. */
  readonly #scarce = new Set<string>();
  /** Instances that a sync concerns beside its sender. */
  readonly #concerned = new Set<string>();
  #epoch = "";
  /** Nothing is granted until then: others may hold what is not known here. */
  #graceUntilMs = 0;
  #heardMs = Number.NEGATIVE_INFINITY;
  #news: { number: number; from: string; text: string }[] = [];
  #newsNumber = 0;

  constructor({ leaseMs, nowMs, epoch, onWanted = () => {} }: LeaseTableOptions) {
    this.#leaseMs = leaseMs;
    this.#nowMs = nowMs;
    this.#newEpoch = epoch;
    this.#onWanted = onWanted;
  }

  sync(sync: Sync): SyncAnswer {
    const nowMs = this.#nowMs();
    this.#begin(sync, nowMs);
    const known = this.#instances.get(sync.instance);
    // What comes late was overtaken: its sender has told more since, and does not wait for this.
    if (known !== undefined && sync.number <= known.number) return this.#answer(sync, [], [], nowMs);
    this.#instances.set(sync.instance, {
      number: sync.number,
      seenMs: nowMs,
      goneMs: undefined,
      unstoredIn: sync.isBehind ? sync.journals : "",
    });
    this.#excuse(nowMs, sync.isFirst);
    for (const id of sync.dead) this.markDead(id);
    this.#bury(nowMs);
    for (const reclaim of sync.reclaims) this.#reclaim(reclaim);
    const held = sync.claims.map((claim) => this.#claim(sync.instance, claim, nowMs));
    if (sync.leaves) this.#leave(sync.instance, nowMs);
    for (const id of this.#concerned) this.#onWanted(id);
    this.#concerned.clear();
    this.#publish(sync.instance, sync.news);
    const unknown = sync.claims.filter(({ window }) => this.#isUnknown(window)).map(({ window }) => window);
    return this.#answer(sync, held, unknown, nowMs);
  }

  /** It is known to have died. */
  markDead(instance: string): void {
    const row = this.#instances.get(instance);
    if (row !== undefined) row.goneMs ??= this.#nowMs();
  }

  /** For tests and for people. */
  sumHeld(window: string): number {
    const row = this.#windows.get(window);
    return row === undefined ? 0 : (row.base ?? 0) + this.#heldByOthers(row, undefined, this.#nowMs());
  }

  #begin(sync: Sync, nowMs: number): void {
    const { instance, epoch, answered, isFirst } = sync;
    const known = this.#instances.get(instance);
    const hasLost = epoch === this.#epoch && (answered > (known?.number ?? 0) || this.#hasLostWindow(sync, known));
    if (this.#epoch !== "" && !hasLost) return;
    const mayHold = this.#epoch !== "" || !isFirst;
    this.#epoch = this.#newEpoch();
    this.#windows.clear();
    this.#scarce.clear();
    this.#graceUntilMs = mayHold ? nowMs + this.#leaseMs : 0;
  }

  /** What an instance held that was taken for dead is gone for another reason. */
  #hasLostWindow({ instance, claims }: Sync, known: InstanceRow | undefined): boolean {
    if (known === undefined || known.goneMs !== undefined) return false;
    return claims.some(({ window, isKnown }) => isKnown && !this.#windows.get(window)?.held.has(instance));
  }

  /** A table that was away itself cannot say that an instance was. */
  #excuse(nowMs: number, isFirst: boolean): void {
    const silentMs = nowMs - this.#heardMs;
    this.#heardMs = nowMs;
    if (silentMs <= SILENCE_MS || isFirst) return;
    for (const row of this.#instances.values()) if (row.goneMs === undefined) row.seenMs = nowMs;
  }

  #bury(nowMs: number): void {
    for (const [id, row] of this.#instances) {
      if (row.goneMs === undefined && nowMs - row.seenMs > this.#leaseMs) row.goneMs = row.seenMs + this.#leaseMs;
      if (row.goneMs !== undefined && nowMs - row.goneMs > JOURNAL_LOST_MS) row.unstoredIn = "";
      if (row.goneMs !== undefined && nowMs - row.goneMs > FORGET_MS && this.#budgetsOf(id, 1).length === 0)
        this.#instances.delete(id);
    }
  }

  #claim(instance: string, claim: Claim, nowMs: number): number {
    const row = this.#rowOf(claim);
    row.limit = claim.limit;
    const again = row.reclaimed.get(instance);
    if (again !== undefined) {
      row.base = (row.base ?? 0) - again;
      row.reclaimed.delete(instance);
    }
    if (claim.spent !== undefined && row.base === undefined) this.#setBase(row, instance, claim.spent);
    if (claim.isShort !== undefined) {
      row.short.set(instance, { untilMs: nowMs + SHORT_MS, ofMore: claim.isShort === "of more" });
      this.#scarce.add(claim.window);
    } else row.short.delete(instance);
    if (!row.held.has(instance)) row.told += claim.held;
    const free = this.#free(row, instance, nowMs) - claim.held;
    const held = claim.held + (free > 0 ? this.#grant(row, instance, claim, free, nowMs) : 0);
    if (row.short.size > 0) this.#noteConcerned(row, instance, held, claim);
    // Others need not give any more of it, and would give all.
    if (claim.isShort !== undefined && held >= (claim.wants ?? Math.max(1, this.#shareOf(row, nowMs))))
      row.short.delete(instance);
    row.held.set(instance, held);
    // Where more is held than there is, what was used counts, but gives no right to more.
    const over = held + this.#heldByOthers(row, instance, nowMs) - (row.limit - (row.base ?? 0));
    return Math.max(0, held - Math.max(0, over));
  }

  /** Who is short has not got enough: others may give it. Who gives makes room for those that are short. */
  #noteConcerned(
    { held: shares, short }: WindowRow,
    instance: string,
    held: number,
    { isShort, wants = 0 }: Claim,
  ): void {
    if (isShort !== undefined && held < wants) for (const [id, part] of shares) if (part > 0) this.#concerned.add(id);
    if (held < (shares.get(instance) ?? 0)) for (const id of short.keys()) this.#concerned.add(id);
    this.#concerned.delete(instance);
  }

  #rowOf({ window, kind, limit }: Claim): WindowRow {
    let row = this.#windows.get(window);
    if (row === undefined) {
      const base = kind === "budget" ? undefined : 0;
      row = { kind, limit, base, held: new Map(), told: 0, reclaimed: new Map(), short: new Map() };
      this.#windows.set(window, row);
    }
    return row;
  }

  /** An instance that lives tells by itself what it has spent; until it does, what the ledger says counts as held by it. */
  #setBase(row: WindowRow, claimant: string, spent: Readonly<Record<string, number>>): void {
    row.base = 0;
    for (const [id, nanoUsd] of Object.entries(spent)) {
      const known = this.#instances.get(id);
      if (id === claimant) continue;
      if (known !== undefined && known.goneMs === undefined) {
        row.held.set(id, Math.max(row.held.get(id) ?? 0, nanoUsd));
      } else if (!row.held.has(id)) {
        row.base += nanoUsd;
        if (id !== "") row.reclaimed.set(id, nanoUsd);
      }
    }
  }

  #free(row: WindowRow, instance: string | undefined, nowMs: number): number {
    if (row.base === undefined) return Number.NEGATIVE_INFINITY;
    return this.#left(row, nowMs) - this.#heldByOthers(row, instance, nowMs);
  }

  /** What may be held now: of a table that was empty, for a while, only what instances tell that they held. */
  #left(row: WindowRow, nowMs: number): number {
    const isGrace = nowMs < this.#graceUntilMs + (row.kind === "rate" ? MINUTE_MS : 0);
    return Math.min(row.limit - (row.base ?? 0), isGrace ? row.told : Number.POSITIVE_INFINITY);
  }

  #grant(row: WindowRow, instance: string, { held, wants, isShort }: Claim, free: number, nowMs: number): number {
    const share = this.#shareOf(row, nowMs);
    const wanted = isShort === undefined ? (wants ?? share) : Math.max(wants ?? 0, share);
    const rivals = this.#rivals(row, instance, nowMs).length;
    const most = rivals === 0 ? free : Math.max(share - held, Math.ceil(free / (rivals + 1)));
    return Math.max(0, Math.min(free, wanted - held, most));
  }

  #heldByOthers(row: WindowRow, instance: string | undefined, nowMs: number): number {
    let sum = 0;
    for (const [id, held] of row.held) {
      if (id === instance) continue;
      if (this.#counts(row.kind, id, nowMs)) sum += held;
      else row.held.delete(id);
    }
    return sum;
  }

  #counts(kind: WindowKind, id: string, nowMs: number): boolean {
    if (kind === "budget") return true;
    const row = this.#instances.get(id);
    if (row === undefined) return false;
    if (row.goneMs === undefined) return true;
    return kind === "rate" && nowMs - row.goneMs < MINUTE_MS;
  }

  /** The other instances that are short of it. */
  #rivals(row: WindowRow, instance: string, nowMs: number): { ofMore: boolean }[] {
    const rivals: { ofMore: boolean }[] = [];
    for (const [id, { untilMs, ofMore }] of row.short) {
      if (untilMs <= nowMs) row.short.delete(id);
      else if (id !== instance) rivals.push({ ofMore });
    }
    return rivals;
  }

  /** Of what those that live can have: who joins would otherwise wait for what a dead instance still holds, and others would give nothing. */
  #shareOf(row: WindowRow, nowMs: number): number {
    return Math.floor(Math.max(0, this.#left(row, nowMs) - this.#heldByDead(row, nowMs)) / this.#living());
  }

  #heldByDead({ kind, held }: WindowRow, nowMs: number): number {
    let sum = 0;
    for (const [id, part] of held) {
      const row = this.#instances.get(id);
      if ((row === undefined || row.goneMs !== undefined) && this.#counts(kind, id, nowMs)) sum += part;
    }
    return sum;
  }

  #reclaim({ instance, window, spent }: Reclaim): void {
    const row = this.#windows.get(window);
    if (row?.base === undefined || this.#instances.get(instance)?.goneMs === undefined) return;
    if (!row.held.delete(instance)) return;
    row.base += spent;
    row.reclaimed.set(instance, spent);
  }

  /** What it still holds of budgets is what it has spent. */
  #leave(instance: string, nowMs: number): void {
    const row = this.#instances.get(instance);
    if (row !== undefined) row.goneMs = nowMs;
    for (const window of this.#budgetsOf(instance, Number.POSITIVE_INFINITY)) {
      this.#reclaim({ instance, window, spent: this.#windows.get(window)?.held.get(instance) ?? 0 });
    }
  }

  #budgetsOf(instance: string, most: number): string[] {
    const found: string[] = [];
    for (const [window, { kind, held, reclaimed }] of this.#windows) {
      if (found.length >= most) break;
      if (kind === "budget" && held.has(instance)) found.push(window);
      else if (!this.#instances.has(instance)) reclaimed.delete(instance);
    }
    return found;
  }

  #living(): number {
    let count = 0;
    for (const { goneMs } of this.#instances.values()) if (goneMs === undefined) count++;
    return Math.max(1, count);
  }

  #isUnknown(window: string): boolean {
    const row = this.#windows.get(window);
    return row !== undefined && row.base === undefined;
  }

  #publish(from: string, news: readonly string[]): void {
    for (const text of news) this.#news.push({ number: ++this.#newsNumber, from, text });
    this.#news = this.#news.slice(-MAX_NEWS);
  }

  #answer(sync: Sync, held: number[], unknown: string[], nowMs: number): SyncAnswer {
    const { instance, newsSeen } = sync;
    return {
      epoch: this.#epoch,
      instances: this.#living(),
      held,
      unknown,
      wanted: this.#wantedOf(instance, nowMs),
      dead: this.#dead(sync.journals),
      news: this.#news.filter(({ number, from }) => number > newsSeen && from !== instance).map(({ text }) => text),
      newsSeen: this.#newsNumber,
    };
  }

  #wantedOf(instance: string, nowMs: number): string[] {
    const wanted: string[] = [];
    for (const window of this.#scarce) {
      const row = this.#windows.get(window);
      if (row === undefined) continue;
      const rivals = this.#rivals(row, instance, nowMs);
      if (row.short.size === 0) this.#scarce.delete(window);
      const least = rivals.some(({ ofMore }) => ofMore) ? 0 : this.#shareOf(row, nowMs);
      // Where it has lost what the instance holds, it is to be told of it.
      const held = row.held.get(instance) ?? Number.POSITIVE_INFINITY;
      // What was given waits for those that are short: no more is wanted until they have taken it.
      const isFree = this.#free(row, undefined, nowMs) > 0;
      if (rivals.length > 0 && !isFree && held > least && wanted.length < MAX_WANTED) wanted.push(window);
    }
    return wanted;
  }

  #dead(journals: string): { instance: string; windows: string[] }[] {
    const dead: { instance: string; windows: string[] }[] = [];
    for (const [instance, { goneMs, unstoredIn }] of this.#instances) {
      if (goneMs === undefined || (unstoredIn !== "" && unstoredIn !== journals)) continue;
      const windows = this.#budgetsOf(instance, MAX_DEAD_WINDOWS);
      if (windows.length > 0) dead.push({ instance, windows });
    }
    return dead;
  }
}
