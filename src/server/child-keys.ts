import { CREATE_KEYS } from "../access/key-checks.ts";
import { readKeyRequest } from "../access/key-input.ts";
import { keyView } from "../access/key-view.ts";
import { createKey, listKeys, revokeKey } from "../access/keys.ts";
import type { Principal } from "../access/principal.ts";
import { GatewayError } from "../canon/error.ts";
import { readSmallBody } from "../relay/read-body.ts";
import { countedCaller } from "./counted-caller.ts";
import type { Handler, RoutedRequest, ServerContext } from "./routed-request.ts";

const MAX_BYTES = 64 * 1024;

/** `POST /api/v1/keys`: a key makes one that can do no more than itself (S05). */
export const createChildKey: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => {
    const { storage, gateway } = context;
    const body = await readSmallBody(routed.request, MAX_BYTES, maker, gateway);
    const request = readKeyRequest(body, maker.project);
    const { id, key } = await createKey(storage, { ...request, maker }, gateway, actorOf(maker, routed));
    await gateway.keys.refresh();
    const made = (await listKeys(storage, { madeBy: maker.keyId })).find((one) => one.id === id);
    if (made === undefined) throw noSuchChild(id);
    return Response.json({ data: { ...keyView(made), key } }, { status: 201 });
  });

/** `GET /api/v1/keys`: what the key has made, revoked ones included. */
export const listChildKeys: Handler = (routed, context) =>
  asMaker(routed, context, async ({ keyId }) => {
    const made = await listKeys(context.storage, { madeBy: keyId });
    return Response.json({ data: made.map((key) => keyView(key)) });
  });

/** `GET /api/v1/keys/{id}` */
export const showChildKey: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => Response.json({ data: keyView(await childOf(maker, routed, context)) }));

/** `DELETE /api/v1/keys/{id}` */
export const revokeChildKey: Handler = (routed, context) =>
  asMaker(routed, context, async (maker) => {
    const { storage, gateway } = context;
    const { id } = await childOf(maker, routed, context);
    const actor = actorOf(maker, routed);
    gateway.keys.revokeHere(id, actor);
    const revoked = await revokeKey(storage, id, gateway, actor);
    await gateway.keys.refresh();
    return Response.json({ data: keyView(revoked) });
  });

async function asMaker(
  routed: RoutedRequest,
  { gateway }: ServerContext,
  work: (maker: Principal) => Promise<Response>,
): Promise<Response> {
  const maker = await countedCaller(routed, gateway);
  if (!maker.scopes?.includes(CREATE_KEYS)) {
    const message = `The key "${maker.keyName}" may not make keys: it does not have the scope ${CREATE_KEYS}. The operator gives it with \`trivium keys update ${maker.keyId} --scopes ${CREATE_KEYS}\`.`;
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

/** A key that another has made looks as if it did not exist (S09). */
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
  new GatewayError("not_found", `This key has made no key ${JSON.stringify(id.slice(0, 100))}.`, {
    code: "key_not_found",
  });
