import { isObject, type JsonObject } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { EXPECTED, nullable } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";

/** `responses/compact`. Further fields are the host's to judge. */
export const CompactionRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    input: Type.Union([Type.String(), Type.Array(Type.Object({}))], { [EXPECTED]: "a string, or an array of items" }),
    instructions: Type.Optional(nullable(Type.String())),
    previous_response_id: Type.Optional(nullable(Type.String())),
  },
  { title: "CompactionRequest" },
);

/** Responses are stored by the gateway: the host that compacts does not know their ids. */
export const checkCompaction = defineBodyCheck(CompactionRequest, ({ input, previous_response_id: previous }) => {
  if (typeof previous === "string")
    refuse("previous_response_id", "cannot be compacted by its id; send its items as input");
  if (typeof input === "string") return;
  for (const [index, item] of input.entries()) {
    if (isObject(item) && isReference(item))
      refuse(`input[${index}]`, "cannot be compacted by its id; send the item itself");
  }
});

/** Its type may be left out. */
function isReference(item: JsonObject): boolean {
  const type = item["type"] ?? undefined;
  return type === "item_reference" || (type === undefined && !("role" in item));
}
