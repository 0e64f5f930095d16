import { readKeyRequest, readKeyUpdate } from "../../access/key-input.ts";
import { keyView } from "../../access/key-view.ts";
import { createKey, listKeys, revokeKey, rotateKey, updateKey } from "../../access/keys.ts";
import type { Operator } from "../../access/operator-access.ts";
import { GatewayError } from "../../canon/error.ts";
import { type Spent, spentByOwner } from "../../ledger/queries.ts";
import { isUnavailable } from "../../storage/is-unavailable.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { keyFor, projectOf } from "./project-scope.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";
import {
  CreatedKeyAnswer,
  KeyAnswer,
  KeyListAnswer,
  KeyRequest,
  KeyUpdate,
  RotatedKeyAnswer,
  RotationRequest,
} from "./schemas/key.ts";

const NOTHING: Spent = { day: 0, month: 0, total: 0 };

export const listKeysRoute = adminRoute({
  method: "GET",
  path: "/api/keys",
  id: "listKeys",
  summary: "List the API keys that are stored, newest first, with what they have spent.",
  roles: ["admin", "viewer", "project"],
  query: { ...PAGE_FIELDS, project: textField("Only the keys of this project.") },
  answers: [json(KeyListAnswer, "Keys, never the secrets themselves.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const project = projectOf(operator, query.project);
    const keys = await listKeys(storage, project === undefined ? {} : { project });
    const { data, next } = pageOf(keys.toReversed().map(keyView), query, ({ id }) => id);
    const { byKey } = await spentByOwner(storage, gateway.clock.wallMs());
    return { data: data.map((key) => ({ ...key, spent_nano_usd: byKey.get(key.id) ?? NOTHING })), next };
  },
});

export const showKeyRoute = adminRoute({
  method: "GET",
  path: "/api/keys/{id}",
  id: "showKey",
  summary: "Show an API key, by its id.",
  roles: ["admin", "viewer", "project"],
  answers: [json(KeyAnswer, "The key, never its secret.")],
  handle: async ({ parameters, operator }, { storage }) => ({
    data: keyView(await keyFor(operator, parameters["id"] ?? "", storage)),
  }),
});

export const createKeyRoute = adminRoute({
  method: "POST",
  path: "/api/keys",
  id: "createKey",
  summary: "Create an API key, and show it once.",
  roles: ["admin", "project"],
  body: KeyRequest,
  answers: [{ ...json(CreatedKeyAnswer, "The key is shown only here."), status: 201 }],
  handle: async ({ body, operator, connection }, { storage, gateway }) => {
    refuseProviderObjects(operator, body);
    const request = { ...readKeyRequest(body), project: projectOf(operator, body.project) ?? "default" };
    const created = await createKey(storage, request, gateway, actorOf(operator, connection));
    await gateway.keys.refresh();
    return { data: created };
  },
});

export const updateKeyRoute = adminRoute({
  method: "PATCH",
  path: "/api/keys/{id}",
  id: "updateKey",
  summary: "Change an API key: what is left out stays, and null takes a bound away.",
  roles: ["admin", "project"],
  body: KeyUpdate,
  answers: [json(KeyAnswer, "The key as it is now; running gateways apply it within a second.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    refuseProviderObjects(operator, body);
    const { id } = await keyFor(operator, parameters["id"] ?? "", storage);
    const changed = await updateKey(storage, id, readKeyUpdate(body), gateway, actorOf(operator, connection));
    await gateway.keys.refresh();
    return { data: keyView(changed) };
  },
});

export const rotateKeyRoute = adminRoute({
  method: "POST",
  path: "/api/keys/{id}/rotate",
  id: "rotateKey",
  summary: "Give an API key a new secret, and show it once. The old one works on for overlap_seconds.",
  roles: ["admin", "project"],
  body: RotationRequest,
  bodyMayBeAbsent: true,
  answers: [json(RotatedKeyAnswer, "The key is shown only here.")],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }) => {
    const { id } = await keyFor(operator, parameters["id"] ?? "", storage);
    const rotation = { overlapSeconds: body.overlap_seconds };
    const rotated = await rotateKey(storage, id, rotation, gateway, actorOf(operator, connection));
    await gateway.keys.refresh();
    const { previousUntilMs, ...created } = rotated;
    return { data: { ...created, previous_until: new Date(previousUntilMs).toISOString() } };
  },
});

export const revokeKeyRoute = adminRoute({
  method: "DELETE",
  path: "/api/keys/{id}",
  id: "revokeKey",
  summary: "Revoke an API key, by its id or name, and all that it made.",
  roles: ["admin", "project"],
  answers: [json(KeyAnswer, "The key, which is revoked now.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const named = parameters["id"] ?? "";
    const actor = actorOf(operator, connection);
    const id = operator.role === "project" ? (await keyFor(operator, named, storage)).id : named;
    // It is revoked here before anything else is tried: the storage may not answer.
    const stopped = gateway.keys.revokeHere(id, actor);
    try {
      const revoked = await revokeKey(storage, id, gateway, actor);
      await gateway.keys.refresh();
      return { data: keyView(revoked) };
    } catch (thrown) {
      if (!stopped || !isUnavailable(thrown)) throw thrown;
      const message = `The key ${id} no longer works at this instance, but the storage does not answer: it is written down, and works nowhere else, as soon as it does, unless this process ends before. Revoke it again then to be sure.`;
      throw new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: thrown });
    }
  },
});

/** All projects share the providers' accounts: what is in them is not for an operator of one project to open (decision 0087). */
function refuseProviderObjects({ role }: Operator, body: { provider_objects?: boolean }): void {
  if (role !== "project" || body.provider_objects !== true) return;
  const message =
    "Only an admin may set `provider_objects`: it opens what other projects have in a provider's account.";
  throw new GatewayError("forbidden", message, { path: "provider_objects" });
}
