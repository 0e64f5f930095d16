import { interactionsEvent, interactionsUsage, interactionsWire as wire } from "../wires/interactions-wire.ts";
import { type Attack, around, LONG_TEXTS, list, TINY_VALUES } from "./attack.ts";

const end = wire.completed({ usage: interactionsUsage(1, 9) });
const call = (index: number) => ({ type: "function_call", id: `call_${index}`, name: "f", arguments: {} });
const annotation = (index: number) => ({
  type: "url_citation",
  url: `https://a.test/${index}`,
  start_index: 0,
  end_index: 1,
});

export const INTERACTIONS_STREAMS: readonly Attack[] = [
  { name: "outputs", part: (index: number) => wire.text(index, "a") },
  { name: "calls", part: (index: number) => wire.start(index, call(index)) + wire.stop(index) },
  { name: "open steps", part: (index: number) => wire.start(index, { type: "model_output" }) },
  { name: "open hosted steps", part: (index: number) => wire.start(index, { type: "code_execution_call", id: "x" }) },
  {
    name: "annotations",
    head: wire.start(0, { type: "model_output" }) + wire.delta(0, { type: "text", text: "a" }),
    part: (index: number) => wire.delta(0, { type: "text_annotation_delta", annotations: [annotation(index)] }),
  },
  {
    name: "images",
    head: wire.start(0, { type: "model_output" }),
    part: () => wire.delta(0, { type: "image", mime_type: "image/png", data: "AAAA" }),
  },
  {
    name: "summaries",
    head: wire.start(0, { type: "thought" }),
    part: () => wire.delta(0, { type: "thought_summary", content: { type: "text", text: "a" } }),
  },
  {
    name: "one call, a list in its arguments",
    head: wire.start(0, call(0)) + wire.delta(0, { type: "arguments_delta", arguments: '{"a":[1' }),
    part: () => wire.delta(0, { type: "arguments_delta", arguments: ",1".repeat(200) }),
    tail: wire.delta(0, { type: "arguments_delta", arguments: "]}" }) + wire.stop(0) + end,
  },
  { name: "unknown events", part: () => interactionsEvent("interaction.x") },
  { name: "status updates", part: () => interactionsEvent("interaction.status_update", { interaction_id: "" }) },
  ...around(
    LONG_TEXTS,
    "",
    `${wire.start(0, { type: "model_output" })}event: step.delta\ndata: {"event_type":"step.delta","index":0,"delta":{"type":"text","text":"`,
    `"}}\n\n${wire.stop(0)}${end}`,
  ),
  ...around(
    TINY_VALUES,
    "one event, ",
    'event: interaction.status_update\ndata: {"event_type":"interaction.status_update","interaction_id":"","x":[',
    `]}\n\n${end}`,
  ),
].map((answer) => ({ tail: end, ...answer, head: wire.begin() + (answer.head ?? "") }));

const WHOLE = `{"id":"","object":"interaction","model":"m","status":"completed","usage":${JSON.stringify(interactionsUsage(1, 9))},"steps":[`;

export const INTERACTIONS_ANSWERS: readonly Attack[] = [
  {
    name: "whole: outputs",
    head: WHOLE,
    part: list(() => ({ type: "model_output", content: [{ type: "text", text: "a" }] })),
    tail: "]}",
  },
  { name: "whole: calls", head: WHOLE, part: list(call), tail: "]}" },
  ...around(TINY_VALUES, "whole: ", WHOLE.replace('"steps":[', '"x":['), '],"steps":[]}'),
  ...around(LONG_TEXTS, "whole: ", `${WHOLE}{"type":"model_output","content":[{"type":"text","text":"`, '"}]}]}'),
];
