import type { JsonObject } from "../../../json.ts";
import { type TokenLogprob, tokenLogprobs } from "../../../text/logprobs.ts";
import { type Plan, type Segment, type Span, textOfSpans } from "../../../text/plan.ts";
import { argumentsOf } from "../text/render.ts";
import { sealThought } from "./read-input.ts";
import type { ResponsesRequest } from "./read-request.ts";

/** A completed item of the response, and the parts that are streamed. */
export type Item =
  | { kind: "reasoning"; done: JsonObject; text: string }
  | { kind: "message"; done: JsonObject; text: string; refusal: boolean; annotations: JsonObject[] }
  | { kind: "call"; done: JsonObject; text: string; member: "arguments" | "input" }
  | { kind: "search"; done: JsonObject };

type Options = Pick<ResponsesRequest, "summary" | "sealed" | "sources" | "topLogprobs" | "namespaces">;

/** The items of a plan, in order. */
export const itemsOf = (plan: Plan, options: Options): Item[] =>
  plan.segments.map((segment, at) => itemOf(segment, plan.seed.token(`item ${at}`, 32), plan, options));

function itemOf(segment: Segment, name: string, plan: Plan, options: Options): Item {
  switch (segment.type) {
    case "thinking":
      return reasoningItem(`rs_${name}`, segment.text, segment.text, plan, options);
    case "redacted":
      return reasoningItem(`rs_${name}`, "", segment.text, plan, options);
    case "search":
      return searchItem(`ws_${name}`, segment, options);
    case "text":
      return messageItem(`msg_${name}`, segment.spans, plan, options);
    case "call":
      return callItem(`${segment.freeform ? "ctc" : "fc"}_${name}`, segment, plan, options);
  }
}

function reasoningItem(id: string, shown: string, thought: string, plan: Plan, { summary, sealed }: Options): Item {
  const text = summary ? shown : "";
  const done: JsonObject = {
    id,
    type: "reasoning",
    ...(sealed ? { encrypted_content: sealThought(id, thought, plan.seed) } : {}),
    summary: text === "" ? [] : [{ type: "summary_text", text }],
  };
  return { kind: "reasoning", done, text };
}

function searchItem(id: string, { query, results }: Segment & { type: "search" }, { sources }: Options): Item {
  const found = sources ? { sources: results.map(({ url }): JsonObject => ({ type: "url", url })) } : {};
  const action: JsonObject = { type: "search", query, ...found };
  return { kind: "search", done: { id, type: "web_search_call", status: "completed", action } };
}

function messageItem(id: string, spans: readonly Span[], plan: Plan, { topLogprobs }: Options): Item {
  const text = textOfSpans(spans);
  const refusal = plan.stop === "refusal";
  const annotations = annotationsOf(spans);
  const logprobs = topLogprobs === undefined ? [] : logprobsOf(text, plan, topLogprobs);
  const part: JsonObject = refusal
    ? { type: "refusal", refusal: text }
    : { type: "output_text", annotations, logprobs, text };
  const status = plan.stop === "length" ? "incomplete" : "completed";
  const done: JsonObject = { id, type: "message", status, content: [part], role: "assistant" };
  return { kind: "message", done, text, refusal, annotations };
}

function callItem(id: string, call: Segment & { type: "call" }, plan: Plan, { namespaces }: Options): Item {
  const text = argumentsOf(call);
  const member = call.freeform ? "input" : "arguments";
  const namespace = namespaces.get(call.name);
  const done: JsonObject = {
    id,
    type: call.freeform ? "custom_tool_call" : "function_call",
    status: "completed",
    [member]: text,
    call_id: `call_${plan.seed.token(`call ${call.ordinal}`, 24)}`,
    name: call.name,
    ...(namespace === undefined ? {} : { namespace }),
  };
  return { kind: "call", done, text, member };
}

function annotationsOf(spans: readonly Span[]): JsonObject[] {
  let at = 0;
  return spans.flatMap((span) => {
    const start = at;
    at += span.text.length;
    if (span.source === undefined) return [];
    const { url, title } = span.source;
    return [{ type: "url_citation", start_index: start, end_index: at, title, url }];
  });
}

function logprobsOf(text: string, plan: Plan, top: number): JsonObject[] {
  const entry = ({ token, logprob }: TokenLogprob): JsonObject => ({ token, logprob, bytes: [...Buffer.from(token)] });
  return tokenLogprobs(text, plan.seed, top, 0).map((one) => ({ ...entry(one), top_logprobs: one.top.map(entry) }));
}
