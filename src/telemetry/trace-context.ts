import type { Random } from "../base/sources.ts";

/** Where a call stands in a trace, as W3C trace context says it. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 of them. */
  spanId: string;
  /** Whether its maker keeps the trace. */
  sampled: boolean;
  /** What the systems of other vendors carry along; passed on as it came. */
  state: string | undefined;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** What a request says of its trace; undefined where it says nothing that can be used. */
export function readTraceParent(headers: Pick<Headers, "get">): TraceParent | undefined {
  const given = headers.get("traceparent");
  const parts = given === null || given.length > 512 ? null : FORM.exec(given.trim());
  if (parts === null) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = parts;
  // Later versions may add fields, this one may not.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const sampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, sampled, state: readState(headers.get("tracestate")) };
}

function readState(given: string | null): string | undefined {
  const state = given?.trim();
  if (!state || state.length > MAX_STATE || !PRINTABLE.test(state)) return undefined;
  return state.split(",").length > MAX_MEMBERS ? undefined : state;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const newId = ({ bytes }: Pick<Random, "bytes">, length: number): string => {
  const made = bytes(length);
  // All zeros would be no id.
  if (made.every((byte) => byte === 0)) made[length - 1] = 1;
  return hex(made);
};

/** One attempt at a provider, as a span of its own. */
export interface TracedAttempt {
  spanId: string;
  /** By the monotonic clock. */
  startedAtMs: number;
  endedAtMs: number;
}

/** The trace of one call. */
export class CallTrace {
  readonly traceId: string;
  /** Of the request itself. */
  readonly spanId: string;
  readonly parent: TraceParent | undefined;
  /** In the order of the offers that were tried. */
  readonly attempts: TracedAttempt[] = [];
  readonly #random: Pick<Random, "bytes">;
  readonly #ids = new Map<object, string>();

  constructor(random: Pick<Random, "bytes">, parent: TraceParent | undefined) {
    this.#random = random;
    this.parent = parent;
    this.traceId = parent?.traceId ?? newId(random, 16);
    this.spanId = newId(random, 8);
  }

  newSpanId(): string {
    return newId(this.#random, 8);
  }

  /** The span of an attempt, which its provider may have been told of before it ended. */
  spanOf(attempt: object): string {
    let id = this.#ids.get(attempt);
    if (id === undefined) {
      id = this.newSpanId();
      this.#ids.set(attempt, id);
    }
    return id;
  }

  attemptEnded(attempt: { readonly startedAtMs?: number }, endedAtMs: number): void {
    this.attempts.push({ spanId: this.spanOf(attempt), startedAtMs: attempt.startedAtMs ?? endedAtMs, endedAtMs });
  }

  /** What a provider is told, whose span is part of this trace. */
  headersFor(attempt: object, sampled: boolean): Record<string, string> {
    const state = this.parent?.state;
    return {
      traceparent: `00-${this.traceId}-${this.spanOf(attempt)}-${sampled ? "01" : "00"}`,
      ...(state === undefined ? {} : { tracestate: state }),
    };
  }
}
