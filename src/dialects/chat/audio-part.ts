import { type JsonObject, stringAt } from "../../base/json.ts";
import type { NativePart } from "../../canon/part.ts";

/** What the model has spoken: only this protocol has a place for it, and its host takes it back by its id. */
export function audioPart(audio: JsonObject): NativePart {
  const text = stringAt(audio, "transcript");
  return { type: "native", dialect: "chat", name: "audio", raw: { audio }, ...(text ? { text } : {}) };
}
