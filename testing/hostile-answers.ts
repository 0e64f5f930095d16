import type { DialectName } from "../src/canon/dialect-name.ts";
import { wire } from "./upstream-wire.ts";

/** An answer that no honest host gives, repeated until it has about so many bytes. */
export interface HostileAnswer {
  name: string;
  upstream: DialectName;
  stream: boolean;
  /** What comes before, the part that is repeated, and what comes after. */
  head?: string;
  part: (index: number) => string;
  tail?: string;
}

const usage = { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 };
const chatEnd = wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done;
const said = wire.chatChunk({ role: "assistant", content: "hello" });
const chunk = (delta: object) => wire.chatChunk(delta);
const call = (index: number, more: object = {}) => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: { name: `f${index % 7}`, arguments: "{}" },
  ...more,
});
const list = (part: (index: number) => unknown) => (index: number) =>
  `${index === 0 ? "" : ","}${JSON.stringify(part(index))}`;
/** One event of a chat stream with a list of these in its delta. */
const oneEvent = (member: string) => ({
  head: `${said}data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"${member}":[`,
  tail: `]}}]}\n\n${chatEnd}`,
});
const whole = (message: string) => ({
  head: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",${message}`,
});
const wholeTail = `]}}],"usage":${JSON.stringify(usage)}}`;
const logprob = (index: number) => ({
  token: `t${index}`,
  logprob: -0.5,
  bytes: [1, 2, 3],
  top_logprobs: Array.from({ length: 5 }, () => ({ token: "a", logprob: -1, bytes: [97] })),
});
const annotation = (index: number) => ({
  type: "url_citation",
  url_citation: { url: `https://a.test/${index}`, title: "a", start_index: 0, end_index: 1 },
});

