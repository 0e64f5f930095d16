import type { Principal } from "../../access/principal.ts";
import { checkScopes } from "../../access/scopes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Model } from "../../catalogue/model.ts";
import type { RoutingRequest } from "../../dialects/reading/read-routing.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { checkNames } from "../../routing/check-names.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** Who asks, and for which model; undefined where the gateway is to choose. */
export interface Requester<Incoming = Pick<IncomingRequest, "naming" | "dialect">> {
  readonly incoming: Incoming;
  readonly principal: Principal;
  readonly model: Model | undefined;
}

/** How the call is to be served: what it asks for, over what its key and the gateway say. Throws for unknown names. */
export function resolveRouting(
  request: RoutingRequest | undefined,
  requester: Requester,
  gateway: Gateway,
): CallRouting {
  const { routing, catalogue, providers } = gateway.snapshot;
  const { incoming, principal, model } = requester;
  if (request === undefined) return routing.ofCall(principal.routing, undefined);
  const asked = checkNames(request.asked, request.paths, model, {
    catalogue,
    providers,
    naming: incoming.naming,
    // A fallback is a call of another model: what the key may not call, it does not get on the way round either (S05).
    mayCall: (id) => checkScopes(principal, { model: id, dialect: incoming.dialect.name }, gateway.clock.wallMs()),
  });
  return routing.ofCall(principal.routing, asked);
}

/** What a request asks for that no call for images or videos can do. */
export function notesOnMediaRouting(request: RoutingRequest | undefined, waits: boolean): readonly FieldNote[] {
  if (request === undefined) return NO_NOTES;
  const { asked, paths } = request;
  const notes: FieldNote[] = [...request.notes];
  const drop = (path: string, reason: string) => notes.push({ path, action: "dropped", reason });
  if (asked.survive) drop(paths.survive, "only text responses can continue at another provider");
  if (asked.hedge) drop(paths.hedge, "only text requests are hedged, because both attempts are billed");
  if (asked.auto !== undefined) drop(paths.auto, ONLY_AUTO);
  if (asked.deadlineMs !== undefined && !waits) drop(paths.deadline, "the job continues after the response");
  return notes;
}

export const ONLY_AUTO = "this applies only to the model trivium/auto";

const NO_NOTES: readonly FieldNote[] = [];
