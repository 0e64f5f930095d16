import type { Operation, OperationTrace } from "../../canon/operation.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { CallTrace } from "../../telemetry/trace-context.ts";
import type { Gateway } from "../gateway.ts";
import { nameOfProvider, routeOf } from "../trace-call.ts";

interface SubmitRequest {
  request: Request;
  modelInPath: string;
  /** By the monotonic clock. */
  startedAtMs: number;
}

/** What is kept of the trace with the operation, since its spans are made when it ends, minutes later and perhaps by another process. */
export function keptTrace(trace: CallTrace, { request, modelInPath, startedAtMs }: SubmitRequest, gateway: Gateway) {
  const { clock } = gateway;
  const offsetMs = clock.wallMs() - clock.nowMs();
  const { traceId, spanId, parent, attempts } = trace;
  const route = routeOf(request.url, modelInPath);
  const kept: OperationTrace = {
    traceId,
    spanId,
    method: request.method,
    startedMs: startedAtMs + offsetMs,
    attempts: attempts.map((one) => ({
      startedMs: one.startedAtMs + offsetMs,
      endedMs: one.endedAtMs + offsetMs,
    })),
  };
  if (route !== undefined) kept.route = route;
  if (parent !== undefined) {
    const { spanId: of, sampled, state } = parent;
    kept.parent = { spanId: of, sampled, ...(state === undefined ? {} : { state }) };
  }
  return kept;
}

/** Hands over what the spans of an operation are made of that has ended. */
export function traceOperation({ job: { request } }: Operation, receipt: Receipt, gateway: Gateway): void {
  const { tracing, clock } = gateway;
  const kept = request?.trace;
  if (tracing === undefined || request === undefined || kept === undefined) return;
  const { traceId, spanId, parent, startedMs, answeredMs } = kept;
  const trace = tracing.resume(
    { traceId, spanId },
    parent && { traceId, spanId: parent.spanId, sampled: parent.sampled, state: parent.state },
  );
  for (const { startedMs: startedAtMs, endedMs } of kept.attempts) trace.attemptEnded({ startedAtMs }, endedMs);
  tracing.settled(receipt, trace, () => ({
    receipt,
    trace,
    startedMs,
    // The machine that ends it may have another time.
    endedMs: Math.max(clock.wallMs(), startedMs, answeredMs ?? 0),
    answeredMs,
    // Its moments are of the wall clock already.
    offsetMs: 0,
    requestId: request.id,
    method: kept.method,
    route: kept.route,
    ...nameOfProvider(receipt, gateway),
  }));
}
