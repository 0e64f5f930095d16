import type { CanonReply } from "../../src/canon/reply.ts";
import type { EncodeAnswerContext } from "../../src/dialects/codec.ts";
import { encodeStop } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

export function encodeResponse(reply: CanonReply, { publicModel, makeId, note }: EncodeAnswerContext): string {
  let text = "";
  for (const part of reply.parts) {
    if (part.type === "text" || part.type === "refusal") text += part.text;
    else note({ path: "content", action: "dropped", reason: `this protocol shows no ${part.type}` });
  }
  const id = reply.id ?? makeId();
  return JSON.stringify({ id, model: publicModel, text, why: encodeStop(reply.stop), ...encodeUsage(reply.usage) });
}
