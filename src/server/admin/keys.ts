import Type, { type Static } from "typebox";
import { readKeyRouting } from "../../access/key-routing.ts";
import { keyView } from "../../access/key-view.ts";
import { createKey, listKeys, revokeKey } from "../../access/keys.ts";
import { readLimits } from "../../access/limits.ts";
import { readTimestamp } from "../../base/timestamp.ts";
import { DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { GatewayError } from "../../canon/error.ts";
import { defineCheck, type RequestCheck, refuse } from "../../dialects/check.ts";
import { pathTo } from "../../dialects/explain-mismatch.ts";
import { readSmallBody } from "../../relay/read-body.ts";
import { isUnavailable } from "../../storage/is-unavailable.ts";
import type { Handler } from "../routed-request.ts";

const MAX_BYTES = 64 * 1024;
const OPERATOR = { keyId: "operator", keyName: "operator" };

const KeyRequest = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  project: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  models: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 200 })),
  protocols: Type.Optional(Type.Array(Type.Enum([...DIALECT_NAMES]), { minItems: 1 })),
  expires_at: Type.Optional(Type.String({ maxLength: 40 })),
  limits: Type.Optional(Type.Record(Type.String(), Type.Number())),
  strict: Type.Optional(Type.Boolean()),
  routing: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const checkKeyRequest: RequestCheck<Static<typeof KeyRequest>> = defineCheck(KeyRequest, {
  gate: refuseUnknown,
  relations: () => undefined,
});

export const listKeysHandler: Handler = async (_routed, { storage }) =>
  Response.json({ data: (await listKeys(storage)).map((key) => keyView(key)) });

export const createKeyHandler: Handler = async ({ request }, { storage, gateway }) => {
  const body = await readSmallBody(request, MAX_BYTES, OPERATOR, gateway);
  const wanted = checkKeyRequest(body, { door: "contract", model: { id: "", reasoning: false } });
  const { name, project, models, protocols, expires_at, limits, strict, routing } = wanted;
  const key = {
    name,
    project: project ?? "default",
    ...(models === undefined ? {} : { models }),
    ...(protocols === undefined ? {} : { protocols }),
    ...(expires_at === undefined ? {} : { expiresAtMs: readExpiry(expires_at) }),
    ...(limits === undefined ? {} : { limits: readLimits(limits) }),
    ...(strict ? { strict } : {}),
    ...(routing === undefined ? {} : { routing: readKeyRouting(routing) }),
  };
  const created = await createKey(storage, key, gateway);
  await gateway.keys.refresh();
  return Response.json({ data: created }, { status: 201 });
};

export const revokeKeyHandler: Handler = async ({ parameters }, { storage, gateway }) => {
  const id = parameters["id"] ?? "";
  // It is revoked here before anything else is tried: the storage may not answer.
  const stopped = gateway.keys.revokeHere(id);
  try {
    const revoked = await revokeKey(storage, id, gateway);
    await gateway.keys.refresh();
    return Response.json({ data: keyView(revoked) });
  } catch (thrown) {
    if (!stopped || !isUnavailable(thrown)) throw thrown;
    const message = `The key ${id} no longer works at this instance, but the storage does not answer: it is written down, and works nowhere else, as soon as it does, unless this process ends before. Revoke it again then to be sure.`;
    throw new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: thrown });
  }
};

/** Ignoring a misspelt limit would make a key that may do more than intended (H25). */
function refuseUnknown(body: Readonly<Record<string, unknown>>): void {
  const known = Object.keys(KeyRequest.properties);
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(pathTo("", unknown), `is not a field of a key; known are ${known.join(", ")}`);
}

function readExpiry(text: string): number {
  const ms = readTimestamp(text);
  if (ms !== undefined) return ms;
  throw new GatewayError("invalid_request", "expires_at must be a date such as 2027-01-31.", { path: "expires_at" });
}