const chatStreams: Omit<HostileAnswer, "upstream" | "stream">[] = [
  { name: "newlines", head: said, part: () => "\n".repeat(1024), tail: `\n${chatEnd}` },
  { name: "carriage returns", head: said, part: () => "\r".repeat(1024), tail: `\n${chatEnd}` },
  { name: "comments", head: said, part: () => ":\n\n", tail: chatEnd },
  { name: "comment lines", head: said, part: () => ":\n", tail: `\n${chatEnd}` },
  { name: "data lines", head: said, part: () => "data:\n", tail: `\n${chatEnd}` },
  { name: "events without data", head: said, part: () => "data:\n\n", tail: chatEnd },
  { name: "names of events", head: said, part: () => "event: x\n\n", tail: chatEnd },
  { name: "small deltas", part: () => chunk({ content: "a" }), tail: chatEnd },
  { name: "odd deltas", part: (index: number) => chunk({ content: "a", [`k${index % 97}`]: 1 }), tail: chatEnd },
  { name: "calls", part: (index: number) => chunk({ tool_calls: [call(index)] }), tail: chatEnd },
  {
    name: "calls without ids",
    part: (index: number) => chunk({ tool_calls: [call(index, { id: undefined })] }),
    tail: chatEnd,
  },
  {
    name: "calls with one id",
    part: (index: number) => chunk({ tool_calls: [call(index, { id: "call_1" })] }),
    tail: chatEnd,
  },
  {
    name: "calls under one index",
    part: (index: number) => chunk({ tool_calls: [call(index, { index: 0 })] }),
    tail: chatEnd,
  },
  {
    name: "interleaved calls",
    part: (index: number) =>
      chunk({
        tool_calls: [call(index % 2000, { function: { name: "f", arguments: index < 2000 ? '{"a":"' : "x" } })],
      }),
    tail: chatEnd,
  },
  {
    name: "one call, name repeated",
    part: (index: number) =>
      chunk({
        tool_calls: [{ index: 0, function: { name: "f", arguments: index === 0 ? '{"a":"' : "x".repeat(400) } }],
      }),
    tail: chatEnd,
  },
  {
    name: "one call, id and name repeated elsewhere",
    part: (index: number) =>
      chunk({
        tool_calls: [
          { index, id: "call_1", function: { name: "f", arguments: index === 0 ? '{"a":"' : "x".repeat(400) } },
        ],
      }),
    tail: chatEnd,
  },
  {
    name: "one call, small arguments",
    part: (index: number) =>
      chunk({ tool_calls: [{ index: 0, ...(index === 0 ? call(0) : {}), function: { arguments: " " } }] }),
    tail: chatEnd,
  },
  { name: "calls in one event", ...oneEvent("tool_calls"), part: list((index) => call(index)) },
  {
    name: "images in one event",
    ...oneEvent("images"),
    part: list(() => ({ image_url: { url: "data:image/png;base64,AAAA" } })),
  },
  { name: "annotations in one event", ...oneEvent("annotations"), part: list(annotation) },
  {
    name: "annotations",
    head: said,
    part: (index: number) => chunk({ annotations: [annotation(index)] }),
    tail: chatEnd,
  },
  { name: "parts in one event", ...oneEvent("content"), part: list(() => ({ type: "text", text: "a" })) },
  {
    name: "thoughts in parts",
    part: () => chunk({ reasoning_details: [{ type: "reasoning.text", text: "a", signature: "s" }] }),
    tail: said + chatEnd,
  },
  {
    name: "thoughts in one event",
    ...oneEvent("reasoning_details"),
    part: list((index) => ({ type: "reasoning.text", text: "a", signature: "s", index })),
  },
  {
    name: "thoughts and texts in turn",
    part: (index: number) => chunk(index % 2 === 0 ? { content: "a" } : { reasoning_content: "b" }),
    tail: chatEnd,
  },
  {
    name: "choices in one event",
    head: `${said}data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[`,
    part: list((index) => ({ index, delta: { content: "a" } })),
    tail: `]}\n\n${chatEnd}`,
  },
  {
    name: "choices with calls in one event",
    head: `${said}data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[`,
    part: list((index) => ({ index, delta: { tool_calls: [call(index, { index: 0 })] } })),
    tail: `]}\n\n${chatEnd}`,
  },
  {
    name: "logprobs",
    head: said,
    part: (index: number) =>
      wire.chatChunk({ content: "a" }, null, {
        choices: [{ index: 0, delta: { content: "a" }, logprobs: { content: [logprob(index)] } }],
      }),
    tail: chatEnd,
  },
  { name: "deep nesting in one event", ...oneEvent("x"), part: () => "[" },
  { name: "tiny values in one event", ...oneEvent("x"), part: list(() => 1) },
  { name: "tiny objects in one event", ...oneEvent("x"), part: list(() => ({ a: 1 })) },
  {
    name: "one long text",
    head: `${said}data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"`,
    part: () => "word\\n".repeat(100),
    tail: `"}}]}\n\n${chatEnd}`,
  },
  { name: "usage again and again", head: said, part: () => wire.chatUsage(usage), tail: chatEnd },
  {
    name: "finish reasons",
    head: chunk({ tool_calls: [call(0)] }),
    part: () => wire.chatChunk({}, "stop"),
    tail: chatEnd,
  },
];

