import { type Allotment, divide, isBefore, type Party } from "./divide.ts";
import {
  type Claim,
  FEW_ASKED_MS,
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
  /** An instance that has not been heard of for this long is dead. */
  leaseMs: number;
  nowMs: () => number;
  /** A unique name of the table. */
  epoch: () => string;
  /** An instance should sync soon: another needs some of what it holds, or has given what it needs. */
  onWanted?: (instance: string) => void;
}

interface InstanceRow {
  number: number;
  seenMs: number;
  /** Undefined while it is alive. */
  goneMs: number | undefined;
  /** The folder of the journal with receipts that the ledger does not have; "" if there are none. */
  unstoredIn: string;
  /** The instance has ended, and holds no budget. */
  isClear?: boolean;
}

interface WindowRow {
  kind: WindowKind;
  limit: number;
  /** For a budget: what instances not in `held` have spent; undefined until it is reported. */
  base: number | undefined;
  held: Map<string, number>;
  /** What instances held when they first reported it in this epoch: the grace period grants no more than that. */
  told: number;
  /** What was added to the base for an instance that was considered dead: it may return and claim it itself. */
  reclaimed: Map<string, number>;
  said: Map<string, Said>;
}

/** The last report of an instance about a window, apart from what it holds. */
interface Said {
  atMs: number;
  used: number;
  reserved: number;
  busy: number;
  /** Until then it is short: it waits, or would like more. */
  shortUntilMs: number;
  waits: Party["waits"];
  wants: Party["wants"];
}

interface Division {
  parties: readonly Party[];
  parts: ReadonlyMap<string, Allotment>;
  /** What no instance holds. */
  free: number;
  /** What no instance uses. */
  idle: number;
}

interface Granted {
  held: number;
  left: number;
}

interface Claimed {
  granted: readonly Granted[];
  unknown: readonly string[];
}

