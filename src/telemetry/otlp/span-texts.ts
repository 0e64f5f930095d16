import { inOnePiece } from "../../base/one-piece.ts";
import type { BatchPosition, CallTiming, OfferTried } from "../../canon/receipt.ts";
import { outcomeClass } from "../outcome-class.ts";
import type { TracedAttempt } from "../trace-context.ts";
import type { RefusedRequest, TracedCall } from "../tracing.ts";
import { Attributes, doubleText, textText, wholeText } from "./attributes.ts";
import { callNumbers, callWords, operationOf } from "./gen-ai.ts";
import { nanoseconds } from "./nanoseconds.ts";

const KIND = { server: 2, client: 3 } as const;
const MAX_KNOWN = 1_000;

/** Without its trace, which holds its attempts, and so all of the call: it would not be collected. */
type Alike = Omit<TracedCall, "trace">;

/** What calls that are alike have in common in the text of their spans: all but ids, times and amounts. */
interface Kind {
  like: Alike;
  server: string;
  serverEnd: string;
  inference: string;
  inferenceEnd: string;
  /** Of the one attempt of the usual call, which was answered. */
  answered: string;
}

/**
 * The spans of calls as JSON, separated by commas: the request, the call within it, and each attempt at a provider within that. Written as text
 * because every call pays for it: objects that are turned into the same text cost ten times as much.
 */
export class SpanTexts {
  readonly #known = new Map<string, Kind>();
  #last: Kind | undefined;

  of(call: TracedCall): string {
    const { receipt, trace, requestId } = call;
    const kind = this.#kindOf(call);
    const { traceId, spanId } = trace;
    const inference = trace.newSpanId();
    const started = `","startTimeUnixNano":"${nanoseconds(call.startedMs)}","endTimeUnixNano":"`;
    const ended = nanoseconds(call.endedMs);
    const answered = call.answeredMs === undefined ? ended : nanoseconds(call.answeredMs);
    const times = `${started}${ended}"`;
    return (
      `{"traceId":"${traceId}","spanId":"${spanId}${parentText(call)}${started}${answered}"${kind.server}` +
      `${textText("trivium.request.id", requestId)}${kind.serverEnd}` +
      `,{"traceId":"${traceId}","spanId":"${inference}","parentSpanId":"${spanId}${times}${kind.inference}` +
      `${callNumbers(receipt)},{"key":"trivium.receipt.id","value":{"stringValue":"${receipt.id}"}}` +
      `${doubleText("trivium.cost_usd", receipt.costNanoUsd / 1e9)}${wholeText("trivium.usage.reasoning_tokens", receipt.usage.reasoning)}` +
      `${doubleText("trivium.usage.seconds", receipt.usage.seconds)}` +
      `${timingText(receipt.timing)}${receipt.batch === undefined ? "" : batchText(receipt.batch)}${receipt.fields.length === 0 ? "" : wholeText("trivium.fields", receipt.fields.length)}]` +
      `${firstContentText(call)}${kind.inferenceEnd}${attemptsText(call, inference, ended, kind)}`
    );
  }

  /** Of a request that did not become a call: one span. Rare enough to be made of objects. */
  ofRefused(request: RefusedRequest): string {
    const { trace, requestId, method, route, status, outcome } = request;
    const attributes = new Attributes()
      .text("http.request.method", method)
      .text("http.route", route)
      .whole("http.response.status_code", status)
      .text("error.type", outcome)
      .text("trivium.outcome", outcome)
      .text("trivium.request.id", requestId);
    // A mistake of the client is no failure of its server.
    const failure = status >= 500 ? outcome : undefined;
    return (
      `{"traceId":"${trace.traceId}","spanId":"${trace.spanId}${parentText(request)}` +
      `","startTimeUnixNano":"${nanoseconds(request.startedMs)}","endTimeUnixNano":"${nanoseconds(request.endedMs)}"` +
      `${beginning(`${method} ${route}`, KIND.server, attributes)}]${statusText(failure)}}`
    );
  }

