import { REDACTED_PURPOSE } from "../../simulator/hosts/anthropic/text/read-blocks.ts";
import { TEXT_PURPOSE } from "../../simulator/hosts/google/text/read-contents.ts";
import { seal, sign } from "../../simulator/text/signature.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { wrapOpaque, wrapOpaqueBase64 } from "../../src/canon/opaque.ts";
import type { SampledDialect, ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { responsesRequest } from "./random-responses-request.ts";
import {
  type Call,
  cacheControl,
  chosen,
  FORMATS,
  type Media,
  maybe,
  nameOfCall,
  numbered,
  opaqueOf,
  PDF,
  PNG,
  type RequestSpec,
  resultsOf,
  SEED,
  type Step,
} from "./random-spec.ts";

/** Random requests, written in each dialect. */

const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/** Parts that few clients send, for turns of the user's and of the assistant's. */
const ODD: Readonly<Record<SampledDialect, { user: readonly JsonObject[]; assistant: readonly JsonObject[] }>> = {
  chat: {
    user: [
      { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "hologram", hologram: 1 },
    ],
    assistant: [
      { type: "refusal", refusal: "No." },
      { type: "hologram", hologram: 1 },
    ],
  },
  messages: {
    user: [
      { type: "search_result", source: "https://a.example", title: "A", content: [{ type: "text", text: "found" }] },
      { type: "search_result", source: "https://a.example", title: "A", content: [] },
      { type: "document", source: { type: "content", content: [{ type: "text", text: "one" }] }, title: "T" },
      { type: "document", source: { type: "content", content: " " } },
      { type: "image", source: { type: "file", file_id: "file_1" } },
      { type: "hologram", tone: "dry" },
    ],
    assistant: [
      {
        type: "text",
        text: "Cited.",
        citations: [
          { type: "page_location", cited_text: "x", document_index: 0, start_page_number: 1, end_page_number: 2 },
        ],
      },
      { type: "redacted_thinking", data: seal(REDACTED_PURPOSE, "hidden", SEED) },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_1",
        content: { type: "web_search_tool_result_error", error_code: "unavailable" },
      },
    ],
  },
  genai: {
    user: [
      { inlineData: { mimeType: "audio/wav", data: WAV } },
      { fileData: { fileUri: "https://files.example/v1beta/files/abc", mimeType: "application/pdf" } },
      { inlineData: { mimeType: "image/heic", data: "aGVpYw==" } },
      { text: "", thoughtSignature: sign(TEXT_PURPOSE, "", SEED) },
    ],
    assistant: [
      { executableCode: { language: "PYTHON", code: "print(1)" } },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
      { inlineData: { mimeType: "image/png", data: PNG } },
      { text: "", thoughtSignature: sign(TEXT_PURPOSE, "", SEED) },
    ],
  },
};

function oddParts(dialect: SampledDialect, role: "user" | "assistant", { odd }: Step): JsonObject[] {
  const list = ODD[dialect][role];
  const found = odd === undefined ? undefined : list[odd % list.length];
  return found === undefined ? [] : [found];
}

/** The request in the words of a dialect. */
export const requestOf = (dialect: ScriptedDialect, spec: RequestSpec): JsonObject => REQUESTS[dialect](numbered(spec));

const REQUESTS: Readonly<Record<ScriptedDialect, (spec: RequestSpec) => JsonObject>> = {
  chat: chatRequest,
  messages: messagesRequest,
  genai: genaiRequest,
  responses: responsesRequest,
};

function chatMedia(kind: Media): JsonObject {
  if (kind === "image") return { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } };
  if (kind === "image-url") return { type: "image_url", image_url: { url: "https://images.example/a.png" } };
  if (kind === "pdf")
    return { type: "file", file: { filename: "paper 1.pdf", file_data: `data:application/pdf;base64,${PDF}` } };
  return { type: "file", file: { filename: "a_b.txt", file_data: `data:text/plain;base64,${btoa("words")}` } };
}

