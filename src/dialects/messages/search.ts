import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Fields } from "../../canon/fields.ts";
import type { SearchErrorCode, ServerToolCallPart, ServerToolResultPart, WebPage } from "../../canon/part.ts";
import { fitToolId, type ToolIdRule } from "../../canon/tool-id.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { type BlockSource, type OpaqueWriter, readOpaque } from "./opaque-values.ts";
import { parseInput } from "./tool-input.ts";

export const WEB_SEARCH = "web_search";

const SERVER_TOOL_ID: ToolIdRule = {
  pattern: /^srvtoolu_[a-zA-Z0-9_]+$/,
  make: (seed) => `srvtoolu_${seed}`,
};

const fitServerToolId = (id: string): string => fitToolId(id, SERVER_TOOL_ID);

/** Two of these are newer codes for errors that the contract already has a code for (contract 7). */
const ERROR_CODES: ReadonlyMap<string, SearchErrorCode> = new Map([
  ["too_many_requests", "too_many_requests"],
  ["invalid_input", "invalid_input"],
  ["invalid_tool_input", "invalid_input"],
  ["max_uses_exceeded", "max_uses_exceeded"],
  ["query_too_long", "query_too_long"],
  ["request_too_large", "query_too_long"],
  ["unavailable", "unavailable"],
]);

export function decodeServerToolCall(fields: Fields): ServerToolCallPart | undefined {
  const id = fields.string("id");
  const name = fields.string("name");
  // Results of other tools are blocks that only this dialect knows. A host rejects them without their call.
  if (id === undefined || name !== WEB_SEARCH) return undefined;
  return { type: "server-tool-call", id, name, input: argumentsText(fields.take("input")) || "{}" };
}

export function decodeSearchResults(fields: Fields, source: BlockSource): ServerToolResultPart | undefined {
  const callId = fields.string("tool_use_id");
  const result = decodeResult(fields.take("content"), source);
  return callId === undefined || result === undefined
    ? undefined
    : { type: "server-tool-result", callId, name: WEB_SEARCH, result };
}

function decodeResult(content: unknown, source: BlockSource): ServerToolResultPart["result"] | undefined {
  if (isObject(content)) {
    const code = stringAt(content, "error_code");
    return code === undefined ? undefined : { error: ERROR_CODES.get(code) ?? "unavailable" };
  }
  return Array.isArray(content) ? { pages: content.map((page) => decodePage(page, source)) } : undefined;
}

function decodePage(value: unknown, source: BlockSource): WebPage {
  const title = stringAt(value, "title");
  const age = stringAt(value, "page_age");
  const content = readOpaque(stringAt(value, "encrypted_content"), "encrypted", source);
  return withoutAbsent({ url: stringAt(value, "url") ?? "", title: title || undefined, content, age });
}

export const encodeServerToolCall = ({ id, name, input }: ServerToolCallPart): JsonObject => ({
  type: "server_tool_use",
  id: fitServerToolId(id),
  name,
  input: parseInput(input) ?? {},
});

export const encodeSearchResults = ({ callId, result }: ServerToolResultPart, write: OpaqueWriter): JsonObject => ({
  type: "web_search_tool_result",
  tool_use_id: fitServerToolId(callId),
  content:
    "error" in result
      ? { type: "web_search_tool_result_error", error_code: result.error }
      : result.pages.map((page) => encodePage(page, write)),
});

const encodePage = ({ url, title, content, age }: WebPage, write: OpaqueWriter): JsonObject =>
  withoutAbsent({
    type: "web_search_result",
    url,
    title: title ?? "",
    encrypted_content: content === undefined ? "" : write(content, "encrypted"),
    page_age: age,
  });