const chatAnswers: Omit<HostileAnswer, "upstream" | "stream">[] = [
  {
    name: "whole: calls",
    ...whole('"content":"a","tool_calls":['),
    part: list((index) => call(index)),
    tail: wholeTail,
  },
  {
    name: "whole: calls with one id",
    ...whole('"content":"a","tool_calls":['),
    part: list((index) => call(index, { id: "x" })),
    tail: wholeTail,
  },
  { name: "whole: annotations", ...whole('"content":"a","annotations":['), part: list(annotation), tail: wholeTail },
  { name: "whole: parts", ...whole('"content":['), part: list(() => ({ type: "text", text: "a" })), tail: wholeTail },
  {
    name: "whole: thoughts",
    ...whole('"content":"a","reasoning_details":['),
    part: list((index) => ({ type: "reasoning.text", text: "a", index })),
    tail: wholeTail,
  },
  { name: "whole: tiny values", ...whole('"content":"a","x":['), part: list(() => 1), tail: wholeTail },
  { name: "whole: tiny objects", ...whole('"content":"a","x":['), part: list(() => ({})), tail: wholeTail },
  {
    name: "whole: long text",
    ...whole('"x":[1],"content":"'),
    part: () => "word\\n".repeat(100),
    tail: `"}}],"usage":${JSON.stringify(usage)}}`,
  },
  {
    name: "whole: logprobs",
    head: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"a"},"logprobs":{"content":[`,
    part: list(logprob),
    tail: wholeTail,
  },
  {
    name: "whole: choices",
    head: `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[`,
    part: list((index) => ({ index, finish_reason: "stop", message: { role: "assistant", content: "a" } })),
    tail: `],"usage":${JSON.stringify(usage)}}`,
  },
];

const block = (index: number, content_block: object, delta?: object) =>
  wire.event({ type: "content_block_start", index, content_block }) +
  (delta === undefined ? "" : wire.event({ type: "content_block_delta", index, delta })) +
  wire.event({ type: "content_block_stop", index });
const messagesEnd =
  wire.event({
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 7 },
  }) + wire.event({ type: "message_stop" });
const delta = (index: number, delta: object) => wire.event({ type: "content_block_delta", index, delta });

const messagesStreams: Omit<HostileAnswer, "upstream" | "stream">[] = [
  {
    name: "blocks",
    part: (index: number) => block(index, { type: "text", text: "" }, { type: "text_delta", text: "a" }),
  },
  { name: "empty blocks", part: (index: number) => block(index, { type: "text", text: "" }) },
  {
    name: "open blocks",
    part: (index: number) =>
      wire.event({ type: "content_block_start", index, content_block: { type: "text", text: "a" } }),
  },
  { name: "blocks of one index", part: () => block(0, { type: "text", text: "" }, { type: "text_delta", text: "a" }) },
  {
    name: "calls",
    part: (index: number) =>
      block(
        index,
        { type: "tool_use", id: `t${index}`, name: "f", input: {} },
        { type: "input_json_delta", partial_json: "{}" },
      ),
  },
  {
    name: "arguments",
    head: wire.event({
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "t", name: "f", input: {} },
    }),
    part: () => delta(0, { type: "input_json_delta", partial_json: " " }),
  },
  {
    name: "thoughts",
    part: (index: number) =>
      block(index, { type: "thinking", thinking: "" }, { type: "signature_delta", signature: "s" }),
  },
  { name: "pings", part: () => wire.event({ type: "ping" }) },
  {
    name: "citations",
    head: wire.event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    part: (index: number) =>
      delta(0, {
        type: "citations_delta",
        citation: {
          type: "web_search_result_location",
          url: `https://a.test/${index}`,
          title: "t",
          cited_text: "c",
          encrypted_index: "e",
        },
      }),
  },
  {
    name: "searches",
    part: (index: number) =>
      block(index, {
        type: "web_search_tool_result",
        tool_use_id: "x",
        content: [{ type: "web_search_result", url: `https://a.test/${index}`, title: "t", encrypted_content: "e" }],
      }),
  },
  {
    name: "usage again and again",
    part: () => wire.event({ type: "message_delta", delta: {}, usage: { output_tokens: 7 } }),
  },
].map((answer) => ({ ...answer, head: wire.messageStart() + (answer.head ?? ""), tail: messagesEnd }));