function chatRequest(spec: RequestSpec): JsonObject {
  const text = ({ text: said, cache }: { text: string; cache?: JsonObject }) => ({
    type: "text",
    text: said,
    ...cacheControl(cache),
  });
  const messages: JsonObject[] = spec.system.map((one) => ({ role: "system", content: [text(one)] }));
  for (const one of spec.steps) {
    const texts = one.texts.map(text);
    const joined = one.texts.map((each) => each.text).join("");
    const opaque = one.thought && opaqueOf(one.thought);
    const thought =
      one.thought === undefined
        ? {}
        : {
            reasoning: one.thought.text,
            ...(opaque === undefined
              ? {}
              : {
                  reasoning_details: [
                    {
                      type: "reasoning.text",
                      text: one.thought.text,
                      signature: opaque.value,
                      format: opaque.origin,
                      index: 0,
                    },
                  ],
                }),
          };
    if (one.kind === "system") messages.push({ role: "system", content: joined });
    else if (one.kind === "user")
      messages.push({
        role: "user",
        content: [...texts, ...one.media.map(chatMedia), ...oddParts("chat", "user", one)],
      });
    else if (one.kind === "assistant") {
      const odd = oddParts("chat", "assistant", one);
      messages.push({ role: "assistant", content: odd.length > 0 ? [...texts, ...odd] : joined, ...thought });
    } else {
      const tool_calls = one.calls.map((each) => ({
        id: each.id,
        type: "function",
        function: { name: nameOfCall(spec, each), arguments: each.input },
      }));
      messages.push({ role: "assistant", content: joined === "" ? null : joined, tool_calls, ...thought });
      for (const each of resultsOf(one))
        messages.push({ role: "tool", tool_call_id: each.id, content: each.result.text });
    }
  }
  if (spec.last !== "" || messages.length === 0) messages.push({ role: "user", content: spec.last });
  const tools = spec.tools.map(({ name, schema, strict }) => ({
    type: "function",
    function: { name, ...maybe("parameters", schema), ...maybe("strict", strict) },
  }));
  const name = chosen(spec);
  const choices: JsonObject = {
    auto: "auto",
    none: "none",
    any: "required",
    tool: name && { type: "function", function: { name } },
    allowed: name && {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name } }] },
    },
  };
  const { format, reasoning } = spec;
  const schema = format && format !== "json" ? { name: "form", schema: FORMATS[format], strict: true } : undefined;
  return {
    model: "acme/one",
    messages,
    ...(tools.length === 0 ? {} : { tools, ...maybe("tool_choice", choices[spec.choice ?? ""]) }),
    ...(tools.length === 0 ? {} : maybe("parallel_tool_calls", spec.parallel)),
    ...(spec.search ? { web_search_options: { search_context_size: "low" } } : {}),
    ...(format === "json" ? { response_format: { type: "json_object" } } : {}),
    ...(schema ? { response_format: { type: "json_schema", json_schema: schema } } : {}),
    ...(reasoning === undefined
      ? {}
      : {
          reasoning: {
            ...(typeof reasoning.amount === "number" ? { max_tokens: reasoning.amount } : {}),
            ...(reasoning.amount === "off" ? { enabled: false } : {}),
            ...(reasoning.amount === "dynamic" ? { enabled: true } : {}),
            ...(reasoning.amount === "low" || reasoning.amount === "high" ? { effort: reasoning.amount } : {}),
            ...maybe("exclude", reasoning.show === undefined ? undefined : !reasoning.show),
          },
        }),
    ...maybe("max_completion_tokens", spec.limit),
    ...maybe("temperature", spec.temperature),
    ...maybe("top_p", spec.topP),
    ...maybe("frequency_penalty", spec.frequencyPenalty),
    ...maybe("presence_penalty", spec.presencePenalty),
    ...maybe("seed", spec.seed),
    ...maybe("stop", spec.stop),
    ...(spec.logprobs === undefined ? {} : { logprobs: true, top_logprobs: spec.logprobs }),
    ...maybe("user", spec.userId),
  };
}

function messagesMedia(kind: Media): JsonObject {
  if (kind === "image") return { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
  if (kind === "image-url") return { type: "image", source: { type: "url", url: "https://images.example/a.png" } };
  if (kind === "pdf")
    return {
      type: "document",
      title: "A paper: (1)",
      context: "Of last year.",
      citations: { enabled: true },
      source: { type: "base64", media_type: "application/pdf", data: PDF },
    };
  return { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } };
}

