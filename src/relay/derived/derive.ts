import type { Preference } from "../../canon/preference.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import {
  type Cause,
  type CausingCall,
  type ClientConnection,
  deadlinePassed,
  type IncomingRequest,
  type Kind,
  MADE_BY_CALLS,
  type MadeByCalls,
} from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { SeenTexts } from "../guard/guard-run.ts";
import { INCOMING, inherit, type OwnOf, PRINCIPAL, ROUTING } from "./inheritance.ts";

type NamesOf<Of extends Kind> = {
  [Name in MadeByCalls]: (typeof MADE_BY_CALLS)[Name] extends Of ? Name : never;
}[MadeByCalls];

/** What differs between one piece of work and another. */
export type OwnWork = Pick<IncomingRequest, "request" | "naming" | "modelInPath">;

/** A call that belongs to the caller of another. */
export function workFor(name: NamesOf<"work">, call: CausingCall, seen: SeenTexts, own: OwnWork): IncomingRequest {
  const { incoming, principal } = call;
  const rest: OwnOf<"work"> = { ...own, connection: quiet(incoming.connection), principal };
  return { ...inherit(INCOMING, "work", incoming), ...rest, cause: { name, kind: MADE_BY_CALLS[name], call, seen } };
}

/** A call that belongs to the operator, about another. */
export function checkFor(
  name: NamesOf<"check">,
  call: CausingCall,
  seen: SeenTexts,
  { path, body, withinMs }: { path: string; body: string; withinMs: number },
): IncomingRequest {
  const { incoming, principal } = call;
  const headers = new Headers({
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  });
  for (const trace of ["traceparent", "tracestate"]) {
    const value = incoming.request.headers.get(trace);
    if (value !== null) headers.set(trace, value);
  }
  const rest: OwnOf<"check"> = {
    request: new Request(`http://gateway${path}`, { method: "POST", headers, body }),
    connection: quiet(incoming.connection),
    credential: undefined,
    principal: { ...inherit(PRINCIPAL, "check", principal), models: ["*"] },
    door: "contract",
    naming: { vendorNames: false },
    strict: false,
  };
  const cause: Cause = { name, kind: MADE_BY_CALLS[name], call, seen, withinMs };
  return { ...inherit(INCOMING, "check", incoming), ...rest, cause };
}

/** The response as a whole holds the client's connection. */
function quiet({ address, session, hangUp }: ClientConnection): ClientConnection {
  return { address, session, trusted: true, hold: () => {}, rest: () => {}, hangUp };
}

/** The routing of a call that is made for another. Its deadline is what is left of that of its cause. */
export function routingFor(
  { kind, call, withinMs }: Cause,
  { resolved, startedAtMs }: { resolved: Pick<Resolved, "model" | "offers"> | undefined; startedAtMs: number },
  gateway: Gateway,
): CallRouting {
  const { routing } = call;
  const { deadlineMs } = routing;
  const ownMs = withinMs ?? Number.POSITIVE_INFINITY;
  const leftMs = deadlineMs === undefined ? ownMs : Math.min(ownMs, call.startedAtMs + deadlineMs - startedAtMs);
  if (deadlineMs !== undefined && leftMs <= 0) throw deadlinePassed(deadlineMs);
  const kept: CallRouting = { ...gateway.snapshot.routing.calls, ...inherit(ROUTING, kind, routing) };
  const preference = preferenceFor(kept.preference, resolved);
  return { ...kept, preference, deadlineMs: leftMs === Number.POSITIVE_INFINITY ? undefined : leftMs };
}

/** What names providers and models holds for a call to another model as far as they serve it. */
function preferenceFor(preference: Preference, resolved: Pick<Resolved, "model" | "offers"> | undefined): Preference {
  const { providers, fallback } = preference;
  if (resolved === undefined || (providers === undefined && typeof fallback !== "object")) return preference;
  const { model, offers } = resolved;
  const serves = (name: string) => offers.some(({ provider }) => provider === name);
  const serving = providers?.filter(serves);
  const mayFallBack =
    typeof fallback !== "object" ||
    ("provider" in fallback ? serves(fallback.provider) : model.outputModalities.includes("text"));
  return {
    ...preference,
    providers: serving?.length === 0 ? undefined : serving,
    fallback: mayFallBack ? fallback : undefined,
  };
}
