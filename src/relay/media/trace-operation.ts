import type { Operation, OperationTrace } from "../../canon/operation.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { Provider } from "../../providers/provider.ts";
import type { CallTrace } from "../../telemetry/trace-context.ts";
import type { Gateway } from "../gateway.ts";
import { nameOfProvider, routeOf } from "../settle/trace-call.ts";

interface SubmitRequest {
  request: Request;
  modelInPath?: string | undefined;
  videoInPath?: string | undefined;
  /** By the monotonic clock. */
  startedAtMs: number;
}

/**
 * The part of the trace that is stored with the operation. Its spans are created when it ends, minutes later and perhaps by another
 * process.
 */
export function keptTrace(
  trace: CallTrace,
  { request, modelInPath, videoInPath = "{id}", startedAtMs }: SubmitRequest,
  gateway: Gateway,
) {
  const { clock } = gateway;
  const offsetMs = clock.wallMs() - clock.nowMs();
  const { traceId, spanId, parent, attempts } = trace;
  const route = routeOf(request.url, modelInPath)?.replace(videoInPath, "{id}");
  const kept: OperationTrace = {
    traceId,
    spanId,
    method: request.method,
    startedMs: startedAtMs + offsetMs,
    attempts: attempts.map((one) => ({
      startedMs: one.startedAtMs + offsetMs,
      endedMs: one.endedAtMs + offsetMs,
      spanId: trace.spanOf(one.attempt),
    })),
  };
  if (route !== undefined) kept.route = route;
  if (parent !== undefined) {
    const { spanId: of, sampled, state } = parent;
    kept.parent = { spanId: of, sampled, ...(state === undefined ? {} : { state }) };
  }
  return kept;
}

/** The trace of an operation, which another process may have started; undefined if no traces are exported. */
function resumedTrace({ job: { request } }: Operation, { tracing }: Gateway): CallTrace | undefined {
  const kept = request?.trace;
  if (tracing === undefined || kept === undefined) return undefined;
  const { traceId, spanId, parent } = kept;
  const trace = tracing.resume(
    { traceId, spanId },
    parent && { traceId, spanId: parent.spanId, sampled: parent.sampled, state: parent.state },
  );
  for (const attempt of kept.attempts) trace.attemptResumed(attempt);
  return trace;
}

/** The trace headers of polls, which belong to the attempt that submitted the job. */
export function pollLines(
  operation: Operation,
  { tracesCalls }: Pick<Provider, "tracesCalls">,
  gateway: Gateway,
): string | undefined {
  const trace = tracesCalls ? resumedTrace(operation, gateway) : undefined;
  const attempt = trace?.attempts.at(-1)?.attempt;
  return trace === undefined || attempt === undefined ? undefined : gateway.tracing?.linesFor(trace, attempt);
}

/** Exports the spans of an operation that has ended. */
export function traceOperation(operation: Operation, receipt: Receipt, gateway: Gateway): void {
  const { tracing, clock } = gateway;
  const { request } = operation.job;
  const kept = request?.trace;
  const trace = resumedTrace(operation, gateway);
  if (tracing === undefined || trace === undefined || request === undefined || kept === undefined) return;
  if (!tracing.keeps(receipt, trace)) return;
  const { startedMs, answeredMs } = kept;
  tracing.keep({
    receipt,
    trace,
    startedMs,
    // The machine that ends it may have a different clock.
    endedMs: Math.max(clock.wallMs(), startedMs, answeredMs ?? 0),
    answeredMs,
    // Its times are wall-clock times already.
    offsetMs: 0,
    requestId: request.id,
    method: kept.method,
    route: kept.route,
    // Once the job was accepted, the request was answered with the operation's name.
    status: answeredMs === undefined ? undefined : 200,
    ...nameOfProvider(receipt, gateway),
  });
}
