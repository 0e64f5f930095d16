import { type JsonObject, objectAt, parseObject } from "../src/base/json.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import { completionTokens, promptTokens, type Usage } from "../src/canon/usage.ts";
import { decodeUsage as readChat } from "../src/dialects/chat/answer/usage.ts";
import { decodeUsage as readGenai } from "../src/dialects/genai/answer/usage.ts";
import { decodeUsage as readInteractions } from "../src/dialects/interactions/answer/usage.ts";
import { decodeUsage as readMessages } from "../src/dialects/messages/answer/usage.ts";
import { decodeUsage as readResponses } from "../src/dialects/responses/answer/usage.ts";
import { readFrames } from "../src/wire/sse.ts";
import type { ReadAnswer } from "./sent-call.ts";

/** The usage of an answer, read as the gateway reads that of a host. */
export function reportedUsage(client: DialectName, { text }: ReadAnswer, stream: boolean): Usage | undefined {
  const bodies: JsonObject[] = stream
    ? readFrames(text).flatMap<JsonObject>(({ data }) => parseObject(data ?? "") ?? [])
    : [parseObject(text) ?? {}];
  const last = (of: (body: JsonObject) => JsonObject | undefined) =>
    bodies.map(of).findLast((found) => found !== undefined);
  switch (client) {
    case "chat":
      return readChat(last((body) => objectAt(body, "usage")));
    case "responses":
      return readResponses(last((body) => objectAt(objectAt(body, "response") ?? body, "usage")));
    case "interactions":
      return readInteractions(last((body) => objectAt(objectAt(body, "interaction") ?? body, "usage")));
    case "genai":
      return readGenai({ usageMetadata: last((body) => objectAt(body, "usageMetadata")) });
    case "messages": {
      const known: Record<string, unknown> = {};
      for (const body of bodies) {
        const { output_tokens: _begun, ...start } = objectAt(objectAt(body, "message"), "usage") ?? {};
        // As the vendor's SDKs do, which know no rule but this one.
        for (const [key, value] of Object.entries(objectAt(body, "usage") ?? start)) {
          if (value !== null) known[key] = value;
        }
      }
      return readMessages(known);
    }
  }
}

/** What every protocol tells apart, of the ledger's counters and of a client's. */
export function countsOf(usage: Usage | undefined): object {
  return {
    prompt: promptTokens(usage ?? {}),
    cached: usage?.cacheRead ?? 0,
    completion: completionTokens(usage ?? {}),
    reasoning: usage?.reasoning ?? 0,
  };
}
