import { type JsonObject, stringAt } from "../../../base/json.ts";

/** The vendor writes times to the second. */
export const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");

interface Shell {
  id: string;
  model: string;
  status: string;
}

/** What every form of an interaction has. */
export const encodeShell = ({ id, model, status }: Shell): JsonObject => ({ id, status, object: "interaction", model });

/** The interaction that a request continued. */
export function continued(request: JsonObject): JsonObject {
  const previous = stringAt(request, "previous_interaction_id");
  return previous === undefined ? {} : { previous_interaction_id: previous };
}
