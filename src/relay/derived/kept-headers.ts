import { requiresEndUser } from "../../access/parts/part-limits.ts";
import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import { readTagsHeader } from "../../canon/tags.ts";
import { readRouting } from "../../dialects/reading/read-routing.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { END_USER_HEADER, endUserOf } from "../request/end-user.ts";
import { resolveRouting } from "../request/resolve-routing.ts";

/** What the request that creates work says about all of it. */
const KEPT = [
  END_USER_HEADER,
  "x-trivium-tags",
  "x-trivium-require",
  "x-trivium-strict",
  "x-trivium-routing",
  "x-trivium-hedge",
  "x-trivium-survive",
  "traceparent",
  "tracestate",
] as const;

const DEADLINE = "x-trivium-deadline-ms";

export type KeptHeaders = Readonly<Record<string, string>>;

/** A batch: one deadline for all of its requests, which may name end users of their own. */
export const OF_BATCH = {
  noDeadline: "the requests of a batch have until its completion window ends",
  namesUsers: true,
};

/** A spoken session, now or by a client secret. */
export const OF_SESSION: typeof OF_BATCH = {
  noDeadline: "a spoken session has no end that is known when it is opened",
  namesUsers: false,
};

/** The headers that hold for the work. Throws if they are wrong, or if one cannot hold. */
export function keptHeaders(
  { request, naming, dialect }: Pick<IncomingRequest, "request" | "naming" | "dialect">,
  principal: Principal,
  { noDeadline, namesUsers }: typeof OF_BATCH,
  gateway: Gateway,
): KeptHeaders {
  const { headers } = request;
  if (headers.has(DEADLINE)) {
    const message = `The header \`${DEADLINE}\` cannot hold here: ${noDeadline}. Leave it out.`;
    throw new GatewayError("unsupported_parameter", message, { path: DEADLINE });
  }
  readTagsHeader(headers);
  resolveRouting(readRouting({}, headers), { incoming: { naming, dialect }, principal, model: undefined }, gateway);
  const { parts } = principal;
  const mayBeMissing = namesUsers && parts !== undefined && requiresEndUser(parts) && !headers.has(END_USER_HEADER);
  const user = mayBeMissing ? principal.user : endUserOf(headers, {}, principal);
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return user === undefined ? kept : { ...kept, [END_USER_HEADER]: user };
}
