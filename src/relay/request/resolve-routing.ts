import type { Principal } from "../../access/principal.ts";
import { checkScopes } from "../../access/scopes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Model } from "../../catalogue/model.ts";
import type { RoutingRequest } from "../../dialects/reading/read-routing.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { checkNames } from "../../routing/check-names.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** The caller and the requested model; undefined if the gateway chooses. */
export interface Requester<Incoming = Pick<IncomingRequest, "naming" | "dialect">> {
  readonly incoming: Incoming;
  readonly principal: Principal;
  readonly model: Model | undefined;
}

/** The routing of a call: its own settings over those of its key and the gateway. Throws for unknown names. */
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
    // A fallback is a call to another model, so the key must be allowed to call it (S05).
    mayCall: (id) => checkScopes(principal, { model: id, dialect: incoming.dialect.name }, gateway.clock.wallMs()),
  });
  return routing.ofCall(principal.routing, asked);
}

/** Notes on routing fields that do not apply to images and videos. */
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
