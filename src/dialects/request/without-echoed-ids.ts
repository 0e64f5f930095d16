import { isObject, type JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { ObjectFields } from "../reading/object-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";

/**
 * The request without ids of a provider's objects in items that repeat an earlier response: clients that keep their own history
 * send these back. A request without such items is returned unchanged.
 */
export function withoutEchoedIds(request: ReceivedRequest, fields: ObjectFields | undefined): ReceivedRequest {
  const echoed = fields?.echoed;
  const items = echoed === undefined ? undefined : request.body[echoed.field];
  if (echoed === undefined || !Array.isArray(items)) return request;
  const notes: FieldNote[] = [];
  const kept = items.flatMap((item: unknown, index): unknown[] => {
    const rewritten = isObject(item) ? echoed.rewrite(item) : undefined;
    if (rewritten === undefined) return [item];
    const path = `${echoed.field}[${index}]${rewritten.lost}`;
    notes.push({ path, action: "dropped", reason: rewritten.reason });
    return rewritten.item === undefined ? [] : [rewritten.item];
  });
  if (notes.length === 0) return request;
  const edit = new ObjectEdit(request.text);
  edit.set(echoed.field, JSON.stringify(kept));
  const body: JsonObject = { ...request.body, [echoed.field]: kept };
  return { text: edit.toString(), body, adapted: [...(request.adapted ?? []), ...notes] };
}
