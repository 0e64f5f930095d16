import { describe } from "bun:test";
import { type RefusalCase, testRefusals } from "../../reading/refusal-table.ts";
import { checkMessagesRequest } from "./check-request.ts";

const sound = { model: "acme/one", max_tokens: 4096 };
const block = (content: unknown) => ({ messages: [{ role: "user", content: [content] }] });
const at = (rest: string) => `messages[0].content[0]${rest}`;
const image = (source: object) => block({ type: "image", source });
const document = (source: object, more: object = {}) => block({ type: "document", source, ...more });
const result = (content: unknown) => block({ type: "tool_result", tool_use_id: "toolu_1", content });
const cited = (citation: unknown) => block({ type: "text", text: "a", citations: [citation] });
const found = { type: "web_search_result", url: "https://a", title: "A", encrypted_content: "x" };
const searched = (content: unknown) => block({ type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content });
const text = { type: "text", text: "a" };

const blocks: RefusalCase[] = [
  {
    rule: "text: text is required",
    good: block(text),
    bad: block({ type: "text" }),
    path: at(".text"),
    says: "a string; it is missing",
  },
  {
    rule: "type is required",
    good: block(text),
    bad: block({ text: "a" }),
    path: at(".type"),
    says: '"text", "tool_use", "tool_result"',
  },
  {
    rule: "cache_control has the one type",
    good: block({ ...text, cache_control: { type: "ephemeral" } }),
    bad: block({ ...text, cache_control: { type: "persistent" } }),
    path: at(".cache_control.type"),
    says: 'must be "ephemeral"; it is "persistent"',
  },
  {
    rule: "cache_control.ttl",
    good: block({ ...text, cache_control: { type: "ephemeral", ttl: "5m" } }),
    bad: block({ ...text, cache_control: { type: "ephemeral", ttl: 300 } }),
    path: at(".cache_control.ttl"),
    says: 'one of "5m", "1h"; it is 300',
  },
  {
    rule: "image: media types",
    good: image({ type: "base64", media_type: "image/webp", data: "AA==" }),
    bad: image({ type: "base64", media_type: "image/bmp", data: "AA==" }),
    path: at(".source.media_type"),
    says: 'one of "image/jpeg", "image/png", "image/gif", "image/webp"; it is "image/bmp"',
  },
  {
    rule: "image: base64 has data",
    good: image({ type: "base64", media_type: "image/png", data: "AA==" }),
    bad: image({ type: "base64", media_type: "image/png" }),
    path: at(".source.data"),
    says: "it is missing",
  },
  {
    rule: "image: source kinds",
    good: image({ type: "url", url: "https://a/b.png" }),
    bad: image({ type: "path", path: "/a" }),
    path: at(".source.type"),
    says: 'one of "base64", "url"; it is "path"',
  },
  {
    rule: "image: source is required",
    good: image({ type: "base64", media_type: "image/png", data: "AA==" }),
    bad: block({ type: "image" }),
    path: at(".source"),
    says: "an object; it is missing",
  },
  {
    rule: "image: data is base64",
    good: image({ type: "base64", media_type: "image/png", data: "AAAA\nAA==" }),
    bad: image({ type: "base64", media_type: "image/png", data: "***" }),
    path: at(".source.data"),
    says: 'must be base64; it has "*" at character 1',
  },
  {
    rule: "document: base64 is PDF",
    good: document({ type: "base64", media_type: "application/pdf", data: "AA==" }, { title: "T", context: "C" }),
    bad: document({ type: "base64", media_type: "application/msword", data: "AA==" }),
    path: at(".source.media_type"),
    says: 'must be "application/pdf"',
  },
  {
    rule: "document: text is text/plain",
    good: document({ type: "text", media_type: "text/plain", data: "a" }, { citations: { enabled: true } }),
    bad: document({ type: "text", media_type: "text/html", data: "a" }),
    path: at(".source.media_type"),
    says: 'must be "text/plain"',
  },
  {
    rule: "document: content is a string or blocks",
    good: document({ type: "content", content: [text] }),
    bad: document({ type: "content", content: { a: 1 } }),
    path: at(".source.content"),
    says: "a string, or an array; it is an object",
  },
  {
    rule: "document: url",
    good: document({ type: "url", url: "https://a/b.pdf" }),
    bad: document({ type: "url" }),
    path: at(".source.url"),
    says: "it is missing",
  },
  {
    rule: "document: citations is a switch",
    good: document({ type: "url", url: "https://a" }, { citations: { enabled: false } }),
    bad: document({ type: "url", url: "https://a" }, { citations: { enabled: "yes" } }),
    path: at(".citations.enabled"),
    says: "true or false",
  },
  {
    rule: "tool_result: tool_use_id is required",
    good: block({ type: "tool_result", tool_use_id: "toolu_1", is_error: true }),
    bad: block({ type: "tool_result", content: "a" }),
    path: at(".tool_use_id"),
    says: "it is missing",
  },
  {
    rule: "tool_result: content takes text, image, search_result and document",
    good: result([text, { type: "search_result", source: null, title: "T", content: [text] }]),
    bad: result([{ type: "thinking", thinking: "a", signature: "b" }]),
    path: at(".content[0].type"),
    says: 'one of "text", "image", "search_result", "document"; it is "thinking"',
  },
  {
    rule: "tool_result: is_error is boolean",
    good: block({ type: "tool_result", tool_use_id: "t", is_error: false }),
    bad: block({ type: "tool_result", tool_use_id: "t", is_error: "no" }),
    path: at(".is_error"),
    says: "true or false",
  },
  {
    rule: "tool_use: id is required",
    good: block({ type: "tool_use", id: "toolu_1", name: "f", input: {} }),
    bad: block({ type: "tool_use", name: "f", input: {} }),
    path: at(".id"),
    says: "it is missing",
  },
  {
    rule: "tool_use: input is an object",
    good: block({ type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } }),
    bad: block({ type: "tool_use", id: "toolu_1", name: "f", input: "{}" }),
    path: at(".input"),
    says: 'an object; it is "{}"',
  },
  {
    rule: "server_tool_use: name is required",
    good: block({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search" }),
    bad: block({ type: "server_tool_use", id: "srvtoolu_1" }),
    path: at(".name"),
    says: "it is missing",
  },
  {
    rule: "web_search_tool_result: an array of results",
    good: searched([found]),
    bad: searched([{ ...found, encrypted_content: undefined }]),
    path: at(".content[0].encrypted_content"),
    says: "a string; it is missing",
  },
  {
    rule: "web_search_tool_result: or one error with a code",
    good: searched({ type: "web_search_tool_result_error", error_code: "max_uses_exceeded" }),
    bad: searched({ type: "web_search_tool_result_error", error_code: "tired" }),
    path: at(".content.error_code"),
    says: '"too_many_requests", "invalid_input", "max_uses_exceeded", "query_too_long", "unavailable"',
  },
  {
    rule: "web_search_result: url is required",
    good: block(found),
    bad: block({ ...found, url: undefined }),
    path: at(".url"),
    says: "it is missing",
  },
  {
    rule: "thinking: the signature is required",
    good: block({ type: "thinking", thinking: "", signature: "c2ln" }),
    bad: block({ type: "thinking", thinking: "a" }),
    path: at(".signature"),
    says: "it is missing",
  },
  {
    rule: "redacted_thinking: data is required",
    good: block({ type: "redacted_thinking", data: "x" }),
    bad: block({ type: "redacted_thinking" }),
    path: at(".data"),
    says: "it is missing",
  },
  {
    rule: "search_result: content is an array",
    good: block({ type: "search_result", source: "https://a", title: null, content: [text] }),
    bad: block({ type: "search_result", content: "a" }),
    path: at(".content"),
    says: "an array",
  },
  {
    rule: "search_result: citations.enabled is required",
    good: block({ type: "search_result", content: [], citations: { enabled: true } }),
    bad: block({ type: "search_result", content: [], citations: {} }),
    path: at(".citations.enabled"),
    says: "it is missing",
  },
  {
    rule: "a block that is not listed",
    good: block({ type: "text", text: "a" }),
    bad: block({ type: "mcp_tool_use", id: "m", server_name: "wiki", input: {} }),
    path: at(".type"),
    says: 'it is "mcp_tool_use"',
  },
  {
    rule: "a block's type that is not a string",
    good: block({ type: "text", text: "a" }),
    bad: block({ type: null }),
    path: at(".type"),
    says: "it is null",
  },
];

const location = { cited_text: "a", document_index: 0, document_title: null };
const citations: RefusalCase[] = [
  {
    rule: "char_location: indexes from 0",
    good: cited({ type: "char_location", ...location, start_char_index: 0, end_char_index: 5 }),
    bad: cited({ type: "char_location", ...location, start_char_index: -1 }),
    path: at(".citations[0].start_char_index"),
    says: "an integer of at least 0",
  },
  {
    rule: "page_location: pages from 1",
    good: cited({ type: "page_location", ...location, start_page_number: 1, end_page_number: 2 }),
    bad: cited({ type: "page_location", ...location, start_page_number: 0 }),
    path: at(".citations[0].start_page_number"),
    says: "an integer of at least 1",
  },
  {
    rule: "content_block_location: blocks from 0",
    good: cited({ type: "content_block_location", ...location, start_block_index: 0, end_block_index: 1 }),
    bad: cited({ type: "content_block_location", ...location, end_block_index: "1" }),
    path: at(".citations[0].end_block_index"),
    says: "an integer",
  },
  {
    rule: "web_search_result_location",
    good: cited({
      type: "web_search_result_location",
      cited_text: "a",
      url: "https://a",
      title: null,
      encrypted_index: "x",
    }),
    bad: cited({ type: "web_search_result_location", cited_text: "a", url: 7 }),
    path: at(".citations[0].url"),
    says: "a string; it is 7",
  },
  {
    rule: "search_result_location",
    good: cited({ type: "search_result_location", cited_text: "a", source: null, title: null, search_result_index: 0 }),
    bad: cited({ type: "search_result_location", cited_text: "a", search_result_index: 0.5 }),
    path: at(".citations[0].search_result_index"),
    says: "an integer of at least 0",
  },
  {
    rule: "every citation carries cited_text",
    good: cited({ type: "char_location", cited_text: "" }),
    bad: cited({ type: "char_location", document_index: 0 }),
    path: at(".citations[0].cited_text"),
    says: "a string; it is missing",
  },
];

describe("contract 2.10: content blocks", () => testRefusals(checkMessagesRequest, sound, blocks));
describe("contract 2.10: citations", () => testRefusals(checkMessagesRequest, sound, citations));
