/** What calls that wait for more of a window need of it. */
export interface Waits {
  /** How much the one needs that has waited longest, and the one that needs least; and all of them. */
  first: number;
  least: number;
  all: number;
  /** How much is enough for the one that has waited longest where no other call has reserved any of it. */
  alone?: number;
  /** Of some other window there is too little for each of them, as far as it is known: they are served last. */
  isHopeless?: boolean;
}

/** What the source knows of one instance that lives. */
export interface Party {
  readonly id: string;
  readonly held: number;
  readonly used: number;
  /** Of what is used, what calls in flight have reserved. */
  readonly reserved: number;
  /** What recent calls have used or may use: others get it last. */
  readonly busy: number;
  readonly waits?: Waits & { sinceMs: number };
  /** How much it would like to hold, calls that wait aside; an equal share of all. */
  readonly wants?: number | "share";
}

/** How much of a window an instance is to hold. */
export interface Part {
  /** More than it holds: it gets it as soon as it is free. Less: it gives back what it does not use. */
  level: number;
  /** What it uses and what its waiting calls need: nobody else may have it first. */
  firm: number;
}

/**
 * Divides what is left of a window among the instances that live. Calls that wait come first, in the order in which they came, as far as
 * there is enough for each. A call for which there is not enough keeps nothing from others. What nobody waits for stays where it is, as long
 * as it need not move. `instances` counts those that live, known to the window or not.
 */
export function divide(parties: readonly Party[], left: number, instances: number): Map<string, Part> {
  const parts = new Map<string, Part>();
  let pool = left;
  let isReserved = false;
  for (const { id, used, reserved } of parties) {
    parts.set(id, { level: used, firm: used });
    pool -= used;
    isReserved ||= reserved > 0;
  }
  pool = Math.max(0, pool);
  const partOf = (id: string) => parts.get(id) ?? { level: 0, firm: 0 };
  const give = (part: Part, amount: number) => {
    part.level += amount;
    pool -= amount;
  };
  const waiting = parties.filter(isWaiting).sort((one, other) => (isBefore(one, other) ? -1 : 1));
  for (const { id, waits } of waiting) {
    const { first, least, alone } = waits;
    const part = partOf(id);
    if (first <= pool) give(part, first);
    else if (alone !== undefined && alone <= pool && !isReserved) give(part, pool);
    else if (least <= pool) give(part, least);
  }
  for (const { id, used, waits } of waiting) {
    const part = partOf(id);
    // Less than a call needs is of no use to it.
    if (waits.least <= pool) give(part, Math.min(pool, Math.max(0, used + waits.all - part.level)));
    part.firm = part.level;
  }
  const share = Math.floor(Math.max(0, left) / instances);
  const idle = pool;
  const active = parties.filter((party) => isActive(party)).length;
  for (const { id, wants } of parties) {
    if (wants === undefined) continue;
    const part = partOf(id);
    const [most, divisor] = wants === "share" ? [share, instances] : [Math.max(wants, share), active];
    give(part, Math.max(0, Math.min(pool, most - part.level, Math.floor(idle / divisor))));
  }
  keep(parties, parts, pool);
  return parts;
}

/** Instances keep what they hold and do not use, where it is not needed elsewhere: first what calls may need soon. */
function keep(parties: readonly Party[], parts: ReadonlyMap<string, Part>, pool: number): void {
  let busySum = 0;
  let idleSum = 0;
  const kept = parties.map(({ id, held, busy }) => {
    const part = parts.get(id) ?? { level: 0, firm: 0 };
    const ofBusy = Math.max(0, Math.min(held, busy) - part.level);
    const ofIdle = Math.max(0, held - part.level) - ofBusy;
    busySum += ofBusy;
    idleSum += ofIdle;
    return { part, ofBusy, ofIdle };
  });
  const forIdle = Math.max(0, pool - busySum);
  for (const { part, ofBusy, ofIdle } of kept) {
    part.level += partOf(ofBusy, busySum, pool) + partOf(ofIdle, idleSum, forIdle);
  }
}

/** All of it where there is enough for all. */
const partOf = (amount: number, sum: number, pool: number): number =>
  sum <= pool ? amount : Math.floor((amount / sum) * pool);

type Waiting = Party & { waits: NonNullable<Party["waits"]> };

const isWaiting = (party: Party): party is Waiting => party.waits !== undefined;
const isActive = ({ waits, wants, busy, used }: Party): boolean =>
  waits !== undefined || wants !== undefined || busy > used;

/** Whose calls are served first: those that came first. By their names where they came at the same time, so that every table comes to the same order. */
export function isBefore(one: Party, other: Party): boolean {
  if (one.waits === undefined) return false;
  if (other.waits === undefined) return true;
  const isHopeless = one.waits.isHopeless ?? false;
  if (isHopeless !== (other.waits.isHopeless ?? false)) return !isHopeless;
  const laterMs = one.waits.sinceMs - other.waits.sinceMs;
  return laterMs < 0 || (laterMs === 0 && one.id < other.id);
}
