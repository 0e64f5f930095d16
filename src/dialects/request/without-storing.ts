import type { FieldNote } from "../../canon/receipt.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import { outlineOf } from "../outline-of.ts";
import type { ObjectFields } from "../reading/object-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";

const REASON =
  "this gateway does not store the response, and providers store responses only for keys with provider_objects: true";

/** Hosts may take any other value as true. */
const NOT_STORING: ReadonlySet<unknown> = new Set([undefined, null, false]);

/**
 * The request without fields that make a host store its response. A request without them is returned unchanged. `isStored`: the gateway
 * stores the response itself, so nothing is lost.
 */
export function withoutStoring(
  request: ReceivedRequest,
  fields: ObjectFields | undefined,
  isStored: boolean,
): ReceivedRequest {
  const storing = fields?.storing;
  if (storing === undefined || NOT_STORING.has(outlineOf(request)[storing.field])) return request;
  const dropped = [storing.field, ...(storing.needs ?? [])].filter((name) => name in request.body);
  const edit = new ObjectEdit(request.text);
  const body = { ...request.body };
  for (const name of dropped) {
    edit.remove(name);
    delete body[name];
  }
  const notes = isStored ? [] : dropped.map((path): FieldNote => ({ path, action: "dropped", reason: REASON }));
  return { text: edit.toString(), body, adapted: [...(request.adapted ?? []), ...notes] };
}