  /** Calls in a row are mostly alike. */
  #kindOf(call: TracedCall): Kind {
    if (this.#last !== undefined && areAlike(this.#last.like, call)) return this.#last;
    const key = keyOf(call);
    let kind = this.#known.get(key);
    if (kind === undefined) {
      kind = makeKind(call);
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(key, kind);
    }
    this.#last = kind;
    return kind;
  }
}

function areAlike(one: Alike, other: Alike): boolean {
  const [a, b] = [one.receipt, other.receipt];
  return (
    one.route === other.route &&
    one.method === other.method &&
    one.host === other.host &&
    one.system === other.system &&
    one.status === other.status &&
    wentOn(one) === wentOn(other) &&
    a.key === b.key &&
    a.model === b.model &&
    a.outcome === b.outcome &&
    a.stream === b.stream &&
    a.provider === b.provider &&
    a.upstreamModel === b.upstreamModel &&
    a.stop?.unified === b.stop?.unified &&
    a.clientDialect === b.clientDialect &&
    a.upstreamDialect === b.upstreamDialect &&
    a.lane === b.lane &&
    a.verb === b.verb &&
    a.project === b.project
  );
}

/** Whether its request had its answer before the call ended: then what became of it is not that request's. */
const wentOn = ({ answeredMs }: Alike): boolean => answeredMs !== undefined;

/** Of all that `areAlike` compares. */
const keyOf = (call: TracedCall): string => {
  const { receipt, route, method, host, system, status } = call;
  return JSON.stringify([
    status,
    ...[route, method, host, system, receipt.key, receipt.model, receipt.outcome, receipt.stream, receipt.provider],
    ...[receipt.upstreamModel, receipt.stop?.unified, receipt.clientDialect, receipt.upstreamDialect, receipt.lane],
    ...[receipt.verb, receipt.project, wentOn(call)],
  ]);
};

function makeKind(call: TracedCall): Kind {
  const { trace: _trace, ...like } = call;
  const { receipt, method, route, system, host, status } = like;
  const outcome = outcomeClass(receipt.outcome);
  const failure = outcome === "failed" && !wentOn(call) ? receipt.outcome : undefined;
  const ofRequest = new Attributes()
    .text("http.request.method", method)
    .text("http.route", route)
    .whole("http.response.status_code", status)
    .text("error.type", failure);
  const ofCall = withHost(callWords(receipt, system), host)
    .text("trivium.project", receipt.project)
    .text("trivium.key.id", receipt.key)
    .text("trivium.provider", receipt.provider)
    .text("trivium.lane", receipt.lane)
    .text("trivium.dialect", receipt.clientDialect)
    .text("trivium.upstream_dialect", receipt.upstreamDialect)
    .text("trivium.outcome", receipt.outcome);
  const isError = outcome === "failed" || outcome === "refused";
  return {
    like,
    server: beginning(route === undefined ? method : `${method} ${route}`, KIND.server, ofRequest),
    // A mistake of the client is no failure of its server.
    serverEnd: `]${statusText(failure)}}`,
    inference: beginning(`${operationOf(receipt)} ${receipt.model}`, KIND.client, ofCall),
    inferenceEnd: `${statusText(isError ? receipt.outcome : undefined)}}`,
    answered: inOnePiece(attemptEnd(host, { provider: receipt.provider, outcome: "answered", ms: 0 }, 0)),
  };
}

/** Up to the end of the attributes, of which there is at least one. */
const beginning = (name: string, kind: number, attributes: Attributes): string =>
  inOnePiece(`,"name":${JSON.stringify(name)},"kind":${kind},"attributes":[${attributes.toString()}`);

const statusText = (failure: string | undefined): string =>
  failure === undefined ? ',"status":{}' : `,"status":{"code":2,"message":${JSON.stringify(failure)}}`;

