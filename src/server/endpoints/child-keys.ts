import { CREATE_KEYS } from "../../access/key-checks.ts";
import { newApiKey } from "../../access/key-hash.ts";
import { readKeyRequest } from "../../access/key-input.ts";
import { keyView } from "../../access/key-view.ts";
import { createKey, listKeys, revokeKey } from "../../access/keys.ts";
import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import { repeatable } from "../../objects/made-once.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import { selectKeysMadeBy } from "../../storage/tables/keys.ts";
import { countedCaller } from "../counted-caller.ts";
import { ApiKey, ApiKeyList, ChildKeyRequest, NewApiKey } from "../openapi/key-answers.ts";
import { json } from "../openapi/operation.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { onceOf } from "./owner-of.ts";
import { ownPath } from "./paths.ts";

const MAX_BYTES = 64 * 1024;

/** `POST /api/v1/keys`: a key creates one that can do no more than itself (S05). */
const create: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => {
    const { storage, gateway } = context;
    const body = await readSmallBody(routed.request, MAX_BYTES, maker, gateway);
    const request = readKeyRequest(body, maker.project);
    const once = onceOf(maker, routed);
    const seed = once === undefined ? undefined : ["key", once, JSON.stringify(body)];
    // The secret of a repetition follows from the request, so that a client that lost it gets it again.
    const again = seed && newApiKey(repeatable(...seed));
    const before = again && (await selectKeysMadeBy(storage, maker.keyId)).find(({ hash }) => hash === again.hash);
    const sources = seed === undefined ? gateway : { clock: gateway.clock, random: repeatable(...seed) };
    const { id, key } = before
      ? { id: before.id, key: again.key }
      : await createKey(storage, { ...request, maker }, sources, actorOf(maker, routed));
    await gateway.changes.spread();
    const made = (await listKeys(storage, { madeBy: maker.keyId })).find((one) => one.id === id);
    if (made === undefined) throw noSuchChild(id);
    return Response.json({ data: { ...keyView(made), key } }, { status: 201 });
  });

/** `GET /api/v1/keys`: the child keys, including revoked ones. */
const list: Handler = (routed, context) =>
  asMaker(routed, context, async ({ keyId }) => {
    const made = await listKeys(context.storage, { madeBy: keyId });
    return Response.json({ data: made.map((key) => keyView(key)) });
  });

/** `GET /api/v1/keys/{id}` */
const show: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => Response.json({ data: keyView(await childOf(maker, routed, context)) }));

/** `DELETE /api/v1/keys/{id}` */
const revoke: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => {
    const { storage, gateway } = context;
    const { id } = await childOf(maker, routed, context);
    const actor = actorOf(maker, routed);
    gateway.keys.revokeHere(id, actor);
    const revoked = await revokeKey(storage, id, gateway, actor);
    await gateway.changes.spread();
    return Response.json({ data: keyView(revoked) });
  });

export const createChildKey: ClientEndpoint = {
  method: "POST",
  paths: ownPath("/api/v1/keys"),
  id: "createChildKey",
  summary: "Create a child key, which can do no more than this key. Requires the scope keys:create",
  dialect: "chat",
  request: ChildKeyRequest,
  answers: [{ ...json(NewApiKey, "The key."), status: 201 }],
  handle: create,
};

export const listChildKeys: ClientEndpoint = {
  method: "GET",
  paths: ownPath("/api/v1/keys"),
  id: "listChildKeys",
  summary: "List the child keys of this key",
  dialect: "chat",
  answers: [json(ApiKeyList, "The keys, without their secrets.")],
  handle: list,
};

export const getChildKey: ClientEndpoint = {
  ...listChildKeys,
  paths: ownPath("/api/v1/keys/{id}"),
  id: "getChildKey",
  summary: "Show a child key of this key",
  parameters: ["key-id"],
  answers: [json(ApiKey, "The key, without its secret.")],
  handle: show,
};

export const revokeChildKey: ClientEndpoint = {
  ...getChildKey,
  method: "DELETE",
  paths: ownPath("/api/v1/keys/{id}"),
  id: "revokeChildKey",
  summary: "Revoke a child key of this key",
  answers: [json(ApiKey, "The revoked key.")],
  handle: revoke,
};

async function asMaker(
  routed: RoutedRequest,
  { gateway }: ServerContext,
  work: (maker: Principal) => Promise<Response>,
): Promise<Response> {
  const maker = await countedCaller(routed, gateway);
  if (maker.subject !== undefined) {
    const message = "A token cannot create keys. Send an API key that has the scope keys:create.";
    throw new GatewayError("forbidden", message);
  }
  if (!maker.scopes?.includes(CREATE_KEYS)) {
    const message = `The key "${maker.keyName}" cannot create keys: it does not have the scope ${CREATE_KEYS}. The operator can grant it with \`trivium keys update ${maker.keyId} --scopes ${CREATE_KEYS}\`.`;
    throw new GatewayError("forbidden", message);
  }
  const { connection } = routed;
  connection.hold();
  try {
    return await work(maker);
  } finally {
    connection.rest();
  }
}

/** A child of another key looks as if it did not exist (S09). */
async function childOf({ keyId }: Principal, { parameters }: RoutedRequest, { storage }: ServerContext) {
  const id = parameters["id"] ?? "";
  const child = (await listKeys(storage, { madeBy: keyId })).find((key) => key.id === id);
  if (child === undefined) throw noSuchChild(id);
  return child;
}

const actorOf = ({ keyId }: Principal, { connection }: RoutedRequest) => ({
  who: `key:${keyId}`,
  address: connection.address,
});

const noSuchChild = (id: string): GatewayError =>
  new GatewayError("not_found", `No child key ${JSON.stringify(id.slice(0, 100))} belongs to this key.`, {
    code: "key_not_found",
  });
