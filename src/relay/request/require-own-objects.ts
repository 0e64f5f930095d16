import type { Principal } from "../../access/principal.ts";
import { GatewayError } from "../../canon/error.ts";
import { findObjects, type ObjectReference } from "../../dialects/reading/find-objects.ts";
import type { ObjectFields } from "../../dialects/reading/object-fields.ts";
import type { Found, NamedObject } from "../../objects/objects.ts";
import type { Gateway } from "../gateway.ts";

/**
 * Refuses a request that names an object which is not its caller's (decision 0087): one provider account serves all projects, so an id alone
 * would open what another has stored there. Whatever lane the call takes, before anything is translated.
 */
export async function requireOwnObjects(
  body: object,
  fields: ObjectFields | undefined,
  principal: Principal,
  { objects, snapshot }: Pick<Gateway, "objects" | "snapshot">,
): Promise<void> {
  if (fields === undefined) return;
  const named = findObjects(body, fields, snapshot.publicOwners);
  if (named.length === 0) return;
  const owned = named.filter(canBeOwned);
  const found = owned.length === 0 ? [] : await objects.find(principal, owned);
  for (const reference of named) {
    const at = owned.indexOf(reference as ObjectReference & NamedObject);
    judge(reference, found[at] ?? "unknown", principal);
  }
}

const canBeOwned = (reference: ObjectReference): reference is ObjectReference & NamedObject =>
  reference.kind !== undefined;

/** What the gateway does not know may be a provider's: only a key that is allowed such names may use it. */
function judge({ path, id, what }: ObjectReference, found: Found, { providerObjects }: Principal): void {
  if (found === "own" || (found === "unknown" && providerObjects)) return;
  const shown = JSON.stringify(id.slice(0, 80));
  const message = `${path} refers to ${what} that this key did not create: ${shown}. Requests can refer to objects in a provider's account only if the key or its project has \`provider_objects: true\`; ask the operator of this gateway.`;
  throw new GatewayError("invalid_request", message, { path });
}
