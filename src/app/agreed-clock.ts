import type { Clock } from "../base/clock.ts";
import { number } from "../storage/columns.ts";
import type { Storage } from "../storage/storage.ts";

/** How far the steady clock is ahead of the machine's. Another process on the machine needs it to follow the same time. */
export const aheadOfWall = ({ nowMs, wallMs }: Clock): number => nowMs() - wallMs();

const MAX_QUESTIONS = 8;
/** A response this fast is precise enough. */
const GOOD_ANSWER_MS = 1;

interface AgreedClock {
  clock: Clock;
  /** How far the clock of this machine is ahead of the database's; 0 if the database is a file. */
  differsMs: number;
}

/**
 * The clock of this process, shifted so that all processes that use one storage agree on the time: they compare leases and due
 * times that others have written (H30, decision 0077). They follow the PostgreSQL server. On one machine they follow the first
 * process, which tells its workers how far it is from the machine's clock, because that may have been set since.
 */
export async function agreedClock(storage: Storage, clock: Clock, firstAheadMs?: number): Promise<AgreedClock> {
  if (storage.engine !== "postgres") {
    const byMs = firstAheadMs === undefined ? 0 : firstAheadMs - aheadOfWall(clock);
    return { clock: byMs === 0 ? clock : moved(clock, byMs), differsMs: 0 };
  }
  const aheadMs = await serverAhead(storage, clock);
  return { clock: moved(clock, aheadMs), differsMs: clock.wallMs() - (clock.nowMs() + aheadMs) };
}

/**
 * How far the server's clock is ahead of this one. The server reads its clock at some point during the round trip, so the
 * error is at most half of it; the fastest of a few responses counts. On a busy machine a single response may take tens of
 * milliseconds, and two processes would disagree by as much.
 */
async function serverAhead(storage: Storage, clock: Clock): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 };
  for (let asked = 0; asked < MAX_QUESTIONS && best.tookMs > GOOD_ANSWER_MS; asked += 1) {
    const askedAtMs = clock.nowMs();
    const [row] = await storage.query(
      "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS DOUBLE PRECISION) AS now_ms",
    );
    const tookMs = clock.nowMs() - askedAtMs;
    if (row === undefined || tookMs >= best.tookMs) continue;
    best = { tookMs, aheadMs: number(row, "now_ms") - (askedAtMs + tookMs / 2) };
  }
  return best.aheadMs;
}

const moved = (clock: Clock, byMs: number): Clock => ({ ...clock, nowMs: () => clock.nowMs() + byMs });
