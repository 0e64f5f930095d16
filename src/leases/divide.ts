/** What waiting calls need of a window. */
export interface Waits {
  /** The needs of the call that has waited longest, of the one that needs least, and of all of them. */
  first: number;
  least: number;
  all: number;
  /** How much is enough for the call that has waited longest if no other call has reserved any. */
  alone?: number;
  /** Another window has too little for each of them, as far as is known: they are served last. */
  isHopeless?: boolean;
}

/** What the source knows of a live instance. */
export interface Party {
  readonly id: string;
  readonly held: number;
  readonly used: number;
  /** The part of `used` that calls in flight have reserved. */
  readonly reserved: number;
  /** What recent calls have used or may use: others get it last. */
  readonly busy: number;
  readonly waits?: Waits & { sinceMs: number };
  /** How much it would like to hold, apart from waiting calls; `share` is an equal share. */
  readonly wants?: number | "share";
}

/** How much of a window an instance should hold. */
export interface Allotment {
  /** More than it holds: it gets it as soon as it is free. Less: it gives back what it does not use. */
  level: number;
  /** What it uses and what its waiting calls need: nobody else gets it first. */
  firm: number;
}

/**
 * Divides the rest of a window among the live instances. Waiting calls come first, in the order of their arrival, as
 * long as there is enough for each. A call for which there is not enough withholds nothing from others. The rest stays
 * where it is unless it has to move. `instances` counts the live ones, known to the window or not.
 */
export function divide(parties: readonly Party[], left: number, instances: number): Map<string, Allotment> {
  const parts = new Map<string, Allotment>();
  let pool = left;
  let isReserved = false;
  for (const { id, used, reserved } of parties) {
    parts.set(id, { level: used, firm: used });
    pool -= used;
    isReserved ||= reserved > 0;
  }
  pool = Math.max(0, pool);
  const partOf = (id: string) => parts.get(id) ?? { level: 0, firm: 0 };
  const give = (part: Allotment, amount: number) => {
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

/**
 * Instances keep what they hold and do not use unless it is needed elsewhere: first what calls may need soon. The rest
 * is taken from as few as possible, since each must send a message to give a part back: half of what the largest do not
 * need, and all of it only if that is too little.
 */
function keep(parties: readonly Party[], parts: ReadonlyMap<string, Allotment>, pool: number): void {
  let busySum = 0;
  let idleSum = 0;
  const kept = parties.map(({ id, held, busy }) => {
    const part = parts.get(id) ?? { level: 0, firm: 0 };
    const ofBusy = Math.max(0, Math.min(held, busy) - part.level);
    const ofIdle = Math.max(0, held - part.level) - ofBusy;
    busySum += ofBusy;
    idleSum += ofIdle;
    return { id, part, ofBusy, ofIdle };
  });
  let taken = idleSum - Math.max(0, pool - busySum);
  if (taken > 0) {
    kept.sort((one, other) => other.ofIdle - one.ofIdle || (one.id < other.id ? -1 : 1));
    for (const divisor of [2, 1]) {
      for (const one of kept) {
        const given = Math.min(taken, Math.ceil(one.ofIdle / divisor));
        one.ofIdle -= given;
        taken -= given;
      }
    }
  }
  for (const { part, ofBusy, ofIdle } of kept) part.level += partOf(ofBusy, busySum, pool) + ofIdle;
}

/** All of it if there is enough for all. */
const partOf = (amount: number, sum: number, pool: number): number =>
  sum <= pool ? amount : Math.floor((amount / sum) * pool);

type Waiting = Party & { waits: NonNullable<Party["waits"]> };

const isWaiting = (party: Party): party is Waiting => party.waits !== undefined;
const isActive = ({ waits, wants, busy, used }: Party): boolean =>
  waits !== undefined || wants !== undefined || busy > used;

/**
 * Whose calls are served first: those that arrived first. Ties are broken by name, so that every table has the same
 * order.
 */
export function isBefore(one: Party, other: Party): boolean {
  if (one.waits === undefined) return false;
  if (other.waits === undefined) return true;
  const isHopeless = one.waits.isHopeless ?? false;
  if (isHopeless !== (other.waits.isHopeless ?? false)) return !isHopeless;
  const laterMs = one.waits.sinceMs - other.waits.sinceMs;
  return laterMs < 0 || (laterMs === 0 && one.id < other.id);
}