const genaiEvent = (parts: unknown[]) =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0 }] })}\r\n\r\n`;
const genaiEnd = wire.genaiChunk("end", "STOP");
const genaiStreams: Omit<HostileAnswer, "upstream" | "stream">[] = [
  { name: "small parts", part: () => genaiEvent([{ text: "a" }]) },
  { name: "texts and thoughts", part: (index: number) => genaiEvent([{ text: "a", thought: index % 2 === 0 }]) },
  { name: "calls", part: () => genaiEvent([{ functionCall: { name: "f", args: {} } }]) },
  {
    name: "partial calls",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: `$.a${index}`, stringValue: "x" }],
            willContinue: true,
          },
        },
      ]),
  },
  {
    name: "partial array",
    part: (index: number) =>
      genaiEvent([
        {
          functionCall: {
            ...(index === 0 ? { name: "f" } : {}),
            partialArgs: [{ jsonPath: `$.a[${index}]`, stringValue: "x" }],
            willContinue: true,
          },
        },
      ]),
  },
  { name: "images", part: () => genaiEvent([{ inlineData: { mimeType: "image/png", data: "AAAA" } }]) },
  { name: "newlines", part: () => "\r\n\r\n" },
  {
    name: "parts in one event",
    head: 'data: {"candidates":[{"index":0,"content":{"role":"model","parts":[',
    part: list(() => ({ text: "a" })),
    tail: `]}}]}\r\n\r\n${genaiEnd}`,
  },
  {
    name: "candidates in one event",
    head: 'data: {"candidates":[',
    part: list((index) => ({ index, content: { role: "model", parts: [{ text: "a" }] } })),
    tail: `]}\r\n\r\n${genaiEnd}`,
  },
  {
    name: "grounding",
    part: (index: number) =>
      `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: "a" }] }, index: 0, groundingMetadata: { webSearchQueries: ["q"], groundingChunks: [{ web: { uri: `https://a.test/${index}`, title: "t" } }], groundingSupports: [{ segment: { startIndex: 0, endIndex: 1, text: "a" }, groundingChunkIndices: [0] }] } }] })}\r\n\r\n`,
  },
].map((answer) => ({ tail: genaiEnd, ...answer }));

const responsesEvent = (type: string, more: object) => wire.event({ type, ...more });
const responsesBegin = responsesEvent("response.created", {
  sequence_number: 0,
  response: { id: "resp_1", object: "response", created_at: 1, status: "in_progress", model: "m", output: [] },
});
const responsesEnd = responsesEvent("response.completed", {
  sequence_number: 9,
  response: {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [],
    usage: { input_tokens: 1, output_tokens: 9, total_tokens: 10 },
  },
});
const message = (index: number, text: string) => ({
  type: "message",
  id: `msg_${index}`,
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const responsesStreams: Omit<HostileAnswer, "upstream" | "stream">[] = [
  {
    name: "messages",
    part: (index: number) =>
      responsesEvent("response.output_item.added", { output_index: index, item: message(index, "") }) +
      responsesEvent("response.output_text.delta", {
        output_index: index,
        content_index: 0,
        item_id: `msg_${index}`,
        delta: "a",
      }) +
      responsesEvent("response.output_item.done", { output_index: index, item: message(index, "a") }),
  },
  {
    name: "calls",
    part: (index: number) => {
      const item = {
        type: "function_call",
        id: `fc_${index}`,
        call_id: `call_${index}`,
        name: "f",
        arguments: "{}",
        status: "completed",
      };
      return (
        responsesEvent("response.output_item.added", { output_index: index, item: { ...item, arguments: "" } }) +
        responsesEvent("response.output_item.done", { output_index: index, item })
      );
    },
  },
  {
    name: "open items",
    part: (index: number) =>
      responsesEvent("response.output_item.added", { output_index: index, item: message(index, "") }),
  },
  {
    name: "annotations",
    head: responsesEvent("response.output_item.added", { output_index: 0, item: message(0, "") }),
    part: (index: number) =>
      responsesEvent("response.output_text.annotation.added", {
        output_index: 0,
        content_index: 0,
        annotation_index: index,
        item_id: "msg_0",
        annotation: { type: "url_citation", url: `https://a.test/${index}`, title: "t", start_index: 0, end_index: 1 },
      }),
  },
  {
    name: "content parts",
    head: responsesEvent("response.output_item.added", { output_index: 0, item: message(0, "") }),
    part: (index: number) =>
      responsesEvent("response.content_part.added", {
        output_index: 0,
        content_index: index,
        item_id: "msg_0",
        part: { type: "output_text", text: "", annotations: [] },
      }) +
      responsesEvent("response.output_text.delta", {
        output_index: 0,
        content_index: index,
        item_id: "msg_0",
        delta: "a",
      }),
  },
  {
    name: "summaries",
    head: responsesEvent("response.output_item.added", {
      output_index: 0,
      item: { type: "reasoning", id: "rs_0", summary: [] },
    }),
    part: (index: number) =>
      responsesEvent("response.reasoning_summary_text.delta", {
        output_index: 0,
        summary_index: index,
        item_id: "rs_0",
        delta: "a",
      }),
  },
  {
    name: "items in the last event",
    head: `event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","usage":{"input_tokens":1,"output_tokens":9,"total_tokens":10},"output":[`,
    part: list((index) => message(index, "a")),
    tail: "]}}\n\n",
  },
  { name: "unknown events", part: () => responsesEvent("response.x", {}) },
  { name: "in progress", part: () => responsesEvent("response.in_progress", { response: { id: "resp_1" } }) },
].map((answer) => ({ tail: responsesEnd, ...answer, head: responsesBegin + (answer.head ?? "") }));

