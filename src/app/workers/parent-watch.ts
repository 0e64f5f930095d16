/** How the thread of a compiled program knows its role (src/app/load-thread.ts). */
export const PARENT_WATCH_THREAD = "parent-watch";

/** A compiled program has one file for all modules. */
const PROGRAM = import.meta.path === Bun.main ? Bun.main : new URL("./parent-watch.thread.ts", import.meta.url);

/**
 * Kills this process a moment after the one that started it has ended, whatever this one is doing: otherwise it would keep its port and the
 * database, and the next start would be refused. In a separate thread, because a long search or a slow disk stops this one. Until then it
 * cuts its calls and writes their receipts (decision 0054).
 */
export function endWithParent(parent: number): void {
  new Worker(PROGRAM, { argv: [PARENT_WATCH_THREAD, String(parent)], smol: true }).unref();
}
