import { wire } from "../upstream-wire.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

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

const callStart = wire.event({
  type: "content_block_start",
  index: 0,
  content_block: { type: "tool_use", id: "t", name: "f", input: {} },
});

export const MESSAGES_STREAMS: readonly Attack[] = (
  [
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
    {
      name: "blocks of one index",
      part: () => block(0, { type: "text", text: "" }, { type: "text_delta", text: "a" }),
    },
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
      head: callStart,
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
      name: "ends of other members",
      part: (index: number) => wire.event({ type: "message_delta", delta: { [`k${index}`]: 1 } }),
    },
    {
      name: "usages of other members",
      part: (index: number) => wire.event({ type: "message_delta", delta: {}, usage: { [`k${index}`]: 1 } }),
    },
    {
      name: "hosted tools of other names",
      part: (index: number) =>
        (index < 4000 ? block(index, { type: "server_tool_use", id: `s${index}`, name: `n${index}`, input: {} }) : "") +
        wire.event({ type: "message_delta", delta: {}, usage: { output_tokens: index } }),
    },
    {
      name: "blocks behind an open one",
      head: wire.event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      part: (index: number) => block(index + 1, { type: "text", text: "" }, { type: "text_delta", text: "a" }),
      tail: wire.event({ type: "content_block_stop", index: 0 }),
    },
    {
      name: "deltas behind an open block",
      head: [0, 1]
        .map((index) => wire.event({ type: "content_block_start", index, content_block: { type: "text", text: "" } }))
        .join(""),
      part: () => delta(1, { type: "text_delta", text: "a" }),
      tail: wire.event({ type: "content_block_stop", index: 0 }),
    },
    {
      name: "usage again and again",
      part: () => wire.event({ type: "message_delta", delta: {}, usage: { output_tokens: 7 } }),
    },
    {
      name: "one call, a list in its arguments",
      head: callStart + delta(0, { type: "input_json_delta", partial_json: '{"a":[1' }),
      part: () => delta(0, { type: "input_json_delta", partial_json: ",1".repeat(200) }),
      tail: `${delta(0, { type: "input_json_delta", partial_json: "]}" })}${wire.event({ type: "content_block_stop", index: 0 })}`,
    },
    ...around(
      LONG_TEXTS,
      "",
      `${wire.event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })}event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`,
      '"}}\n\n',
    ),
    ...around(
      TINY_VALUES,
      "one event, ",
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"a":[',
      "]}}}\n\n",
    ),
  ] as Attack[]
).map((answer) => ({
  ...answer,
  head: wire.messageStart() + (answer.head ?? ""),
  tail: (answer.tail ?? "") + messagesEnd,
}));

const WHOLE =
  '{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2},"content":[';

export const MESSAGES_ANSWERS: readonly Attack[] = [
  { name: "whole: blocks", head: WHOLE, part: list(() => ({ type: "text", text: "a" })), tail: "]}" },
  {
    name: "whole: calls",
    head: WHOLE,
    part: list((index) => ({ type: "tool_use", id: `t${index}`, name: "f", input: {} })),
    tail: "]}",
  },
  ...around(TINY_VALUES, "whole: input of ", `${WHOLE}{"type":"tool_use","id":"t","name":"f","input":{"a":[`, "]}}]}"),
  ...around(LONG_TEXTS, "whole: ", `${WHOLE}{"type":"text","text":"`, '"}]}'),
];