const wholeOf = (upstream: DialectName): Omit<HostileAnswer, "upstream" | "stream">[] => {
  if (upstream === "messages")
    return [
      {
        name: "whole: blocks",
        head: '{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2},"content":[',
        part: list(() => ({ type: "text", text: "a" })),
        tail: "]}",
      },
      {
        name: "whole: calls",
        head: '{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2},"content":[',
        part: list((index) => ({ type: "tool_use", id: `t${index}`, name: "f", input: {} })),
        tail: "]}",
      },
    ];
  if (upstream === "genai")
    return [
      {
        name: "whole: parts",
        head: '{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[',
        part: list((index) => ({ text: "a", thought: index % 2 === 0 })),
        tail: "]}}]}",
      },
      {
        name: "whole: calls",
        head: '{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[',
        part: list(() => ({ functionCall: { name: "f", args: {} } })),
        tail: "]}}]}",
      },
    ];
  if (upstream === "responses")
    return [
      {
        name: "whole: items",
        head: '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","usage":{"input_tokens":1,"output_tokens":9,"total_tokens":10},"output":[',
        part: list((index) => message(index, "a")),
        tail: "]}",
      },
      {
        name: "whole: calls",
        head: '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","usage":{"input_tokens":1,"output_tokens":9,"total_tokens":10},"output":[',
        part: list((index) => ({
          type: "function_call",
          id: `fc_${index}`,
          call_id: `call_${index}`,
          name: "f",
          arguments: "{}",
          status: "completed",
        })),
        tail: "]}",
      },
    ];
  return chatAnswers;
};

const STREAMS = { chat: chatStreams, messages: messagesStreams, genai: genaiStreams, responses: responsesStreams };

export const HOSTILE_ANSWERS: readonly HostileAnswer[] = (["chat", "messages", "genai", "responses"] as const).flatMap(
  (upstream) => [
    ...STREAMS[upstream].map((answer) => ({ ...answer, upstream, stream: true })),
    ...wholeOf(upstream).map((answer) => ({ ...answer, upstream, stream: false })),
  ],
);

/** The text of an answer of at least so many bytes. */
export function hostileText({ head = "", part, tail = "" }: HostileAnswer, bytes: number): string {
  const parts = [head];
  for (let index = 0, length = head.length + tail.length; length < bytes; index++) {
    const next = part(index);
    parts.push(next);
    length += next.length;
  }
  parts.push(tail);
  return parts.join("");
}
