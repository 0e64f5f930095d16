import type { Random } from "../base/sources.ts";

/** The position of a call in a trace, as defined by W3C trace context. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 of them. */
  spanId: string;
  /** Whether its maker keeps the trace. */
  sampled: boolean;
  /** State of other vendors' systems; passed on unchanged. */
  state: string | undefined;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** The trace context of a request; undefined if absent or invalid. */
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

/** What a provider may be told: whatever came from outside must not end a line early. */
const LINES = /^traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]\r\n(?:tracestate: [\x20-\x7e]+\r\n)?$/;

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

const NO_TRACE = "0".repeat(TRACE_DIGITS);
const NO_SPAN = "0".repeat(SPAN_DIGITS);
const POOL_BYTES = 1_536;

/** Random ids, drawn in bulk: every call needs several. */
export class IdPool {
  readonly #random: Pick<Random, "bytes">;
  #digits = "";
  #used = 0;

  constructor(random: Pick<Random, "bytes">) {
    this.#random = random;
  }

  traceId(): string {
    const id = this.#take(TRACE_DIGITS);
    return id === NO_TRACE ? `${id.slice(1)}1` : id;
  }

  spanId(): string {
    const id = this.#take(SPAN_DIGITS);
    return id === NO_SPAN ? `${id.slice(1)}1` : id;
  }

  #take(count: number): string {
    if (this.#used + count > this.#digits.length) {
      this.#digits = Buffer.from(this.#random.bytes(POOL_BYTES)).toString("hex");
      this.#used = 0;
    }
    this.#used += count;
    return this.#digits.slice(this.#used - count, this.#used);
  }
}

/** One attempt at a provider, as a span of its own. */
export interface TracedAttempt {
  attempt: object;
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
  /** Whether it is kept if it is an ordinary one; absent until that was asked. */
  chosen: boolean | undefined;
  /** In the order of the offers that were tried. */
  readonly attempts: TracedAttempt[] = [];
  readonly #ids: IdPool;
  /** All its ids are of this process. */
  readonly #isOwn: boolean;
  /** An array: a call has few attempts, usually one. Absent until a span is asked for: most calls are not kept. */
  #spans: { readonly of: object; readonly id: string }[] | undefined;

  /** `begun`: its ids, where it was begun earlier, perhaps by another process. */
  constructor(ids: IdPool, parent: TraceParent | undefined, begun?: { traceId: string; spanId: string }) {
    this.#ids = ids;
    this.parent = parent;
    this.#isOwn = parent === undefined && begun === undefined;
    this.traceId = parent?.traceId ?? begun?.traceId ?? ids.traceId();
    this.spanId = begun?.spanId ?? ids.spanId();
  }

  newSpanId(): string {
    return this.#ids.spanId();
  }

  /** The span of an attempt, which its provider may have been told of before it ended. */
  spanOf(attempt: object): string {
    for (const { of, id } of this.#spans ?? []) if (of === attempt) return id;
    const id = this.newSpanId();
    this.#nameSpan(attempt, id);
    return id;
  }

  attemptEnded(attempt: { readonly startedAtMs?: number }, endedAtMs: number): void {
    this.attempts.push({ attempt, startedAtMs: attempt.startedAtMs ?? endedAtMs, endedAtMs });
  }

  /** An attempt that another process may have made; `spanId`: the id that was sent to its provider. */
  attemptResumed({ startedMs, endedMs, spanId }: { startedMs: number; endedMs: number; spanId?: string }): void {
    const attempt = { startedAtMs: startedMs };
    if (spanId !== undefined) this.#nameSpan(attempt, spanId);
    this.attemptEnded(attempt, endedMs);
  }

  #nameSpan(of: object, id: string): void {
    this.#spans ??= [];
    this.#spans.push({ of, id });
  }

  /** The header lines that make a provider's span part of this trace. Empty if the values cannot be sent in a header. */
  linesFor(attempt: object, sampled: boolean): string {
    const state = this.parent?.state;
    const line = `traceparent: 00-${this.traceId}-${this.spanOf(attempt)}${sampled ? "-01\r\n" : "-00\r\n"}`;
    if (this.#isOwn) return line;
    const lines = state === undefined ? line : `${line}tracestate: ${state}\r\n`;
    return LINES.test(lines) ? lines : "";
  }
}
