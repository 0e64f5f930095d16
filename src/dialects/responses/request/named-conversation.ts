import { type JsonObject, stringAt } from "../../../base/json.ts";

/** The conversation that a request names, as a string or in an object, and where it does. */
export function namedConversation(body: JsonObject): { id: string; path: string } | undefined {
  const named = body["conversation"];
  if (typeof named === "string") return { id: named, path: "conversation" };
  const id = stringAt(named, "id");
  return id === undefined ? undefined : { id, path: "conversation.id" };
}
