import type { JsonObject } from "../../../base/json.ts";
import type { ToolResultPart } from "../../../canon/part.ts";
import { fitToolId } from "../../../canon/tool-id.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { encodeParts, joinedContent } from "../content.ts";
import { withExtras } from "../part-fields.ts";
import { cacheControl, ownExtras, pathIn, type RequestScope } from "./request-scope.ts";

const ERROR_PREFIX = "Error: ";

export interface EncodedResult {
  message: JsonObject;
  /** Parts that the tool role cannot carry, for the user message that follows. */
  media: JsonObject[];
}

export function encodeToolResult(result: ToolResultPart, scope: RequestScope): EncodedResult {
  const { quirks } = scope.context;
  const id = fitToolId(result.callId, quirks.toolId);
  const parts = encodeParts(result.content, scope);
  if (parts.length === 0 && result.response !== undefined)
    parts.push({ type: "text", text: stringifyInOrder(result.response) });
  const fits = (part: JsonObject) => part["type"] === "text" || quirks.mediaInToolRole;
  const kept = parts.filter(fits);
  const media = parts.filter((part) => !fits(part));
  if (media.length > 0) {
    scope.notes.approximated(
      result.path ?? "tool-result",
      "this provider accepts only text in tool results; the media were sent in the next message",
    );
    if (kept.length === 0) kept.push({ type: "text", text: "The result is in the next message." });
  }
  const content = withMark(joinedContent(markError(kept, result, scope), "\n"), result, scope);
  const named = result.name !== undefined && scope.call.dialect === "chat" ? { name: result.name } : {};
  const message = withExtras({ role: "tool", tool_call_id: id, content, ...named }, ownExtras(scope, result.extras));
  const intro = { type: "text", text: `Result of the tool call ${id}:` };
  return { message, media: media.length === 0 ? [] : [intro, ...media] };
}

/** The tool role has no error flag. */
function markError(parts: readonly JsonObject[], result: ToolResultPart, scope: RequestScope): readonly JsonObject[] {
  if (!result.isError) return parts;
  scope.notes.approximated(
    pathIn(scope, result, "isError"),
    "tool results in this protocol have no error flag; the text was prefixed instead",
  );
  const first = parts.findIndex((part) => part["type"] === "text");
  if (first < 0) return [{ type: "text", text: ERROR_PREFIX.trimEnd() }, ...parts];
  return parts.map((part, index) => (index === first ? { ...part, text: `${ERROR_PREFIX}${part["text"]}` } : part));
}

/** A cache mark on the whole result moves to its last part. */
function withMark(content: string | readonly JsonObject[], result: ToolResultPart, scope: RequestScope): unknown {
  const mark = cacheControl(scope, result);
  if (Object.keys(mark).length === 0) return content;
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.map((part, index) => (index === parts.length - 1 ? { ...part, ...mark } : part));
}
