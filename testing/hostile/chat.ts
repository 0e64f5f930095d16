import { wire } from "../upstream-wire.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

const usage = { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 };
const chatEnd = wire.chatChunk({}, "stop") + wire.chatUsage(usage) + wire.done;
const said = wire.chatChunk({ role: "assistant", content: "hello" });
const chunk = (delta: object) => wire.chatChunk(delta);
const argumentsChunk = (index: number, text: string) =>
  chunk({
    tool_calls: [
      {
        index: 0,
        ...(index === 0 ? { id: "call_0", type: "function" } : {}),
        function: { ...(index === 0 ? { name: "f" } : {}), arguments: text },
      },
    ],
  });
const call = (index: number, more: object = {}) => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: { name: `f${index % 7}`, arguments: "{}" },
  ...more,
});
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
const annotation = (index: number, start_index = 0) => ({
  type: "url_citation",
  url_citation: { url: `https://a.test/${index}`, title: "a", start_index, end_index: start_index + 1 },
});

export const CHAT_STREAMS: readonly Attack[] = [
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
  { name: "annotations in one event", ...oneEvent("annotations"), part: list((index) => annotation(index)) },
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
  ...around(TINY_VALUES, "one event, ", oneEvent("x").head, oneEvent("x").tail),
  ...around(
    LONG_TEXTS,
    "",
    `${said}data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"`,
    `"}}]}\n\n${chatEnd}`,
  ),
  {
    name: "one call, a list in its arguments",
    part: (index: number) => argumentsChunk(index, index === 0 ? '{"a":[1' : ",1".repeat(200)),
    tail: argumentsChunk(1, "]}") + chatEnd,
  },
  {
    name: "one call, a list of lists in its arguments",
    part: (index: number) => argumentsChunk(index, index === 0 ? '{"a":[1' : ",[]".repeat(150)),
    tail: argumentsChunk(1, "]}") + chatEnd,
  },
  {
    name: "one call, names in its arguments",
    part: (index: number) =>
      argumentsChunk(
        index,
        index === 0 ? '{"a":1' : Array.from({ length: 40 }, (_, n) => `,"${index}_${n}":1`).join(""),
      ),
    tail: argumentsChunk(1, "}") + chatEnd,
  },
  {
    name: "a call that never ends, texts and thoughts in turn",
    part: (index: number) =>
      argumentsChunk(index, index === 0 ? '{"a":"' : "x}".repeat(250)) +
      chunk({ content: "a" }) +
      chunk({ reasoning_content: "b" }),
    tail: chatEnd,
  },
  {
    name: "citations of later texts, texts and thoughts in turn",
    part: (index: number) =>
      chunk({ content: "a", annotations: [annotation(index, 1e9)] }) + chunk({ reasoning_content: "b" }),
    tail: chatEnd,
  },
  {
    name: "sealed thoughts of a later call",
    part: (index: number) =>
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", id: "call_8", data: `s${index}` }] }),
    tail: chunk({ tool_calls: Array.from({ length: 9 }, (_, index) => call(index)) }) + chatEnd,
  },
  { name: "usage again and again", head: said, part: () => wire.chatUsage(usage), tail: chatEnd },
  {
    name: "finish reasons",
    head: chunk({ tool_calls: [call(0)] }),
    part: () => wire.chatChunk({}, "stop"),
    tail: chatEnd,
  },
];

export const CHAT_ANSWERS: readonly Attack[] = [
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
  {
    name: "whole: annotations",
    ...whole('"content":"a","annotations":['),
    part: list((index) => annotation(index)),
    tail: wholeTail,
  },
  { name: "whole: parts", ...whole('"content":['), part: list(() => ({ type: "text", text: "a" })), tail: wholeTail },
  {
    name: "whole: thoughts",
    ...whole('"content":"a","reasoning_details":['),
    part: list((index) => ({ type: "reasoning.text", text: "a", index })),
    tail: wholeTail,
  },
  ...around(TINY_VALUES, "whole: ", whole('"content":"a","x":[').head, wholeTail),
  ...around(LONG_TEXTS, "whole: ", whole('"x":[1],"content":"').head, `"}}],"usage":${JSON.stringify(usage)}}`),
  {
    name: "whole: a list in arguments",
    ...whole(
      '"content":"a","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\\"a\\":[1',
    ),
    part: () => ",1",
    tail: `]}"}}${wholeTail}`,
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