/** In the quotes of the member before. */
function parentText({ trace: { parent } }: Pick<TracedCall, "trace">): string {
  if (parent === undefined) return "";
  const state = parent.state === undefined ? "" : `","traceState":${JSON.stringify(parent.state).slice(0, -1)}`;
  return `","parentSpanId":"${parent.spanId}${state}`;
}

const firstContentText = ({ receipt: { firstContentMs }, startedMs }: TracedCall): string =>
  firstContentMs === undefined
    ? ""
    : `,"events":[{"timeUnixNano":"${nanoseconds(startedMs + firstContentMs)}","name":"first_content","attributes":[]}]`;

const batchText = ({ id, line, customId }: BatchPosition): string =>
  `${textText("trivium.batch.id", id)}${wholeText("trivium.batch.line", line)}${textText("trivium.batch.custom_id", customId)}`;

/** The parts of a call's time that it had any of. */
function timingText(timing: CallTiming | undefined): string {
  if (timing === undefined) return "";
  let text = "";
  for (const [name, part] of TIMED) if (timing[part] > 0) text += wholeText(name, timing[part]);
  return text;
}

const TIMED = [
  ["trivium.timing.provider_first_content_ms", "providerFirstContentMs"],
  ["trivium.timing.provider_stream_ms", "providerStreamMs"],
  ["trivium.timing.client_ms", "clientMs"],
  ["trivium.timing.backoff_ms", "backoffMs"],
  ["trivium.timing.queue_ms", "queueMs"],
  ["trivium.timing.gateway_ms", "gatewayMs"],
] as const;

function attemptsText(call: TracedCall, inference: string, ended: string, kind: Kind): string {
  const { offers, provider } = call.receipt;
  let text = "";
  for (let index = 0; index < offers.length; index++) {
    const tried = offers[index];
    const attempt = call.trace.attempts[index];
    if (tried === undefined || attempt === undefined) continue;
    const isUsual = offers.length === 1 && isAnswered(tried) && tried.provider === provider;
    const isLast = index === offers.length - 1;
    const end = isUsual ? kind.answered : attemptEnd(isLast ? call.host : "", tried, index);
    // A stream that was answered goes on until the call is settled; a job that was taken does not.
    const goesOn = isLast && tried.outcome === "answered" && !wentOn(call);
    const endedAt = goesOn ? ended : nanoseconds(attempt.endedAtMs + call.offsetMs);
    text += attemptText(call, inference, attempt, endedAt, end);
  }
  return text;
}

const isAnswered = ({ outcome, credential, failure }: OfferTried): boolean =>
  outcome === "answered" && credential === undefined && failure === undefined;

const attemptText = (
  { trace, offsetMs }: TracedCall,
  inference: string,
  { attempt, startedAtMs }: TracedAttempt,
  ended: string,
  end: string,
): string =>
  `,{"traceId":"${trace.traceId}","spanId":"${trace.spanOf(attempt)}","parentSpanId":"${inference}"` +
  `,"startTimeUnixNano":"${nanoseconds(startedAtMs + offsetMs)}","endTimeUnixNano":"${ended}"${end}`;

function attemptEnd(
  host: string,
  { provider, credential, outcome, reason, failure }: OfferTried,
  index: number,
): string {
  const attributes = withHost(new Attributes(), failure?.host ?? host)
    .text("http.request.method", "POST")
    .whole("http.request.resend_count", index > 0 ? index : undefined)
    .whole("http.response.status_code", failure?.status)
    .text("error.type", outcome === "failed" ? (reason ?? "_OTHER") : undefined)
    .text("trivium.provider", provider)
    .text("trivium.credential", credential)
    .text("trivium.attempt.outcome", outcome);
  return `${beginning("POST", KIND.client, attributes)}]${statusText(outcome === "failed" ? (reason ?? "failed") : undefined)}}`;
}

/** `host`: with its port, where that is not the usual one. */
function withHost(attributes: Attributes, host: string): Attributes {
  const { address, port } = /^(?<address>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/.exec(host)?.groups ?? {};
  return attributes.text("server.address", address).whole("server.port", port === undefined ? undefined : Number(port));
}
