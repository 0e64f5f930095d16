import type { Clock } from "../base/clock.ts";
import { number } from "../storage/columns.ts";
import type { Storage } from "../storage/storage.ts";

/** What another process of the same machine needs to go by the same time: by how much its steady clock is ahead of the machine's. */
export const aheadOfWall = ({ nowMs, wallMs }: Clock): number => nowMs() - wallMs();

const MAX_QUESTIONS = 8;
/** An answer as quick as this needs no better one. */
const GOOD_ANSWER_MS = 1;

interface AgreedClock {
  clock: Clock;
  /** By how much the clock of this machine is ahead of the database's; 0 where that is a file. */
  differsMs: number;
}

/**
 * The clock of this process, moved so that all processes of one storage go by the same time: they compare leases and due times that others
 * have written (H30, decision 0077). That is the time of the PostgreSQL server; on one machine it is that of the first process, whose workers
 * are told how far it is from the machine's clock, which may have been set since.
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
 * By how much the server's clock is ahead of this one. The server reads its clock somewhere between question and answer, so the
 * error is at most half of that time: the quickest of a few answers counts. On a busy machine a single answer may take tens of
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
