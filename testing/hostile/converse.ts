import { eventFrame } from "../../simulator/hosts/bedrock/text/framing.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

/** A character for each byte. */
const frame = (type: string, body: object) => eventFrame(type, JSON.stringify(body));
const delta = (contentBlockIndex: number, delta: object) => frame("contentBlockDelta", { contentBlockIndex, delta });
const stop = (contentBlockIndex: number) => frame("contentBlockStop", { contentBlockIndex });
const callStart = (contentBlockIndex: number) =>
  frame("contentBlockStart", {
    contentBlockIndex,
    start: { toolUse: { toolUseId: `t${contentBlockIndex}`, name: "f" } },
  });
const begin = frame("messageStart", { role: "assistant" });
const end =
  frame("messageStop", { stopReason: "end_turn" }) +
  frame("metadata", { usage: { inputTokens: 1, outputTokens: 9, totalTokens: 10 } });
const oneFrame = (type: string) => (text: string) => begin + eventFrame(type, text) + end;

export const CONVERSE_STREAMS: readonly Attack[] = [
  ...(
    [
      { name: "small deltas", part: () => delta(0, { text: "a" }) },
      { name: "odd deltas", part: (index) => delta(0, { text: "a", [`k${index % 97}`]: 1 }) },
      { name: "empty frames", part: () => eventFrame("x", "") },
      { name: "blocks", part: (index) => delta(index, { text: "a" }) + stop(index) },
      { name: "open blocks", part: (index) => delta(index, { text: "a" }) },
      { name: "calls", part: (index) => callStart(index) + delta(index, { toolUse: { input: "{}" } }) + stop(index) },
      {
        name: "one call, a list in its arguments",
        head: callStart(0) + delta(0, { toolUse: { input: '{"a":[1' } }),
        part: () => delta(0, { toolUse: { input: ",1".repeat(200) } }),
        tail: delta(0, { toolUse: { input: "]}" } }) + stop(0),
      },
      { name: "thoughts", part: (index) => delta(index, { reasoningContent: { text: "a" } }) + stop(index) },
      { name: "signatures", part: () => delta(0, { reasoningContent: { signature: "a" } }) },
      { name: "redacted thoughts", part: () => delta(0, { reasoningContent: { redactedContent: "AAAA" } }) },
      {
        name: "citations",
        part: (index) => delta(0, { citation: { title: "t", location: { web: { url: `https://a.test/${index}` } } } }),
      },
      { name: "usage again and again", part: () => frame("metadata", { usage: { inputTokens: 1, outputTokens: 9 } }) },
    ] satisfies Attack[]
  ).map(({ head = "", part, tail = "", name }: Attack) => ({ name, head: begin + head, part, tail: tail + end })),
  ...around(LONG_TEXTS.slice(0, 2), "", '{"contentBlockIndex":0,"delta":{"text":"', '"}}').map((attack) => ({
    ...attack,
    wrap: oneFrame("contentBlockDelta"),
  })),
  ...around(TINY_VALUES, "one event, ", '{"contentBlockIndex":0,"delta":{"text":"a"},"x":[', "]}").map((attack) => ({
    ...attack,
    wrap: oneFrame("contentBlockDelta"),
  })),
  {
    name: "line ends in one event",
    head: '{"contentBlockIndex":0,"delta":{"text":"a"}',
    part: () => "\n".repeat(1000),
    tail: "}",
    wrap: oneFrame("contentBlockDelta"),
  },
];

const WHOLE =
  '{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":9,"totalTokens":10},"output":{"message":{"role":"assistant","content":[';

export const CONVERSE_ANSWERS: readonly Attack[] = [
  { name: "whole: blocks", head: WHOLE, part: list(() => ({ text: "a" })), tail: "]}}}" },
  {
    name: "whole: calls",
    head: WHOLE,
    part: list((index) => ({ toolUse: { toolUseId: `t${index}`, name: "f", input: {} } })),
    tail: "]}}}",
  },
  ...around(
    TINY_VALUES,
    "whole: input of ",
    `${WHOLE}{"toolUse":{"toolUseId":"t","name":"f","input":{"a":[`,
    "]}}}]}}}",
  ),
  ...around(LONG_TEXTS, "whole: ", `${WHOLE}{"text":"`, '"}]}}}'),
];

/** Events of another protocol, each in the base64 of a frame. */
const chunk = (event: object) =>
  eventFrame("chunk", JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64") }));
const framedEnd =
  chunk({ type: "content_block_stop", index: 0 }) +
  chunk({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } }) +
  chunk({ type: "message_stop" });
const framedBegin =
  chunk({
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 1 } },
  }) + chunk({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });

export const FRAMED_STREAMS: readonly Attack[] = [
  {
    name: "small deltas",
    head: framedBegin,
    part: () => chunk({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } }),
    tail: framedEnd,
  },
  ...[
    ...around(LONG_TEXTS, "", '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"', '"}}'),
    ...around(
      TINY_VALUES,
      "one event, ",
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"x":[',
      "]}",
    ),
  ].map((attack) => ({
    ...attack,
    wrap: (text: string) =>
      framedBegin +
      eventFrame("chunk", JSON.stringify({ bytes: Buffer.from(text, "latin1").toString("base64") })) +
      framedEnd,
  })),
];
