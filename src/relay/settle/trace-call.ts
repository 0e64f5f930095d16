import { ERROR_TABLE, type ErrorKind, GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { OutgoingRequest } from "../../providers/credentials.ts";
import type { Provider } from "../../providers/provider.ts";
import type { CallTrace } from "../../telemetry/trace-context.ts";
import type { TracedCall } from "../../telemetry/tracing.ts";
import type { ClientPresence, IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";

interface OverCall {
  startedAtMs: number;
  client: Pick<ClientPresence, "answerBegun">;
  incoming: Pick<IncomingCall, "request" | "requestId" | "dialect" | "modelInPath">;
}

/** Exports the spans of a settled call, if it is sampled. Called only if traces are exported. */
export function traceCall(call: OverCall, trace: CallTrace, gateway: Gateway, receipt: Receipt): void {
  const { tracing } = gateway;
  if (tracing?.keeps(receipt, trace)) tracing.keep(tracedCall(call, trace, gateway, receipt));
}

function tracedCall(call: OverCall, trace: CallTrace, gateway: Gateway, receipt: Receipt): TracedCall {
  const { clock } = gateway;
  const endedMs = clock.wallMs();
  const offsetMs = endedMs - clock.nowMs();
  const { request, requestId, modelInPath } = call.incoming;
  return {
    receipt,
    trace,
    startedMs: call.startedAtMs + offsetMs,
    endedMs,
    offsetMs,
    requestId,
    method: request.method,
    route: routeOf(request.url, modelInPath),
    status: statusOf(call, receipt),
    ...nameOfProvider(receipt, gateway),
  };
}

/** The HTTP status of the answer; undefined if its client had disconnected. */
function statusOf({ client, incoming: { dialect } }: OverCall, { outcome }: Receipt): number | undefined {
  if (outcome === "client_gone") return undefined;
  if (outcome === "ok" || client.answerBegun) return 200;
  return outcome in ERROR_TABLE
    ? dialect.errors.encode(new GatewayError(outcome as ErrorKind, ""), "").status
    : undefined;
}

/** The provider's name in the semantic conventions, and its host. */
export function nameOfProvider({ provider: name }: Receipt, { snapshot }: Gateway) {
  const [provider] = snapshot.providers.get(name) ?? [];
  return { system: provider?.systemName ?? "_OTHER", host: provider?.host ?? "" };
}

const lastRoute: { url: string; model: string | undefined; route: string | undefined } = {
  url: "",
  model: undefined,
  route: undefined,
};

/** Consecutive calls usually have the same route. */
export function routeOf(url: string, model: string | undefined): string | undefined {
  if (url !== lastRoute.url || model !== lastRoute.model)
    Object.assign(lastRoute, { url, model, route: findRoute(url, model) });
  return lastRoute.route;
}

/** The path with a placeholder for the model, so that it names many requests. */
function findRoute(url: string, model: string | undefined): string | undefined {
  const path = /^(?:[a-z]+:\/\/[^/]*)?(\/[^?#]*)/.exec(url)?.[1];
  if (path === undefined || model === undefined) return path;
  const decoded = path.includes("%") ? safelyDecoded(path) : path;
  const name = model.slice(model.indexOf("/") + 1);
  return decoded?.includes(name) ? decoded.replace(name, "{model}") : undefined;
}

function safelyDecoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The trace headers for the host of an attempt; undefined if it gets none. */
export function traceLines(
  { trace }: { readonly trace?: CallTrace | undefined },
  attempt: { readonly target: { readonly provider: Pick<Provider, "tracesCalls"> } },
  { tracing }: Gateway,
): string | undefined {
  return trace !== undefined && attempt.target.provider.tracesCalls ? tracing?.linesFor(trace, attempt) : undefined;
}

/** Adds trace headers to the request. */
export function addTrace(outgoing: OutgoingRequest, trace: CallTrace, attempt: object, gateway: Gateway): void {
  outgoing.ownLines = gateway.tracing?.linesFor(trace, attempt);
}