function messagesRequest(spec: RequestSpec): JsonObject {
  const text = ({ text: said, cache }: { text: string; cache?: JsonObject }) => ({
    type: "text",
    text: said,
    ...cacheControl(cache),
  });
  const messages: JsonObject[] = [];
  for (const one of spec.steps) {
    const texts = one.texts.map(text);
    const opaque = one.thought && opaqueOf(one.thought);
    const thought =
      one.thought === undefined || opaque === undefined
        ? []
        : [
            {
              type: "thinking",
              thinking: one.thought.text,
              signature: opaque.origin === "messages" ? opaque.value : wrapOpaque(opaque),
            },
          ];
    if (one.kind === "system") messages.push({ role: "system", content: one.texts.map((each) => each.text).join("") });
    else if (one.kind === "user")
      messages.push({
        role: "user",
        content: [...texts, ...one.media.map(messagesMedia), ...oddParts("messages", "user", one)],
      });
    else if (one.kind === "assistant")
      messages.push({ role: "assistant", content: [...thought, ...texts, ...oddParts("messages", "assistant", one)] });
    else {
      const calls = one.calls.map((each) => ({
        type: "tool_use",
        id: each.id.replace(/[^\w-]/g, "_"),
        name: nameOfCall(spec, each),
        input: each.input.startsWith('{"') ? JSON.parse(each.input) : {},
      }));
      messages.push({ role: "assistant", content: [...thought, ...texts, ...calls] });
      const results = resultsOf(one).map(({ id, result }) => ({
        type: "tool_result",
        tool_use_id: id.replace(/[^\w-]/g, "_"),
        content: [{ type: "text", text: result.text }, ...(result.media ? [messagesMedia(result.media)] : [])],
        ...(result.failed ? { is_error: true } : {}),
      }));
      messages.push({ role: "user", content: [...results, ...one.media.map(messagesMedia)] });
    }
  }
  if (spec.last !== "" || messages.length === 0) messages.push({ role: "user", content: spec.last });
  const tools: JsonObject[] = spec.tools.map(({ name, schema, strict, cache }) => ({
    name,
    input_schema: { type: "object", ...schema },
    ...maybe("strict", strict),
    ...cacheControl(cache),
  }));
  if (spec.search)
    tools.push({ type: "web_search_20250305", name: "web_search", max_uses: 2, blocked_domains: ["a.example"] });
  const { choice, reasoning, format } = spec;
  const name = chosen(spec) ?? "web_search";
  const single = maybe("disable_parallel_tool_use", spec.parallel === undefined ? undefined : !spec.parallel);
  const limit = spec.limit ?? 4000;
  return {
    model: "acme/one",
    max_tokens: limit,
    system: spec.system.map(text),
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || choice === undefined
      ? {}
      : {
          tool_choice: choice === "tool" || choice === "allowed" ? { type: "tool", name, ...single } : { type: choice },
        }),
    ...(format === undefined || format === "json"
      ? {}
      : { output_config: { format: { type: "json_schema", schema: FORMATS[format] } } }),
    ...(reasoning === undefined ? {} : { thinking: messagesThinking(reasoning, limit) }),
    ...maybe("temperature", spec.temperature === undefined ? undefined : Math.min(1, spec.temperature)),
    ...maybe("top_p", spec.topP),
    ...maybe("top_k", spec.topK),
    ...maybe("stop_sequences", spec.stop),
    ...maybe("metadata", spec.userId && { user_id: spec.userId }),
    ...cacheControl(spec.system[0]?.cache),
  };
}

function messagesThinking({ amount, show }: NonNullable<RequestSpec["reasoning"]>, limit: number): JsonObject {
  const display = maybe("display", show === undefined ? undefined : show ? "summarized" : "omitted");
  if (amount === "off") return { type: "disabled" };
  if (typeof amount !== "number" || limit < 2000) return { type: "adaptive", ...display };
  return { type: "enabled", budget_tokens: Math.min(amount, limit - 1), ...display };
}

function genaiMedia(kind: Media): JsonObject {
  if (kind === "image") return { inlineData: { mimeType: "image/png", data: PNG, displayName: "a.png" } };
  if (kind === "image-url") return { fileData: { mimeType: "image/png", fileUri: "https://images.example/a.png" } };
  if (kind === "pdf") return { inlineData: { mimeType: "application/pdf", data: PDF, displayName: "paper_1.pdf" } };
  return { inlineData: { mimeType: "text/plain", data: btoa("words") } };
}

