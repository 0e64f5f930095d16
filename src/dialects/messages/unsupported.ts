import type { FieldNote } from "../../canon/receipt.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { Door } from "../reading/check.ts";
import type { ReceivedRequest } from "../received-request.ts";

/** Contract 2.10: not supported. The drop-in door forwards them (choices 3). */
const UNSUPPORTED = ["metadata", "service_tier"] as const;

/** At the contract door these fields are removed, with a note in the receipt. */
export function withoutUnsupported(request: ReceivedRequest, door: Door): ReceivedRequest {
  const present = door === "contract" ? UNSUPPORTED.filter((field) => field in request.body) : [];
  if (present.length === 0) return request;
  const edit = new ObjectEdit(request.text);
  const body = { ...request.body };
  for (const field of present) {
    edit.remove(field);
    delete body[field];
  }
  const adapted = present.map(
    (path): FieldNote => ({ path, action: "dropped", reason: "this field is not supported" }),
  );
  return { text: edit.toString(), body, adapted };
}
