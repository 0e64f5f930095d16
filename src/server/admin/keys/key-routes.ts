import { readKeyRequest, readKeyUpdate } from "../../../access/key-input.ts";
import { configuredKeys, keyView } from "../../../access/key-view.ts";
import { createKey, revokeKey, rotateKey, updateKey } from "../../../access/keys.ts";
import type { Operator } from "../../../access/people/operator.ts";
import { GatewayError } from "../../../canon/error.ts";
import { spentByOwner } from "../../../ledger/queries.ts";
import { isUnavailable } from "../../../storage/is-unavailable.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { keyFor, keysFor, projectOf, storedKeyFor } from "../project-scope.ts";
import { PAGE_FIELDS, pageOf, textField } from "../query-fields.ts";
import {
  CreatedKeyAnswer,
  KeyAnswer,
  KeyListAnswer,
  KeyRequestBody,
  KeyUpdateBody,
  RotatedKeyAnswer,
  RotationRequest,
  ShownKeyAnswer,
} from "../schemas/key.ts";
import { lastDayOf } from "./last-day.ts";
import { KEY_LIST_FIELDS, listedKey, listedKeys } from "./listed-keys.ts";

export const listKeysRoute = adminRoute({
  method: "GET",
  path: "/api/keys",
  id: "listKeys",
  summary: "List the API keys with their spending and budgets, newest first, configured keys last.",
  roles: ["admin", "viewer", "project"],
  query: { ...PAGE_FIELDS, project: textField("Only the keys of this project."), ...KEY_LIST_FIELDS },
  answers: [json(KeyListAnswer, "Keys, without their secrets.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const keys = await keysFor(operator, query.project, { storage, gateway });
    const nowMs = gateway.clock.wallMs();
    const { byKey } = await spentByOwner(storage, nowMs);
    return pageOf(listedKeys(keys, byKey, query, nowMs), query, ({ id }) => id);
  },
});

export const showKeyRoute = adminRoute({
  method: "GET",
  path: "/api/keys/{id}",
  id: "showKey",
  summary: "Show an API key by its id.",
  roles: ["admin", "viewer", "project"],
  answers: [json(ShownKeyAnswer, "The key, without its secret.")],
  handle: async ({ parameters, operator }, { storage, gateway }) => {
    const key = await keyFor(operator, parameters["id"] ?? "", { storage, gateway });
    const nowMs = gateway.clock.wallMs();
    const { byKey } = await spentByOwner(storage, nowMs);
    const lastDay = await lastDayOf(key.id, { storage, gateway });
    return { data: { ...listedKey(key, byKey.get(key.id), nowMs), last_24h: lastDay } };
  },
});

export const createKeyRoute = adminRoute({
  method: "POST",
  path: "/api/keys",
  id: "createKey",
  summary: "Create an API key, and show it once.",
  roles: ["admin", "project"],
  body: KeyRequestBody,
  answers: [{ ...json(CreatedKeyAnswer, "The key is shown only here."), status: 201 }],
  handle: async ({ body, operator, connection }, { storage, gateway }) => {
    refuseProviderObjects(operator, body);
    refuseCache(operator, body);
    const request = { ...readKeyRequest(body), project: projectOf(operator, body.project) ?? "default" };
    const created = await createKey(storage, request, gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: created };
  },
});

export const updateKeyRoute = adminRoute({
  method: "PATCH",
  path: "/api/keys/{id}",
  id: "updateKey",
  summary: "Change an API key. Omitted fields stay, and null removes a limit or setting.",
  roles: ["admin", "project"],
  body: KeyUpdateBody,
  answers: [json(KeyAnswer, "The changed key. It holds here, and at other instances within a second.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    refuseProviderObjects(operator, body);
    refuseCache(operator, body);
    const { id } = await storedKeyFor(operator, parameters["id"] ?? "", { storage, gateway });
    const changed = await updateKey(storage, id, readKeyUpdate(body), gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    return { data: keyView(changed) };
  },
});

export const rotateKeyRoute = adminRoute({
  method: "POST",
  path: "/api/keys/{id}/rotate",
  id: "rotateKey",
  summary: "Give an API key a new secret, and show it once. The old one works until overlap_seconds have passed.",
  roles: ["admin", "project"],
  body: RotationRequest,
  bodyMayBeAbsent: true,
  answers: [json(RotatedKeyAnswer, "The key is shown only here.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    const { id } = await storedKeyFor(operator, parameters["id"] ?? "", { storage, gateway });
    const rotation = { overlapSeconds: body.overlap_seconds };
    const rotated = await rotateKey(storage, id, rotation, gateway, actorOf(operator, connection));
    await gateway.changes.spread();
    const { previousUntilMs, ...created } = rotated;
    return { data: { ...created, previous_until: new Date(previousUntilMs).toISOString() } };
  },
});

export const revokeKeyRoute = adminRoute({
  method: "DELETE",
  path: "/api/keys/{id}",
  id: "revokeKey",
  summary: "Revoke an API key by its id or name, with its child keys.",
  roles: ["admin", "project"],
  answers: [json(KeyAnswer, "The revoked key.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const named = parameters["id"] ?? "";
    const actor = actorOf(operator, connection);
    const isConfigured = configuredKeys(gateway.keys.configured).some(({ id }) => id === named);
    const mustBeFound = operator.role === "project" || isConfigured;
    const id = mustBeFound ? (await storedKeyFor(operator, named, { storage, gateway })).id : named;
    // Revoked here before anything else, because the storage may not answer.
    const stopped = gateway.keys.revokeHere(id, actor);
    try {
      const revoked = await revokeKey(storage, id, gateway, actor);
      await gateway.changes.spread();
      return { data: keyView(revoked) };
    } catch (thrown) {
      if (!stopped || !isUnavailable(thrown)) throw thrown;
      const message = `The key ${id} no longer works at this instance, but the storage does not answer. It will be revoked everywhere as soon as the storage answers, unless this process stops first. Revoke it again then to be sure.`;
      throw new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: thrown });
    }
  },
});

/** All projects share the providers' accounts, so an operator of one project must not open them (decision 0087). */
function refuseProviderObjects({ role }: Operator, body: { provider_objects?: boolean }): void {
  if (role !== "project" || body.provider_objects !== true) return;
  const message =
    "Only an admin can set `provider_objects`: it gives access to other projects' objects in a provider's account.";
  throw new GatewayError("forbidden", message, { path: "provider_objects" });
}

/** The space for cached responses is the gateway's (decision 0128). */
function refuseCache({ role }: Operator, body: { cache?: unknown }): void {
  if (role !== "project" || body.cache == null) return;
  const message = "Only an admin can set `cache`: cached responses take space in the gateway's storage.";
  throw new GatewayError("forbidden", message, { path: "cache" });
}
