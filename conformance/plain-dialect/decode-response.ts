import { type JsonObject, stringAt } from "../../src/base/json.ts";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import { GatewayError } from "../../src/canon/error.ts";
import type { CanonReply } from "../../src/canon/reply.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject): CanonReply {
  const text = stringAt(body, "text");
  if (text === undefined) throw new GatewayError("upstream_failed", "The provider's answer has no text.");
  return withoutAbsent({
    id: stringAt(body, "id"),
    parts: [{ type: "text" as const, text }],
    stop: decodeStop(stringAt(body, "why") ?? ""),
    usage: decodeUsage(body["tokens"]),
  });
}
