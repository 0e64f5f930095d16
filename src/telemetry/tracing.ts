import type { Sources } from "../base/sources.ts";
import type { Receipt } from "../canon/receipt.ts";
import { isChosen, isKept, type Sampling } from "./sampling.ts";
import { CallTrace, IdPool, readTraceParent, type TraceParent } from "./trace-context.ts";

/** A completed call with the data for its spans. */
export interface TracedCall {
  receipt: Receipt;
  trace: CallTrace;
  /** When it began and ended, by the wall clock. */
  startedMs: number;
  endedMs: number;
  /** When its request was answered, where the call went on after that. */
  answeredMs?: number | undefined;
  /** The offset from the monotonic clock to the wall clock. */
  offsetMs: number;
  requestId: string | undefined;
  method: string;
  route: string | undefined;
  /** Of the answer to its request; undefined where the client had disconnected. */
  status: number | undefined;
  /** As the conventions call the provider that answered. */
  system: string;
  host: string;
}

/** A rejected request: it was not sent to a provider and has no receipt. */
export interface RefusedRequest {
  trace: CallTrace;
  /** By the wall clock. */
  startedMs: number;
  endedMs: number;
  requestId: string;
  method: string;
  route: string;
  status: number;
  /** The kind of the error. */
  outcome: string;
}

interface TracingOptions extends Pick<Sources, "random"> {
  sampling: Sampling;
  /** Receives what is to be exported; must not block or throw. */
  keep: (call: TracedCall) => void;
  keepRefused: (request: RefusedRequest) => void;
}

/** Anyone can send requests that are rejected; their spans must not displace those of calls. */
const REFUSED_PER_SECOND = 20;

/** Makes a trace of each call, and decides at its end whether it is kept. */
export class Tracing {
  readonly #options: TracingOptions;
  readonly #ids: IdPool;
  #refusedSecond = 0;
  #refusedInSecond = 0;

  constructor(options: TracingOptions) {
    this.#options = options;
    this.#ids = new IdPool(options.random);
  }

  /** `cause`: the trace of the call that this one is made for. */
  begin(headers: Pick<Headers, "get">, cause?: CallTrace): CallTrace {
    if (cause === undefined) return new CallTrace(this.#ids, readTraceParent(headers));
    const { traceId, spanId, parent } = cause;
    const sampled = isChosen(cause, this.#options.sampling);
    return new CallTrace(this.#ids, { traceId, spanId, sampled, state: parent?.state });
  }

  /** The trace of a call that another process may have begun. */
  resume(begun: { traceId: string; spanId: string }, parent: TraceParent | undefined): CallTrace {
    return new CallTrace(this.#ids, parent, begun);
  }

  /** The trace context that a provider receives. The final sampling decision is not known yet; what is known so far counts. */
  linesFor(trace: CallTrace, attempt: object): string {
    return trace.linesFor(attempt, isChosen(trace, this.#options.sampling));
  }

  /** Whether a settled call is kept. */
  keeps(receipt: Receipt, trace: CallTrace): boolean {
    return isKept(receipt, trace, this.#options.sampling);
  }

  keep(call: TracedCall): void {
    this.#options.keep(call);
  }

  /** The gateway's own failures are always kept, client errors like ordinary calls, both up to a rate limit. */
  refused(request: RefusedRequest): void {
    const { sampling, keepRefused } = this.#options;
    const { trace, status, endedMs } = request;
    if (status < 500 && !isChosen(trace, sampling)) return;
    const second = Math.floor(endedMs / 1000);
    if (second !== this.#refusedSecond) {
      this.#refusedSecond = second;
      this.#refusedInSecond = 0;
    }
    if (++this.#refusedInSecond <= REFUSED_PER_SECOND) keepRefused(request);
  }
}
