import { type JsonObject, stringAt } from "../../src/base/json.ts";
import { GatewayError } from "../../src/canon/error.ts";
import type { CanonReply } from "../../src/canon/reply.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject): CanonReply {
  const text = stringAt(body, "text");
  if (text === undefined) throw new GatewayError("upstream_failed", "The provider's answer has no text.");
  const [id, usage] = [stringAt(body, "id"), decodeUsage(body["tokens"])];
  return {
    ...(id === undefined ? {} : { id }),
    parts: [{ type: "text", text }],
    stop: decodeStop(stringAt(body, "why") ?? ""),
    ...(usage === undefined ? {} : { usage }),
  };
}
