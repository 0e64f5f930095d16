import type { Clock } from "../base/clock.ts";
import { number } from "../storage/columns.ts";
import type { Storage } from "../storage/storage.ts";

/** What another process of the same machine needs to go by the same time: by how much its steady clock is ahead of the machine's. */
export const aheadOfWall = ({ nowMs, wallMs }: Clock): number => nowMs() - wallMs();

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
  const [row] = await storage.query("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms");
  const serverMs = row === undefined ? clock.wallMs() : number(row, "now_ms");
  return { clock: moved(clock, serverMs - clock.nowMs()), differsMs: clock.wallMs() - serverMs };
}

const moved = (clock: Clock, byMs: number): Clock => ({ ...clock, nowMs: () => clock.nowMs() + byMs });