/** What all instances hold, in the memory of one process. `lease-script.ts` is the same in Redis. */
export class LeaseTable {
  readonly #leaseMs: number;
  readonly #nowMs: () => number;
  readonly #newEpoch: () => string;
  readonly #onWanted: (instance: string) => void;
  readonly #instances = new Map<string, InstanceRow>();
  readonly #windows = new Map<string, WindowRow>();
  /** Windows of which some instance is or was short. */
  readonly #scarce = new Set<string>();
  /** By instance, the scarce windows that it may have to give some of: not all of them, which may be thousands. */
  readonly #told = new Map<string, Set<string>>();
  /** Instances that a sync affects in addition to its sender. */
  readonly #concerned = new Set<string>();
  /** Windows of which the sender of a sync holds all that is left. */
  #alone: string[] = [];
  #epoch = "";
  /** Nothing is granted until then: others may hold what is not known here. */
  #graceUntilMs = 0;
  #heardMs = Number.NEGATIVE_INFINITY;
  /** How many instances live; 0 if they must be counted again. */
  #alive = 0;
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
    this.#alone = [];
    const known = this.#instances.get(sync.instance);
    // A late message was overtaken: its sender has reported more since, and does not wait for this one.
    if (known !== undefined && sync.number <= known.number)
      return this.#answer(sync, { granted: [], unknown: [] }, nowMs);
    this.#instances.set(sync.instance, {
      number: sync.number,
      seenMs: nowMs,
      goneMs: undefined,
      unstoredIn: sync.isBehind ? sync.journals : "",
    });
    this.#excuse(nowMs, sync.isFirst);
    for (const id of sync.dead) this.markDead(id);
    this.#bury(nowMs);
    this.#alive = 0;
    for (const reclaim of sync.reclaims) this.#reclaim(reclaim);
    const granted = sync.claims.map((claim) => this.#claim(sync.instance, claim, nowMs));
    if (sync.leaves) this.markDead(sync.instance);
    for (const id of this.#concerned) this.#onWanted(id);
    this.#concerned.clear();
    this.#publish(sync.instance, sync.news);
    const unknown = sync.claims.filter(({ window }) => this.#isUnknown(window)).map(({ window }) => window);
    return this.#answer(sync, { granted, unknown }, nowMs);
  }

  /** It has died or left: others read in the ledger what it has spent. */
  markDead(instance: string): void {
    const row = this.#instances.get(instance);
    if (row !== undefined) row.goneMs ??= this.#nowMs();
    this.#alive = 0;
  }

  /** How many are known, for tests and diagnostics. */
  get windows(): number {
    return this.#windows.size;
  }

  /** For tests and diagnostics. */
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
    this.#told.clear();
    this.#graceUntilMs = mayHold ? nowMs + this.#leaseMs : 0;
  }

  /** An instance considered dead lost its part for another reason. */
  #hasLostWindow({ instance, claims }: Sync, known: InstanceRow | undefined): boolean {
    if (known === undefined || known.goneMs !== undefined) return false;
    return claims.some(({ window, isKnown }) => isKnown && !this.#windows.get(window)?.held.has(instance));
  }

  /** A table that was itself unavailable cannot tell that an instance was. */
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
        this.#forgetInstance(id);
    }
  }

  #forgetInstance(id: string): void {
    this.#instances.delete(id);
    this.#told.delete(id);
  }

  #claim(instance: string, claim: Claim, nowMs: number): Granted {
    if (claim.forgets) return this.#forget(instance, claim, nowMs);
    const row = this.#rowOf(claim);
    row.limit = claim.limit;
    const again = row.reclaimed.get(instance);
    if (again !== undefined) {
      row.base = (row.base ?? 0) - again;
      row.reclaimed.delete(instance);
    }
    if (claim.spent !== undefined && row.base === undefined) this.#setBase(row, instance, claim.spent);
    if (!row.held.has(instance)) row.told += claim.held;
    row.held.set(instance, claim.held);
    row.said.set(instance, said(claim, nowMs));
    if (isShort(claim) && (!claim.isPassing || row.held.size > 1)) this.#scarce.add(claim.window);
    const division = this.#divide(row, nowMs);
    const held = claim.held + this.#grant(division, instance, claim.held);
    row.held.set(instance, held);
    if (this.#holdsAll(division, claim, instance, held)) this.#alone.push(claim.window);
    if (this.#scarce.has(claim.window)) this.#noteConcerned(this.#divide(row, nowMs), row, instance, claim, nowMs);
    // If more is held than there is, what was used counts, but gives no right to more.
    const over = held + this.#heldByOthers(row, instance, nowMs) - (row.limit - (row.base ?? 0));
    return { held: Math.max(0, held - Math.max(0, over)), left: division.idle };
  }

  /** What it has spent is in the ledger: the next instance that asks for an unknown budget gets it from there. */
  #forget(instance: string, { window, held }: Claim, nowMs: number): Granted {
    const row = this.#windows.get(window);
    if (row === undefined) return { held: 0, left: 0 };
    if (row.kind === "budget" && row.base !== undefined) {
      row.base += held - (row.reclaimed.get(instance) ?? 0);
      row.reclaimed.set(instance, held);
    }
    row.held.delete(instance);
    row.said.delete(instance);
    const { idle } = this.#divide(row, nowMs);
    if (row.held.size === 0) {
      this.#windows.delete(window);
      this.#scarce.delete(window);
    }
    return { held: 0, left: idle };
  }

  /** Of what no instance holds, earlier calls get theirs first, and waiting calls before mere wishes. */
  #grant({ parties, parts, free }: Division, instance: string, held: number): number {
    const me = parties.find(({ id }) => id === instance);
    const part = parts.get(instance);
    if (me === undefined || part === undefined || part.level <= held) return 0;
    let ahead = 0;
    let behind = 0;
    for (const party of parties) {
      const lacking = Math.max(0, (parts.get(party.id)?.firm ?? 0) - party.held);
      if (party.id === instance || lacking === 0) continue;
      if (isBefore(party, me)) ahead += lacking;
      else behind += lacking;
    }
    const firm = Math.max(0, Math.min(part.firm - held, free - ahead));
    const more = Math.min(part.level - held - firm, free - ahead - behind - firm);
    return firm + Math.max(0, more);
  }

  /** Nothing is left that others could use, and none of their calls has reserved any. */
  #holdsAll({ parties, free }: Division, { waits, held: before }: Claim, instance: string, held: number): boolean {
    if (waits?.alone === undefined || free > held - before) return false;
    return parties.every((party) => party.id === instance || (party.held <= party.used && party.reserved === 0));
  }

  /**
   * Notes who holds what others need, who can have what it waits for, and, if what they are known to hold does not
   * suffice or a call has waited for a while, whose use is unknown.
   */
  #noteConcerned(
    { parties, parts, free }: Division,
    row: WindowRow,
    instance: string,
    claim: Claim,
    nowMs: number,
  ): void {
    if (!parties.some(({ waits, wants }) => waits !== undefined || wants !== undefined)) {
      this.#scarce.delete(claim.window);
      return;
    }
    let latestMs = Number.NEGATIVE_INFINITY;
    let mayNeedAll = false;
    for (const { id, used, waits } of parties) {
      if (waits === undefined) continue;
      latestMs = Math.max(latestMs, waits.sinceMs);
      const isServed = (parts.get(id)?.firm ?? 0) >= used + waits.all;
      mayNeedAll ||= !isServed || waits.sinceMs <= nowMs - FEW_ASKED_MS;
    }
    for (const { id, held } of parties) {
      const { level, firm } = parts.get(id) ?? { level: held, firm: held };
      const isOld = mayNeedAll && held > 0 && (row.said.get(id)?.atMs ?? latestMs) < latestMs;
      const isConcerned = level < held || (firm > held && free > 0) || isOld;
      if (isConcerned || (mayNeedAll && held > 0)) this.#tell(id, claim.window);
      if (isConcerned && id !== instance) this.#concerned.add(id);
    }
    if (claim.isPassing) return;
    // If this table has lost what they hold, they must be told.
    for (const [id, { goneMs }] of this.#instances) {
      if (goneMs === undefined && !row.held.has(id)) this.#tell(id, claim.window);
    }
  }

  #tell(instance: string, window: string): void {
    const told = this.#told.get(instance);
    if (told === undefined) this.#told.set(instance, new Set([window]));
    else told.add(window);
  }

  #divide(row: WindowRow, nowMs: number): Division {
    const parties: Party[] = [];
    let free = row.base === undefined ? 0 : this.#left(row, nowMs);
    let left = free;
    for (const [id, held] of row.held) {
      if (!this.#counts(row.kind, id, nowMs)) {
        row.held.delete(id);
        row.said.delete(id);
        continue;
      }
      free -= held;
      if (this.#isAlive(id)) parties.push(partyOf(id, held, row.said.get(id), nowMs));
      else left -= held;
    }
    const used = parties.reduce((sum, party) => sum + party.used, 0);
    const parts = row.base === undefined ? asHeld(parties) : divide(parties, left, this.#living());
    return { parties, parts, free, idle: Math.max(0, left - used) };
  }

  #isAlive(id: string): boolean {
    const row = this.#instances.get(id);
    return row !== undefined && row.goneMs === undefined;
  }

  #rowOf({ window, kind, limit }: Claim): WindowRow {
    let row = this.#windows.get(window);
    if (row === undefined) {
      const base = kind === "budget" ? undefined : 0;
      row = { kind, limit, base, held: new Map(), told: 0, reclaimed: new Map(), said: new Map() };
      this.#windows.set(window, row);
    }
    return row;
  }

  /** A live instance reports its own spending; until it does, the ledger's sum counts as held by it. */
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

  /** What may be held now: an initially empty table grants, for a while, only what instances report that they held. */
  #left(row: WindowRow, nowMs: number): number {
    const isGrace = nowMs < this.#graceUntilMs + (row.kind === "rate" ? MINUTE_MS : 0);
    return Math.min(row.limit - (row.base ?? 0), isGrace ? row.told : Number.POSITIVE_INFINITY);
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

  #reclaim({ instance, window, spent }: Reclaim): void {
    const row = this.#windows.get(window);
    if (row?.base === undefined || this.#instances.get(instance)?.goneMs === undefined) return;
    if (!row.held.delete(instance)) return;
    row.base += spent;
    row.reclaimed.set(instance, spent);
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

  /** Counted once for all windows of a message. */
  #living(): number {
    if (this.#alive === 0) {
      for (const { goneMs } of this.#instances.values()) if (goneMs === undefined) this.#alive++;
      this.#alive ||= 1;
    }
    return this.#alive;
  }

  #isUnknown(window: string): boolean {
    const row = this.#windows.get(window);
    return row !== undefined && row.base === undefined;
  }

  #publish(from: string, news: readonly string[]): void {
    for (const text of news) this.#news.push({ number: ++this.#newsNumber, from, text });
    this.#news = this.#news.slice(-MAX_NEWS);
  }

  #answer(sync: Sync, { granted, unknown }: Claimed, nowMs: number): SyncAnswer {
    const { instance, newsSeen } = sync;
    return {
      epoch: this.#epoch,
      nowMs,
      instances: this.#living(),
      held: granted.map(({ held }) => held),
      left: granted.map(({ left }) => left),
      unknown,
      wanted: this.#wantedOf(instance, nowMs),
      alone: this.#alone,
      dead: this.#dead(sync.journals),
      news: this.#news.filter(({ number, from }) => number > newsSeen && from !== instance).map(({ text }) => text),
      newsSeen: this.#newsNumber,
    };
  }

  #wantedOf(instance: string, nowMs: number): { window: string; level: number }[] {
    const wanted: { window: string; level: number }[] = [];
    const told = this.#told.get(instance) ?? new Set();
    for (const window of told) {
      if (wanted.length >= MAX_WANTED) break;
      const row = this.#windows.get(window);
      const { parties, parts } = row === undefined ? NOBODY : this.#divide(row, nowMs);
      const isShort = parties.some(({ waits, wants }) => waits !== undefined || wants !== undefined);
      // If it has lost what the instance holds, it must be told.
      const held = row?.held.get(instance) ?? Number.POSITIVE_INFINITY;
      const level = parts.get(instance)?.level ?? 0;
      const isAwaited = parties.some(({ id, waits }) => id !== instance && waits !== undefined);
      if (isShort && (level < held || (isAwaited && held > 0))) wanted.push({ window, level });
      else told.delete(window);
    }
    return wanted;
  }

  #dead(journals: string): { instance: string; windows: string[] }[] {
    const dead: { instance: string; windows: string[] }[] = [];
    for (const [instance, row] of this.#instances) {
      const { goneMs, unstoredIn, isClear } = row;
      if (goneMs === undefined || isClear || (unstoredIn !== "" && unstoredIn !== journals)) continue;
      const windows = this.#budgetsOf(instance, MAX_DEAD_WINDOWS);
      // There may be very many windows to look through.
      if (windows.length === 0) row.isClear = true;
      else dead.push({ instance, windows });
    }
    return dead;
  }
}