function genaiRequest(spec: RequestSpec): JsonObject {
  const contents: JsonObject[] = [];
  const add = (role: string, parts: JsonObject[]) => {
    if (parts.length > 0) contents.push({ role, parts });
  };
  for (const one of spec.steps) {
    const texts = one.texts.map(({ text }) => ({ text }));
    const opaque = one.thought && opaqueOf(one.thought);
    const thought =
      one.thought === undefined
        ? []
        : [
            {
              text: one.thought.text,
              thought: true,
              ...(opaque === undefined
                ? {}
                : { thoughtSignature: opaque.origin === "genai" ? opaque.value : wrapOpaqueBase64(opaque) }),
            },
          ];
    if (one.kind === "user" || one.kind === "system")
      add("user", [...texts, ...one.media.map(genaiMedia), ...oddParts("genai", "user", one)]);
    else if (one.kind === "assistant") add("model", [...thought, ...texts, ...oddParts("genai", "assistant", one)]);
    else {
      const named = (each: Call) => ({ name: nameOfCall(spec, each), ...(one.reversed ? {} : { id: each.id }) });
      const calls = one.calls.map((each) => ({
        functionCall: { ...named(each), args: each.input.startsWith('{"') ? JSON.parse(each.input) : {} },
      }));
      add("model", [...thought, ...texts, ...calls]);
      const results = one.calls.map((each) => ({
        functionResponse: { ...named(each), response: { [each.result.failed ? "error" : "output"]: each.result.text } },
      }));
      add("user", [...results, ...one.media.map(genaiMedia)]);
    }
  }
  if (spec.last !== "" || contents.length === 0) add("user", [{ text: spec.last }]);
  const functionDeclarations = spec.tools.map(({ name, schema }) => ({
    name,
    ...maybe("parametersJsonSchema", schema),
  }));
  const tools = [
    ...(functionDeclarations.length === 0 ? [] : [{ functionDeclarations }]),
    ...(spec.search ? [{ googleSearch: {} }] : []),
  ];
  const { choice, format, reasoning } = spec;
  const modes: JsonObject = { auto: "AUTO", none: "NONE", any: "ANY", tool: "ANY", allowed: "VALIDATED" };
  const name = chosen(spec);
  const allowedFunctionNames = (choice === "tool" || choice === "allowed") && name !== undefined ? [name] : undefined;
  return {
    ...(spec.system.length === 0 ? {} : { systemInstruction: { parts: spec.system.map(({ text }) => ({ text })) } }),
    contents,
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice === undefined || name === undefined
      ? {}
      : {
          toolConfig: {
            functionCallingConfig: { mode: modes[choice], ...maybe("allowedFunctionNames", allowedFunctionNames) },
          },
        }),
    generationConfig: {
      ...(format === "json" ? { responseMimeType: "application/json" } : {}),
      ...(format === "object" || format === "list"
        ? { responseMimeType: "application/json", responseJsonSchema: FORMATS[format] }
        : {}),
      ...(format === "word"
        ? { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["yes", "no"] } }
        : {}),
      ...(reasoning === undefined ? {} : { thinkingConfig: genaiThinking(reasoning) }),
      ...maybe("maxOutputTokens", spec.limit),
      ...maybe("temperature", spec.temperature),
      ...maybe("topP", spec.topP),
      ...maybe("topK", spec.topK),
      ...maybe("frequencyPenalty", spec.frequencyPenalty === 2 ? 1.9 : spec.frequencyPenalty),
      ...maybe("presencePenalty", spec.presencePenalty === 2 ? 1.9 : spec.presencePenalty),
      ...maybe("seed", spec.seed === undefined ? undefined : spec.seed % 1000),
      ...maybe("stopSequences", spec.stop),
      ...(spec.logprobs === undefined
        ? {}
        : { responseLogprobs: true, ...(spec.logprobs > 0 ? { logprobs: spec.logprobs } : {}) }),
    },
  };
}

function genaiThinking({ amount, show }: NonNullable<RequestSpec["reasoning"]>): JsonObject {
  const shown = maybe("includeThoughts", show);
  if (amount === "low" || amount === "high") return { thinkingLevel: amount.toUpperCase(), ...shown };
  const budget = amount === "off" ? 0 : amount === "dynamic" ? -1 : Math.min(amount, 24_576);
  return { thinkingBudget: budget, ...shown };
}
