import type { OfferTried } from "../../canon/receipt.ts";
import { outcomeClass } from "../outcome-class.ts";
import type { TracedAttempt } from "../trace-context.ts";
import type { TracedCall } from "../tracing.ts";
import { type Attribute, Attributes, nanoseconds } from "./attributes.ts";
import { callAttributes, operationOf } from "./gen-ai.ts";

const KIND = { server: 2, client: 3 } as const;
const ERROR = 2;

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  events?: { timeUnixNano: string; name: string; attributes: Attribute[] }[];
  status: { code?: number; message?: string };
}

/** The request, the call within it, and each attempt at a provider within that. */
export function spansOf(call: TracedCall): Span[] {
  const { receipt, trace } = call;
  const inference = trace.newSpanId();
  const attempts = receipt.offers.flatMap((tried, index) => {
    const attempt = trace.attempts[index];
    return attempt === undefined ? [] : [attemptSpan(call, inference, tried, attempt, index)];
  });
  return [serverSpan(call), inferenceSpan(call, inference), ...attempts];
}

function serverSpan({ receipt, trace, method, route, requestId, ...times }: TracedCall): Span {
  const { parent } = trace;
  const attributes = new Attributes()
    .text("http.request.method", method)
    .text("http.route", route)
    .text("trivium.request.id", requestId);
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    ...(parent?.state === undefined ? {} : { traceState: parent.state }),
    name: route === undefined ? method : `${method} ${route}`,
    kind: KIND.server,
    startTimeUnixNano: nanoseconds(times.startedMs),
    endTimeUnixNano: nanoseconds(times.endedMs),
    attributes: attributes.text("error.type", failureOf(receipt.outcome)).list,
    // A mistake of the client is no failure of its server.
    status: outcomeClass(receipt.outcome) === "failed" ? { code: ERROR, message: receipt.outcome } : {},
  };
}

const failureOf = (outcome: string): string | undefined => (outcomeClass(outcome) === "failed" ? outcome : undefined);

function inferenceSpan({ receipt, trace, system, host, ...times }: TracedCall, spanId: string): Span {
  const { firstContentMs, fields } = receipt;
  const attributes = withHost(callAttributes(receipt, system), host)
    .text("trivium.receipt.id", receipt.id)
    .text("trivium.project", receipt.project)
    .text("trivium.key.id", receipt.key)
    .text("trivium.provider", receipt.provider)
    .text("trivium.lane", receipt.lane)
    .text("trivium.dialect", receipt.clientDialect)
    .text("trivium.upstream_dialect", receipt.upstreamDialect)
    .text("trivium.outcome", receipt.outcome)
    .number("trivium.cost_usd", receipt.costNanoUsd / 1e9)
    .whole("trivium.usage.reasoning_tokens", receipt.usage.reasoning)
    .whole("trivium.fields", fields.length > 0 ? fields.length : undefined);
  const isError = outcomeClass(receipt.outcome) === "failed" || outcomeClass(receipt.outcome) === "refused";
  return {
    traceId: trace.traceId,
    spanId,
    parentSpanId: trace.spanId,
    name: `${operationOf(receipt)} ${receipt.model}`,
    kind: KIND.client,
    startTimeUnixNano: nanoseconds(times.startedMs),
    endTimeUnixNano: nanoseconds(times.endedMs),
    attributes: attributes.list,
    ...(firstContentMs === undefined
      ? {}
      : {
          events: [
            { timeUnixNano: nanoseconds(times.startedMs + firstContentMs), name: "first_content", attributes: [] },
          ],
        }),
    status: isError ? { code: ERROR, message: receipt.outcome } : {},
  };
}

function attemptSpan(
  { receipt, trace, host, offsetMs, endedMs }: TracedCall,
  parentSpanId: string,
  tried: OfferTried,
  { attempt, startedAtMs, endedAtMs }: TracedAttempt,
  index: number,
): Span {
  const { provider, credential, outcome, reason, failure } = tried;
  const isLast = index === receipt.offers.length - 1;
  // A stream that was answered goes on until the call is settled.
  const ended = isLast && outcome === "answered" ? endedMs : endedAtMs + offsetMs;
  const attributes = withHost(new Attributes(), failure?.host ?? (isLast ? host : ""))
    .text("http.request.method", "POST")
    .whole("http.request.resend_count", index > 0 ? index : undefined)
    .whole("http.response.status_code", failure?.status)
    .text("error.type", outcome === "failed" ? (reason ?? "_OTHER") : undefined)
    .text("trivium.provider", provider)
    .text("trivium.credential", credential)
    .text("trivium.attempt.outcome", outcome);
  return {
    traceId: trace.traceId,
    spanId: trace.spanOf(attempt),
    parentSpanId,
    name: "POST",
    kind: KIND.client,
    startTimeUnixNano: nanoseconds(startedAtMs + offsetMs),
    endTimeUnixNano: nanoseconds(ended),
    attributes: attributes.list,
    status: outcome === "failed" ? { code: ERROR, message: reason ?? "failed" } : {},
  };
}

/** `host`: with its port, where that is not the usual one. */
function withHost(attributes: Attributes, host: string): Attributes {
  const { address, port } = /^(?<address>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/.exec(host)?.groups ?? {};
  return attributes.text("server.address", address).whole("server.port", port === undefined ? undefined : Number(port));
}
