import { arrayAt, isObject, type JsonObject, numberAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { countsNothing } from "../../../canon/usage.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { noteModeration } from "../../answer/note-moderation.ts";
import { decodeTokens } from "../../answer/token-logprobs.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeItem } from "../request/decode-item.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  failIfNoAnswer(body);
  const items = arrayAt(body, "output").filter(isObject);
  const parts = messagesApart(items.map((item) => decodeItem(item, context)));
  const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
  const logprobs = items.flatMap((item) =>
    arrayAt(item, "content").flatMap((part) => decodeTokens(arrayAt(part, "logprobs"))),
  );
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  noteModeration(body, context.note);
  return {
    ...decodeMetadata(body),
    parts,
    stop: decodeStop(
      body,
      parts.some((part) => part.type === "tool-call"),
    ),
    ...withoutAbsent({ usage }),
    ...(logprobs.length > 0 ? { logprobs } : {}),
  };
}

/** The parts of all items. The first text of each message after the first is marked as separate. */
function messagesApart(items: readonly ReplyPart[][]): ReplyPart[] {
  let said = false;
  return items.flatMap((parts) => {
    const first = parts.findIndex(({ type }) => type === "text");
    const text = parts[first];
    if (text?.type !== "text") return parts;
    const following = said;
    said = true;
    return following ? parts.with(first, { ...text, apart: true }) : parts;
  });
}

/** Throws if a response with a success status has an error or has not ended. */
export function failIfNoAnswer(body: JsonObject): void {
  const failure = failureIn(body);
  if (failure !== undefined) {
    const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
    throw usage === undefined || countsNothing(usage) ? failure : failure.withFailure({ usage });
  }
  if (!Array.isArray(body["output"]))
    throw new GatewayError("upstream_failed", "The provider's response has no output.");
}

const ENDED: ReadonlySet<string> = new Set(["completed", "incomplete"]);

/** Some providers send no status. Any status other than complete or incomplete is a failure. */
export function failureIn(response: JsonObject): GatewayError | undefined {
  const status = stringAt(response, "status");
  const error = response["error"];
  if (isObject(error) || typeof error === "string") return decodeErrorObject(response, 200);
  if (status === undefined || ENDED.has(status)) return undefined;
  return new GatewayError("upstream_failed", `The provider ended the response early (${status}).`);
}

export function decodeMetadata(response: JsonObject): { id?: string; created?: number } {
  const id = stringAt(response, "id");
  const created = numberAt(response, "created_at");
  return { ...(id ? { id } : {}), ...(created ? { created: Math.floor(created) } : {}) };
}
