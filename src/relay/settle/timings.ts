import { STATEMENT_MS } from "../../storage/storage.ts";

/** How long the relay waits for what. Providers' own timeouts are part of their configuration. */
export interface Timings {
  /** After this long without content the headers go out, so that no proxy on the way gives up (H15, H18); not where a protocol has no keep-alive. */
  commitDeadlineMs: number;
  /** Silence towards a client is broken this often. */
  keepAliveMs: number;
  /** Behind the end of an answer's content, usage and the stream's own end are waited for this long. */
  afterFinishMs: number;
  /** After a client disconnects, the upstream is read on for this long, for the usage at the end of its answer (H26). */
  readOnMs: number;
  /** A client that reads nothing for this long counts as disconnected. */
  slowReaderMs: number;
  /** A connection on which a key was shown may be silent for this long between its calls. Whole seconds, at most 255. */
  idleConnectionMs: number;
  /** The same for all others (S16). */
  strangerConnectionMs: number;
  /** A request body that stops arriving for this long is given up. */
  bodyStallMs: number;
  /** Once that time has passed, a body must have come at this pace or faster. */
  bodyBytesPerSecond: number;
  /** Providers of images and videos are polled for the state of jobs at their own interval, times this. */
  mediaPollFactor: number;
  /** How long a process that has died keeps others from its operations. */
  operationLeaseMs: number;
  /** How long an instance uses what it holds of shared limits without an answer of their source, and keeps it when it dies. */
  limitLeaseMs: number;
  /** A statement that the storage has not answered by then is given up, and a silent connection with it (H29). */
  statementMs: number;
  /** How often a gateway says in the storage that it is alive. */
  heartbeatMs: number;
  /** A configuration that was changed is read when its file has been left alone for this long. */
  configSettleMs: number;
}

export const DEFAULT_TIMINGS: Timings = {
  commitDeadlineMs: 10_000,
  keepAliveMs: 15_000,
  afterFinishMs: 5_000,
  readOnMs: 2_000,
  slowReaderMs: 300_000,
  idleConnectionMs: 120_000,
  strangerConnectionMs: 10_000,
  bodyStallMs: 30_000,
  bodyBytesPerSecond: 16 * 1024,
  mediaPollFactor: 1,
  operationLeaseMs: 60_000,
  limitLeaseMs: 10_000,
  statementMs: STATEMENT_MS,
  heartbeatMs: 5_000,
  configSettleMs: 2_000,
};
