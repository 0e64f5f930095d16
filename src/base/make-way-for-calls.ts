import { setPriority } from "node:os";

/** If processors are short, calls take precedence. */
const NICENESS = 10;

/** Lowers the priority of this thread. On Linux each thread has its own; elsewhere this would lower the whole gateway's. */
export function makeWayForCalls(): void {
  try {
    if (process.platform === "linux") setPriority(NICENESS);
  } catch {
    // A sandbox may forbid it, which must not prevent the work.
  }
}