/** Until it is known what was spent of a budget, nobody gives or gets any. */
const asHeld = (parties: readonly Party[]): Map<string, Allotment> =>
  new Map(parties.map(({ id, held }) => [id, { level: held, firm: held }]));

const NOBODY: Pick<Division, "parties" | "parts"> = { parties: [], parts: new Map() };

const isShort = ({ waits, wants }: Claim): boolean => waits !== undefined || wants !== undefined;

const said = (claim: Claim, nowMs: number): Said => ({
  atMs: nowMs,
  used: claim.used,
  reserved: claim.reserved ?? 0,
  busy: claim.busy ?? claim.used,
  shortUntilMs: isShort(claim) ? nowMs + SHORT_MS : 0,
  waits: claim.waits,
  wants: claim.wants,
});

/** Everything that an instance has not reported counts as used. */
function partyOf(id: string, held: number, said: Said | undefined, nowMs: number): Party {
  if (said === undefined) return { id, held, used: held, reserved: 0, busy: held };
  const { used, reserved, busy, waits, wants, shortUntilMs } = said;
  const isOver = shortUntilMs <= nowMs;
  return {
    id,
    held,
    used,
    reserved,
    busy,
    ...(waits && !isOver && { waits }),
    ...(wants !== undefined && !isOver && { wants }),
  };
}
