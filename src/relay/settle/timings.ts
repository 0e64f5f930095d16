import { STATEMENT_MS } from "../../storage/storage.ts";

/** Timeouts of the relay. The timeouts of providers are part of their configuration. */
export interface Timings {
  /** After this time without content the headers are sent, so that no proxy gives up (H15, H18). Not for protocols without keep-alives. */
  commitDeadlineMs: number;
  /** The interval of keep-alives to a client. */
  keepAliveMs: number;
  /** How long to wait for usage and the end of the stream after the end of the content. */
  afterFinishMs: number;
  /** How long the upstream is read after a client disconnects, for the usage at the end (H26). */
  readOnMs: number;
  /** A client that reads nothing for this long counts as disconnected. */
  slowReaderMs: number;
  /** How long a connection on which a key was used may be idle. Whole seconds, at most 255. */
  idleConnectionMs: number;
  /** The same for all others (S16). */
  strangerConnectionMs: number;
  /** A live connection that answers no ping for this long counts as closed. Whole seconds, from 8 to 960. */
  halfOpenConnectionMs: number;
  /** A request body that stops arriving for this long is given up. */
  bodyStallMs: number;
  /** After that time, a body must have arrived at this rate or faster. */
  bodyBytesPerSecond: number;
  /** Providers of images and videos are polled for the state of jobs at their own interval, times this. */
  mediaPollFactor: number;
  /** How long a process that has died keeps others from its operations. */
  operationLeaseMs: number;
  /** How long the lines of a batch stay with a process that died. */
  batchLeaseMs: number;
  /** How long an export stays with a process that died. */
  exportLeaseMs: number;
  /** A batch whose creation at its provider was not confirmed is looked up there after this time. */
  batchLookupMs: number;
  /** How long an instance uses its part of shared limits without a response from their source, and keeps it when it dies. */
  limitLeaseMs: number;
  /** A storage statement that takes longer is given up, with its connection (H29). */
  statementMs: number;
  /** The interval of the gateway's heartbeat in storage. */
  heartbeatMs: number;
  /** How long a changed configuration file must be stable before it is read. */
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
  halfOpenConnectionMs: 32_000,
  bodyStallMs: 30_000,
  bodyBytesPerSecond: 16 * 1024,
  mediaPollFactor: 1,
  operationLeaseMs: 60_000,
  batchLeaseMs: 10_000,
  exportLeaseMs: 15_000,
  batchLookupMs: 30_000,
  limitLeaseMs: 10_000,
  statementMs: STATEMENT_MS,
  heartbeatMs: 5_000,
  configSettleMs: 2_000,
};
