import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import { findObjects, type ObjectReference } from "../../dialects/reading/find-objects.ts";
import type { ObjectFields } from "../../dialects/reading/object-fields.ts";
import type { Found, NamedObject } from "../../objects/objects.ts";
import type { Gateway } from "../gateway.ts";

/**
 * Rejects a request that refers to an object of another caller (decision 0087). One provider account serves all projects, so an id
 * would give access to what another project stored. Checked before anything is translated, for either lane.
 */
export async function requireOwnObjects(
  body: object,
  fields: ObjectFields | undefined,
  principal: Principal,
  { objects, snapshot }: Pick<Gateway, "objects" | "snapshot">,
): Promise<void> {
  if (fields === undefined) return;
  const named = findObjects(body, fields, snapshot);
  if (named.length === 0) return;
  const owned = named.filter(canBeOwned);
  const found = owned.length === 0 ? [] : await objects.find(principal, owned);
  for (const reference of named) {
    const at = owned.indexOf(reference as ObjectReference & NamedObject);
    judge(reference, found[at] ?? "unknown", principal);
    if (reference.kind === "cache" && found[at] === "own" && reference.path !== fields.cache)
      throw wrongPlace(reference);
  }
}

const canBeOwned = (reference: ObjectReference): reference is ObjectReference & NamedObject =>
  reference.kind !== undefined;

/** An unknown object may belong to the provider's account. Only keys with permission may refer to it. */
function judge({ path, id, what }: ObjectReference, found: Found, { providerObjects }: Principal): void {
  if (found === "own" || (found === "unknown" && providerObjects)) return;
  const shown = JSON.stringify(id.slice(0, 80));
  const message = `${path} refers to ${what} that this key did not create: ${shown}. Requests can refer to objects in a provider's account only if the key or its project has \`provider_objects: true\`; ask the operator of this gateway.`;
  throw new GatewayError("invalid_request", message, { path });
}

/** Where requests cannot name a cache of the gateway, a host would be sent an id that it does not know. */
const wrongPlace = ({ path, id }: ObjectReference): GatewayError =>
  new GatewayError(
    "invalid_request",
    `${path} names the cache ${JSON.stringify(id.slice(0, 80))}, which can only be used in cachedContent of generateContent and streamGenerateContent.`,
    { path },
  );
