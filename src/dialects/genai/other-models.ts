import { objectAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import { ONE_MODEL } from "../reading/routing-fields.ts";
import type { ReceivedRequest } from "../received-request.ts";

/** These let a host choose a model other than the one in the URL (contract 2.6: deprecated). */
const CHOICES = ["routingConfig", "modelSelectionConfig"] as const;

/** Removed for every host: another model has another price and other scopes (S07). */
export function withoutOtherModels(request: ReceivedRequest): ReceivedRequest {
  const config = objectAt(request.body, "generationConfig");
  const present = config === undefined ? [] : CHOICES.filter((field) => field in config);
  if (config === undefined || present.length === 0) return request;
  const left = { ...config };
  for (const field of present) delete left[field];
  const text = changeValue(request.text, ["generationConfig"], (value) => {
    const edit = new ObjectEdit(value);
    for (const field of present) edit.remove(field);
    return edit.toString();
  });
  const adapted = present.map(
    (field): FieldNote => ({ path: `generationConfig.${field}`, action: "dropped", reason: ONE_MODEL }),
  );
  return { text, body: { ...request.body, generationConfig: left }, adapted };
}
