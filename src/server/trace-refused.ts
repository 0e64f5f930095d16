import type { ErrorKind } from "../canon/error.ts";
import type { Gateway } from "../relay/gateway.ts";
import type { CallTrace } from "../telemetry/trace-context.ts";
import type { RouteMatch } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";

interface Refusal {
  request: Request;
  requestId: string;
  match: RouteMatch<Handler>;
  path: string;
  /** By the monotonic clock. */
  startedAtMs: number;
  status: number;
  kind: ErrorKind;
}

/** Exports the span of a request that did not become a call. Undefined if traces are not exported. */
export function traceRefused(refusal: Refusal, { tracing, clock }: Gateway): CallTrace | undefined {
  if (tracing === undefined) return undefined;
  const { request, requestId, startedAtMs, status, kind } = refusal;
  const trace = tracing.begin(request.headers);
  const endedMs = clock.wallMs();
  tracing.refused({
    trace,
    startedMs: endedMs - (clock.nowMs() - startedAtMs),
    endedMs,
    requestId,
    method: request.method,
    route: routeName(refusal),
    status,
    outcome: kind,
  });
  return trace;
}

/**
 * The path with the names of its parameters instead of their values: strangers choose the values, and a name must
 * cover many requests.
 */
function routeName({ match: { route, parameters }, path }: Pick<Refusal, "match" | "path">): string {
  if (typeof route.path === "string") return route.path;
  const decoded = path.includes("%") ? decodeURIComponent(path) : path;
  const places = new RegExp(route.path.source, "d").exec(decoded)?.indices?.groups ?? {};
  const found = Object.keys(parameters).flatMap((name) => {
    const place = places[name];
    return place === undefined ? [] : [{ name, from: place[0], to: place[1] }];
  });
  // From last to first, so that positions stay valid.
  return found
    .toSorted((one, other) => other.from - one.from)
    .reduce((text, { name, from, to }) => `${text.slice(0, from)}{${name}}${text.slice(to)}`, decoded);
}
