import { wire } from "../upstream-wire.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

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
const call = (index: number) => ({
  type: "function_call",
  id: `fc_${index}`,
  call_id: `call_${index}`,
  name: "f",
  arguments: "{}",
  status: "completed",
});
const argumentsDelta = (delta: string) =>
  responsesEvent("response.function_call_arguments.delta", { output_index: 0, item_id: "fc_0", delta });

export const RESPONSES_STREAMS: readonly Attack[] = [
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
    part: (index: number) =>
      responsesEvent("response.output_item.added", { output_index: index, item: { ...call(index), arguments: "" } }) +
      responsesEvent("response.output_item.done", { output_index: index, item: call(index) }),
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
  {
    name: "deltas of ids among open items",
    part: (index: number) =>
      index < 5000
        ? responsesEvent("response.output_item.added", { item: { ...message(index, ""), content: [] } })
        : responsesEvent("response.output_text.delta", { content_index: 0, item_id: "msg_4999", delta: "a" }),
  },
  { name: "unknown events", part: () => responsesEvent("response.x", {}) },
  { name: "in progress", part: () => responsesEvent("response.in_progress", { response: { id: "resp_1" } }) },
  {
    name: "one call, a list in its arguments",
    head:
      responsesEvent("response.output_item.added", { output_index: 0, item: { ...call(0), arguments: "" } }) +
      argumentsDelta('{"a":[1'),
    part: () => argumentsDelta(",1".repeat(200)),
    tail: argumentsDelta("]}") + responsesEnd,
  },
  ...around(
    LONG_TEXTS,
    "",
    `${responsesEvent("response.output_item.added", { output_index: 0, item: message(0, "") })}event: response.output_text.delta\ndata: {"type":"response.output_text.delta","output_index":0,"content_index":0,"item_id":"msg_0","delta":"`,
    `"}\n\n${responsesEnd}`,
  ),
  ...around(
    TINY_VALUES,
    "one event, ",
    'event: response.in_progress\ndata: {"type":"response.in_progress","response":{"id":"resp_1","x":[',
    `]}}\n\n${responsesEnd}`,
  ),
].map((answer) => ({ tail: responsesEnd, ...answer, head: responsesBegin + (answer.head ?? "") }));

const WHOLE =
  '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","usage":{"input_tokens":1,"output_tokens":9,"total_tokens":10},"output":[';

export const RESPONSES_ANSWERS: readonly Attack[] = [
  { name: "whole: items", head: WHOLE, part: list((index) => message(index, "a")), tail: "]}" },
  { name: "whole: calls", head: WHOLE, part: list(call), tail: "]}" },
  ...around(TINY_VALUES, "whole: ", WHOLE.replace('"output":[', '"x":['), '],"output":[]}'),
  ...around(
    LONG_TEXTS,
    "whole: ",
    `${WHOLE}{"type":"message","id":"msg_0","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"`,
    '"}]}]}',
  ),
  {
    name: "whole: a list in arguments",
    head: `${WHOLE}{"type":"function_call","id":"fc_0","call_id":"call_0","name":"f","status":"completed","arguments":"{\\"a\\":[1`,
    part: () => ",1",
    tail: ']}"}]}',
  },
];
