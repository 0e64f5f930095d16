import { describe } from "bun:test";
import { type RefusalCase, testRefusals } from "../../reading/refusal-table.ts";
import { checkChatRequest } from "./check-request.ts";

const sound = { model: "acme/one" };
const says = (message: unknown) => ({ messages: [message] });
const asks = (...parts: unknown[]) => says({ role: "user", content: parts });
const answers = (fields: object) => says({ role: "assistant", ...fields });
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };

const rows: RefusalCase[] = [
  {
    rule: "contract 2.12: the six roles",
    good: says({ role: "developer", content: "Be brief." }),
    bad: says({ role: "robot", content: "Beep." }),
    path: "messages[0].role",
    says: 'one of "user", "assistant", "tool", "system", "developer", "function"; it is "robot"',
  },
  {
    rule: "contract 2.12: role is required",
    good: says({ role: "user", content: "a", name: "Ada" }),
    bad: says({ content: "a" }),
    path: "messages[0].role",
    says: "it is missing",
  },
  {
    rule: "contract 2.12: system content is a string or text parts",
    good: says({ role: "system", content: [{ type: "text", text: "a" }] }),
    bad: says({ role: "system", content: [{ type: "image_url", image_url: { url: "https://a/b" } }] }),
    path: "messages[0].content[0].type",
    says: 'must be "text"; it is "image_url"',
  },
  {
    rule: "contract 2.12: user content is required",
    good: says({ role: "user", content: "" }),
    bad: says({ role: "user", content: null }),
    path: "messages[0].content",
    says: "a string, or an array; it is null",
  },
  {
    rule: "contract 2.12: a text part has text",
    good: asks({ type: "text", text: "a" }),
    bad: asks({ type: "text", content: "a" }),
    path: "messages[0].content[0].text",
    says: "a string; it is missing",
  },
  {
    rule: "contract 2.12: an image part has a url",
    good: asks({ type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } }),
    bad: asks({ type: "image_url", image_url: "https://a/b.png" }),
    path: "messages[0].content[0].image_url",
    says: "an object",
  },
  {
    rule: "contract 2.12: image detail",
    good: asks({ type: "image_url", image_url: { url: "https://a/b.png", detail: "auto" } }),
    bad: asks({ type: "image_url", image_url: { url: "https://a/b.png", detail: "tiny" } }),
    path: "messages[0].content[0].image_url.detail",
    says: 'one of "low", "high", "auto"',
  },
  {
    rule: "contract 2.12: an audio part has data and a format",
    good: asks({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }),
    bad: asks({ type: "input_audio", input_audio: { data: "AA==" } }),
    path: "messages[0].content[0].input_audio.format",
    says: "it is missing",
  },
  {
    rule: "contract 2.12: a file part",
    good: asks({ type: "file", file: { file_data: "AA==", filename: "a.pdf" } }),
    bad: asks({ type: "file", file: { file_id: 7 } }),
    path: "messages[0].content[0].file.file_id",
    says: "a string; it is 7",
  },
  {
    rule: "contract 2.12: a part of an unlisted kind",
    good: asks({ type: "text", text: "a" }),
    bad: asks({ type: "video_url", video_url: { url: "https://a/b.mp4" } }),
    path: "messages[0].content[0].type",
    says: 'one of "text", "image_url", "input_audio", "file"; it is "video_url"',
  },
  {
    rule: "contract 2.12: a listed part in the wrong place",
    good: asks({ type: "text", text: "a" }),
    bad: asks({ type: "refusal", refusal: "no" }),
    path: "messages[0].content[0].type",
    says: 'one of "text", "image_url", "input_audio", "file"',
  },
  {
    rule: "contract 2.12: assistant content is required without tool calls",
    good: answers({ content: null, tool_calls: [call] }),
    bad: answers({ content: null }),
    path: "messages[0].content",
    says: "has no tool_calls, function_call or reasoning; it is null",
  },
  {
    rule: "contract 2.12: reasoning can replace content",
    good: answers({ content: null, reasoning: "Hm.", reasoning_details: [] }),
    bad: answers({ content: null, reasoning: "", reasoning_details: [] }),
    path: "messages[0].content",
    says: "or reasoning; it is null",
  },
  {
    rule: "contract 2.12: images, audio and files are base64",
    good: asks(
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,AAA=" } },
    ),
    bad: asks({ type: "text", text: "a" }, { type: "image_url", image_url: { url: "data:image/png;base64,A*==" } }),
    path: "messages[0].content[1].image_url.url",
    says: 'must be base64; it has "*" at character 2',
  },
  {
    rule: "contract 2.12: an empty list of tool calls does not replace content",
    good: answers({ content: "", tool_calls: [] }),
    bad: answers({ tool_calls: [] }),
    path: "messages[0].content",
    says: "it is missing",
  },
  {
    rule: "contract 2.12: the deprecated function_call counts as content",
    good: answers({ content: null, function_call: { name: "f", arguments: "{}" } }),
    bad: answers({ content: null, function_call: { name: "f", arguments: {} } }),
    path: "messages[0].function_call.arguments",
    says: "a string; it is an object",
  },
  {
    rule: "contract 2.12: assistant parts are text or a refusal",
    good: answers({ content: [{ type: "refusal", refusal: "No." }], refusal: null }),
    bad: answers({ content: [{ type: "file", file: {} }] }),
    path: "messages[0].content[0].type",
    says: 'one of "text", "refusal"',
  },
  {
    rule: "contract 2.12: tool call arguments are a JSON string",
    good: answers({ tool_calls: [call] }),
    bad: answers({ tool_calls: [call, { ...call, function: { name: "weather", arguments: {} } }] }),
    path: "messages[0].tool_calls[1].function.arguments",
    says: "a string; it is an object",
  },
  {
    rule: "contract 2.12: custom tool calls",
    good: answers({ tool_calls: [{ id: "c", type: "custom", custom: { name: "shell", input: "ls" } }] }),
    bad: answers({ tool_calls: [{ id: "c", type: "custom", custom: { name: "shell" } }] }),
    path: "messages[0].tool_calls[0].custom.input",
    says: "a string; it is missing",
  },
  {
    rule: "contract 2.12: assistant audio",
    good: answers({ audio: { id: "audio_1" } }),
    bad: answers({ content: "a", audio: "audio_1" }),
    path: "messages[0].audio",
    says: "an object, or null",
  },
  {
    rule: "contract 2.12: reasoning_details",
    good: answers({
      content: "a",
      reasoning_details: [{ type: "reasoning.text", text: "b", signature: "c", index: 0 }],
    }),
    bad: answers({ content: "a", reasoning_details: [{ text: "b" }] }),
    path: "messages[0].reasoning_details[0].type",
    says: "a string; it is missing",
  },
  {
    rule: "contract 2.12: reasoning is a string",
    good: answers({ content: "a", reasoning: "b" }),
    bad: answers({ content: "a", reasoning: {} }),
    path: "messages[0].reasoning",
    says: "a string, or null",
  },
  {
    rule: "contract 2.12: a tool message has a tool_call_id",
    good: says({ role: "tool", tool_call_id: "call_1", content: "12 C" }),
    bad: says({ role: "tool", content: "12 C" }),
    path: "messages[0].tool_call_id",
    says: "a string; it is missing",
  },
  {
    rule: "contract 2.12: tool content is required",
    good: says({ role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "12 C" }] }),
    bad: says({ role: "tool", tool_call_id: "call_1" }),
    path: "messages[0].content",
    says: "a string, or an array; it is missing",
  },
  {
    rule: "choices 5: a function message has a name",
    good: says({ role: "function", name: "weather", content: "12 C" }),
    bad: says({ role: "function", content: "12 C" }),
    path: "messages[0].name",
    says: "a string; it is missing",
  },
];

describe("chat request messages", () => testRefusals(checkChatRequest, sound, rows));
