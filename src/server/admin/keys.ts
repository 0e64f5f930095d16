import Type from "typebox";
import { readKeyRouting } from "../../access/key-routing.ts";
import { keyView } from "../../access/key-view.ts";
import { createKey, listKeys, revokeKey } from "../../access/keys.ts";
import { readLimits } from "../../access/limits.ts";
import { readTimestamp } from "../../base/timestamp.ts";
import { DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { GatewayError } from "../../canon/error.ts";
import { isUnavailable } from "../../storage/is-unavailable.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { CreatedKeyAnswer, KeyAnswer, KeyListAnswer } from "./answers.ts";
import { adminRoute } from "./define-route.ts";
import { projectOf, requireProject } from "./project-scope.ts";
import { PAGE_FIELDS, pageOf, textField } from "./query-fields.ts";

const KeyRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    project: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    models: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 200 })),
    protocols: Type.Optional(Type.Array(Type.Enum([...DIALECT_NAMES]), { minItems: 1 })),
    expires_at: Type.Optional(Type.String({ maxLength: 40 })),
    limits: Type.Optional(Type.Record(Type.String(), Type.Number())),
    strict: Type.Optional(Type.Boolean()),
    routing: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: "KeyRequest" },
);

export const listKeysRoute = adminRoute({
  method: "GET",
  path: "/api/keys",
  id: "listKeys",
  summary: "List the API keys, newest first.",
  roles: ["admin", "viewer", "project"],
  query: { ...PAGE_FIELDS, project: textField("Only the keys of this project.") },
  answers: [json(KeyListAnswer, "Keys, never the secrets themselves.")],
  handle: async ({ query, operator }, { storage }) => {
    const project = projectOf(operator, query.project);
    const keys = await listKeys(storage, project === undefined ? {} : { project });
    return pageOf(keys.reverse().map(keyView), query, ({ id }) => id);
  },
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
    const { name, models, protocols, expires_at, limits, strict, routing } = body;
    const key = {
      name,
      project: projectOf(operator, body.project) ?? "default",
      ...(models === undefined ? {} : { models }),
      ...(protocols === undefined ? {} : { protocols }),
      ...(expires_at === undefined ? {} : { expiresAtMs: readExpiry(expires_at) }),
      ...(limits === undefined ? {} : { limits: readLimits(limits) }),
      ...(strict ? { strict } : {}),
      ...(routing === undefined ? {} : { routing: readKeyRouting(routing) }),
    };
    const created = await createKey(storage, key, gateway, actorOf(operator, connection));
    await gateway.keys.refresh();
    return { data: created };
  },
});

export const revokeKeyRoute = adminRoute({
  method: "DELETE",
  path: "/api/keys/{id}",
  id: "revokeKey",
  summary: "Revoke an API key, by its id or name.",
  roles: ["admin", "project"],
  answers: [json(KeyAnswer, "The key, which is revoked now.")],
  handle: async ({ parameters, operator, connection }, { storage, gateway }) => {
    const id = parameters["id"] ?? "";
    const actor = actorOf(operator, connection);
    if (operator.role === "project") await requireProject(operator, id, storage);
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

function readExpiry(text: string): number {
  const ms = readTimestamp(text);
  if (ms !== undefined) return ms;
  throw new GatewayError("invalid_request", "expires_at must be a date such as 2027-01-31.", { path: "expires_at" });
}
