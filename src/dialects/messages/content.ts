import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Citation } from "../../canon/citation.ts";
import { Fields } from "../../canon/fields.ts";
import type { NativePart, Part, SearchResultPart, TextPart, ToolCallPart, ToolResultPart } from "../../canon/part.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { SignedParts } from "../request/carriers.ts";
import { decodeCache } from "./cache.ts";
import { decodeCarrier } from "./carriers.ts";
import { decodeCitation } from "./citations.ts";
import { decodeCitationSwitch, decodeDocument, decodeImage } from "./media.ts";
import { elsewhereOf } from "./native-words.ts";
import { type BlockSource, CLIENT_SOURCE } from "./opaque-values.ts";
import { decodeSearchResults, decodeServerToolCall } from "./search.ts";
import { decodeRedactedThinking, decodeThinking } from "./thinking.ts";

/** The content of a client's message: a string, or blocks. Carriers are merged into the parts that they belong to. */
export function decodeContent(content: unknown, path: string): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content, path }];
  const signed = new SignedParts();
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    const where = `${path}[${index}]`;
    const carrier = decodeCarrier(block);
    if (carrier === undefined) signed.push(decodeBlock(block, where, CLIENT_SOURCE));
    else signed.carry(carrier, where);
  }
  return [...signed.end()];
}

/** One block of a request (with its path) or of a response. Unknown blocks are kept as they are, for this dialect only. */
export function decodeBlock(value: unknown, path: string | undefined, source: BlockSource): Part {
  const block = isObject(value) ? value : {};
  const type = stringAt(block, "type") ?? "";
  const fields = new Fields(block);
  fields.skip("type");
  const common = withoutAbsent({ path, ...decodeCache(fields) });
  const part = decodeKnown(type, block, fields, path ?? "", source);
  if (part === undefined) return nativePart(type, block, common);
  const extras = fields.rest();
  return { ...part, ...common, ...(extras === undefined ? {} : { extras }) };
}

function nativePart(type: string, block: JsonObject, common: Pick<NativePart, "path" | "cache">): NativePart {
  const { cache_control: _cache, ...raw } = block;
  // Only a request may be sent to a host of another dialect.
  const elsewhere = common.path === undefined ? undefined : elsewhereOf(type, block);
  return { type: "native", dialect: "messages", name: type, raw, ...(elsewhere && { elsewhere }), ...common };
}

function decodeKnown(
  type: string,
  block: JsonObject,
  fields: Fields,
  path: string,
  source: BlockSource,
): Part | undefined {
  const inner = (value: unknown, where: string) => decodeBlock(value, where, source);
  switch (type) {
    case "text":
      return decodeText(block, fields, source);
    case "thinking":
      return decodeThinking(fields, source);
    case "redacted_thinking":
      return decodeRedactedThinking(fields, source);
    case "tool_use":
      return decodeToolUse(fields);
    case "tool_result":
      return decodeToolResult(fields, path, inner);
    case "image":
      return decodeImage(fields);
    case "document":
      return decodeDocument(fields, path, inner);
    case "search_result":
      return decodeSearchResult(fields, path, inner);
    case "server_tool_use":
      return decodeServerToolCall(fields);
    case "web_search_tool_result":
      return decodeSearchResults(fields, source);
    default:
      return undefined;
  }
}

/** If any citation is of an unknown kind, all of them go to the extras, so that their order is kept. */
function decodeText(block: JsonObject, fields: Fields, source: BlockSource): TextPart | undefined {
  const text = fields.string("text");
  if (text === undefined) return undefined;
  const citations = arrayAt(block, "citations").map((citation) => decodeCitation(citation, source));
  const known = citations.filter((citation): citation is Citation => citation !== undefined);
  if (known.length < citations.length && source.fromClient) return { type: "text", text };
  fields.skip("citations");
  return { type: "text", text, ...(known.length === 0 ? {} : { citations: known }) };
}

function decodeToolUse(fields: Fields): ToolCallPart | undefined {
  const id = fields.string("id");
  const name = fields.string("name");
  if (id === undefined || name === undefined) return undefined;
  return { type: "tool-call", id, name, input: argumentsText(fields.take("input")) || "{}" };
}

type Inner = (value: unknown, where: string) => Part;

function decodeToolResult(fields: Fields, path: string, inner: Inner): ToolResultPart | undefined {
  const callId = fields.string("tool_use_id");
  if (callId === undefined) return undefined;
  const isError = fields.boolean("is_error");
  const content = fields.take("content");
  const where = `${path}.content`;
  return withoutAbsent({
    type: "tool-result" as const,
    callId,
    content:
      typeof content === "string"
        ? [{ type: "text" as const, text: content, path: where }]
        : decodeList(content, where, inner).map((part, index) =>
            part.type === "text" || part.type === "media" || part.type === "search-result" || part.type === "native"
              ? part
              : asNative(part, (content as unknown[])[index]),
          ),
    isError,
  });
}

function decodeSearchResult(fields: Fields, path: string, inner: Inner): SearchResultPart | undefined {
  const source = fields.string("source");
  const title = fields.string("title");
  const citations = decodeCitationSwitch(fields);
  const content = decodeList(fields.array("content"), `${path}.content`, inner);
  if (!content.every((part) => part.type === "text" || part.type === "media")) return undefined;
  return withoutAbsent({ type: "search-result" as const, source, title, content, citations });
}

const decodeList = (content: unknown, where: string, inner: Inner): Part[] =>
  Array.isArray(content) ? content.map((value, index) => inner(value, `${where}[${index}]`)) : [];

const asNative = ({ path, cache }: Part, value: unknown): NativePart =>
  nativePart(stringAt(value, "type") ?? "", isObject(value) ? value : {}, withoutAbsent({ path, cache }));
