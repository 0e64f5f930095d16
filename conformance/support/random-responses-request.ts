import { sealThought } from "../../simulator/hosts/openai/responses/read-input.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { wrapOpaque } from "../../src/canon/opaque.ts";
import {
  type Call,
  chosen,
  FORMATS,
  type Media,
  maybe,
  nameOfCall,
  opaqueOf,
  PDF,
  PNG,
  type RequestSpec,
  resultsOf,
  SEED,
  type Step,
} from "./random-spec.ts";

/** A random request in the words of Responses, with the items that only this dialect has. */

/** Items that few clients send, which may be between any two others. */
const ODD_ITEMS: readonly JsonObject[] = [
  { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x", sources: [] } },
  { type: "image_generation_call", id: "ig_1", status: "completed", result: PNG },
  { type: "reasoning", id: "rs_empty", summary: [], encrypted_content: null },
  { type: "compaction", id: "cmp_1", encrypted_content: "sealed" },
  { type: "hologram", id: "hg_1" },
];

const ODD_PARTS: readonly JsonObject[] = [
  { type: "input_file", file_id: "file-1" },
  { type: "input_image", file_id: "file-1", detail: "low" },
  { type: "hologram", hologram: 1 },
];

const ODD_SAID: readonly JsonObject[] = [
  { type: "refusal", refusal: "No." },
  {
    type: "output_text",
    text: "Cited.",
    annotations: [
      { type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 5 },
      { type: "file_citation", file_id: "file-1", filename: "a.txt", index: 2 },
    ],
  },
];

const pick = (list: readonly JsonObject[], at: number | undefined): JsonObject[] =>
  at === undefined ? [] : list.slice(at % list.length, (at % list.length) + 1);

function mediaPart(kind: Media): JsonObject {
  if (kind === "image") return { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "low" };
  if (kind === "image-url") return { type: "input_image", image_url: "https://images.example/a.png" };
  if (kind === "pdf")
    return { type: "input_file", filename: "paper 1.pdf", file_data: `data:application/pdf;base64,${PDF}` };
  return { type: "input_file", filename: "a_b.txt", file_data: `data:text/plain;base64,${btoa("words")}` };
}

const given = ({ texts }: Step): JsonObject[] => texts.map(({ text }) => ({ type: "input_text", text }));
const said = ({ texts }: Step): JsonObject[] =>
  texts.map(({ text }) => ({ type: "output_text", text, annotations: [] }));

/** Half of the thoughts are this dialect's own, bound to the id of their item. */
function thoughtItems({ thought, reversed }: Step, at: number): JsonObject[] {
  if (thought === undefined) return [];
  const id = `rs_${at}`;
  const opaque = opaqueOf(thought);
  const sealed = reversed ? sealThought(id, thought.text, SEED) : opaque && wrapOpaque(opaque);
  const summary = [{ type: "summary_text", text: thought.text }];
  return [{ type: "reasoning", id, summary, ...maybe("encrypted_content", sealed) }];
}

const isFreeText = ({ tool }: Call): boolean => tool === FREE_TEXT;

function callItem(spec: RequestSpec, each: Call): JsonObject {
  const name = nameOfCall(spec, each);
  if (isFreeText(each)) return { type: "custom_tool_call", call_id: each.id, name, input: each.input };
  return { type: "function_call", call_id: each.id, name, arguments: each.input };
}

function outputItem(each: Call): JsonObject {
  const { text, media } = each.result;
  const output = media === undefined ? text : [{ type: "input_text", text }, mediaPart(media)];
  return { type: isFreeText(each) ? "custom_tool_call_output" : "function_call_output", call_id: each.id, output };
}

/** Calls of this number, and the duplicated tool, take free text instead of an object. */
const FREE_TEXT = 6;

function itemsOf(spec: RequestSpec, one: Step, at: number): JsonObject[] {
  switch (one.kind) {
    case "system":
      return [{ role: one.reversed ? "developer" : "system", content: one.texts.map(({ text }) => text).join("") }];
    case "user": {
      const content = [...given(one), ...one.media.map(mediaPart), ...pick(ODD_PARTS, one.odd)];
      return [{ type: "message", role: "user", content }];
    }
    case "assistant": {
      const content = [...said(one), ...pick(ODD_SAID, one.odd)];
      const message = { type: "message", role: "assistant", id: `msg_${at}`, status: "completed", content };
      return [...thoughtItems(one, at), message, ...pick(ODD_ITEMS, one.odd)];
    }
    case "calls": {
      const calls = one.calls.map((each) => callItem(spec, each));
      const spoken = one.texts.length === 0 ? [] : [{ role: "assistant", content: said(one) }];
      return [...thoughtItems(one, at), ...spoken, ...calls, ...resultsOf(one).map(outputItem)];
    }
  }
}

function toolsOf(spec: RequestSpec): JsonObject[] {
  const tools: JsonObject[] = spec.tools.map(({ name, schema, strict }, at) =>
    at === FREE_TEXT % Math.max(1, spec.tools.length) && strict === undefined
      ? { type: "custom", name, description: "Free text." }
      : { type: "function", name, ...maybe("parameters", schema), ...maybe("strict", strict) },
  );
  if (spec.search) tools.push({ type: "web_search", search_context_size: "low" });
  return tools;
}

function choiceOf(spec: RequestSpec, tools: readonly JsonObject[]): unknown {
  const name = chosen(spec);
  const type = tools[0]?.["type"];
  const choices: JsonObject = {
    auto: "auto",
    none: "none",
    any: "required",
    tool: name && { type, name },
    allowed: name && { type: "allowed_tools", mode: "auto", tools: [{ type, name }] },
  };
  return choices[spec.choice ?? ""];
}

function formatOf({ format }: RequestSpec): JsonObject {
  if (format === undefined) return {};
  if (format === "json") return { text: { format: { type: "json_object" } } };
  return { text: { format: { type: "json_schema", name: "form", schema: FORMATS[format], strict: true } } };
}

function reasoningOf({ reasoning }: RequestSpec): JsonObject {
  if (reasoning === undefined) return {};
  const { amount, show } = reasoning;
  const effort = amount === "off" ? "none" : typeof amount === "number" ? "medium" : amount;
  return { reasoning: { ...(effort === "dynamic" ? {} : { effort }), ...(show === true ? { summary: "auto" } : {}) } };
}

export function responsesRequest(spec: RequestSpec): JsonObject {
  const input = spec.steps.flatMap((one, at) => itemsOf(spec, one, at));
  if (spec.last !== "" || input.length === 0) input.push({ role: "user", content: spec.last });
  const tools = toolsOf(spec);
  const instructions = spec.system.map(({ text }) => text).join("\n");
  return {
    model: "acme/one",
    input,
    ...(spec.system.length === 0 ? {} : { instructions }),
    ...(tools.length === 0 ? {} : { tools, ...maybe("tool_choice", choiceOf(spec, tools)) }),
    ...maybe("parallel_tool_calls", spec.parallel),
    ...formatOf(spec),
    ...reasoningOf(spec),
    ...maybe("max_output_tokens", spec.limit),
    ...maybe("temperature", spec.temperature),
    ...maybe("top_p", spec.topP),
    ...(spec.logprobs === undefined ? {} : { include: ["message.output_text.logprobs"], top_logprobs: spec.logprobs }),
    ...maybe("safety_identifier", spec.userId),
    ...maybe("metadata", spec.seed === undefined ? undefined : { seed: String(spec.seed) }),
  };
}
