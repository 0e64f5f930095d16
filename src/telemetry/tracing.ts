import type { Sources } from "../base/sources.ts";
import type { Receipt } from "../canon/receipt.ts";
import { isInRatio, isKept, type Sampling } from "./sampling.ts";
import { CallTrace, IdPool, readTraceParent } from "./trace-context.ts";

/** A call that is over, with all that its spans are made of. */
export interface TracedCall {
  receipt: Receipt;
  trace: CallTrace;
  /** When it began and ended, by the wall clock. */
  startedMs: number;
  endedMs: number;
  /** What is added to a moment of the monotonic clock to get one of the wall clock. */
  offsetMs: number;
  requestId: string | undefined;
  method: string;
  route: string | undefined;
  /** As the conventions call the provider that answered. */
  system: string;
  host: string;
}

interface TracingOptions extends Pick<Sources, "random"> {
  sampling: Sampling;
  /** Takes what is to be exported; never waits, never throws. */
  keep: (call: TracedCall) => void;
}

/** Makes a trace of each call, and decides at its end whether it is kept. */
export class Tracing {
  readonly #options: TracingOptions;
  readonly #ids: IdPool;

  constructor(options: TracingOptions) {
    this.#options = options;
    this.#ids = new IdPool(options.random);
  }

  begin(headers: Pick<Headers, "get">): CallTrace {
    return new CallTrace(this.#ids, readTraceParent(headers));
  }

  /** What a provider is told of the trace. Whether it is kept is not known yet: what is known already counts. */
  headersFor(trace: CallTrace, attempt: object): Record<string, string> {
    return trace.headersFor(attempt, trace.parent?.sampled ?? isInRatio(trace.traceId, this.#options.sampling.ratio));
  }

  /** `make` is called only where the call is kept. */
  settled(receipt: Receipt, trace: CallTrace, make: () => TracedCall): void {
    const { sampling, keep } = this.#options;
    if (isKept(receipt, trace.traceId, trace.parent, sampling)) keep(make());
  }
}
