import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { GoogleGenAI } from "@google/genai";
import { isOptional } from "../../../testing/is-present.ts";
import { isObject, type JsonObject, parseObject } from "../../base/json.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { fold, unfold } from "../../canon/fold.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import { readQueries } from "../answer/search-queries.ts";
import type { DecodeAnswerContext, EncodeAnswerContext, EncodeRequestContext } from "../codec.ts";
import { genaiCodec } from "./codec.ts";
import { normaliseGenaiRequest } from "./normalise.ts";
import type { GenaiOptions } from "./options.ts";
import { DEFAULT_GENAI_QUIRKS, type GenaiQuirks } from "./quirks.ts";

interface Recording {
  case: string;
  dialect: string;
  status: number;
  stream: boolean;
  response_file: string;
  request_file: string | null;
}

const FOLDER = new URL("../../../../shared/transcripts/", import.meta.url);
const there = isOptional(
  existsSync(new URL("manifest.jsonl", FOLDER)),
  "recorded genai traffic, because ../shared/transcripts is not there",
);

const textOf = (file: string) => readFileSync(new URL(file, FOLDER), "utf8");
const recordings = (there ? textOf("manifest.jsonl").trim().split("\n") : [])
  .map((line) => JSON.parse(line) as Recording)
  .filter(({ dialect }) => dialect === "gemini-generate" || dialect === "gemini-images");

/** Image endpoints of the same provider answer in another format. */
const isAnswer = ({ status, response_file }: Recording) =>
  status === 200 && !textOf(response_file).includes('"predictions"');
const answers = recordings.filter(isAnswer);

let made = 0;
const decoding: DecodeAnswerContext = {
  origin: "genai",
  quirks: DEFAULT_GENAI_QUIRKS,
  reading: {},
  makeId: () => `made${made++}`,
};
const encoding: EncodeAnswerContext<GenaiOptions> = {
  publicModel: "acme/model",
  request: {},
  options: { bareFinishReason: true, arrayFraming: false },
  receivedAtMs: 1_700_000_000_000,
  makeId: () => `made${made++}`,
  costUsd: () => 0,
  nowSeconds: () => 1_700_000_000,
  estimateInputTokens: () => 0,
  note: () => undefined,
};

/** The chunks of a recording, whatever its framing. */
function chunksOf({ response_file }: Recording): JsonObject[] {
  const text = textOf(response_file);
  if (response_file.endsWith(".sse")) {
    return readFrames(text).flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as JsonObject]));
  }
  const value = JSON.parse(text) as JsonObject | JsonObject[];
  return Array.isArray(value) ? value : [value as JsonObject];
}

const sse = (chunks: readonly JsonObject[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("");

/** The events of a stream, read in pieces of the given size. */
function eventsOf(text: string, size = 1 << 20): CanonEvent[] {
  const decoder = genaiCodec.createStreamDecoder(decoding);
  const splitter = new EventSplitter();
  const bytes = new TextEncoder().encode(text);
  const events: CanonEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const frame of readFrames(splitter.push(bytes.slice(at, at + size)))) events.push(...decoder.push(frame));
  }
  for (const frame of readFrames(splitter.end())) events.push(...decoder.push(frame));
  return [...events, ...decoder.end()];
}

/** Choices 14 law 4. */
function expectBalanced(events: readonly CanonEvent[]): void {
  const open = new Set<number>();
  const seen = new Set<number>();
  for (const [index, event] of events.entries()) {
    if (event.type === "finish" || event.type === "error") expect(index).toBe(events.length - 1);
    if (!("block" in event)) continue;
    if (event.type === "whole" || event.type.endsWith("-start")) {
      expect(seen.has(event.block)).toBe(false);
      seen.add(event.block);
      if (event.type !== "whole") open.add(event.block);
    } else expect(open.has(event.block)).toBe(true);
    if (event.type.endsWith("-end")) open.delete(event.block);
  }
  if (events.at(-1)?.type === "finish") expect([...open]).toEqual([]);
}

/** The content of a recording, read independently of the codec. */
function reading(chunks: readonly JsonObject[]) {
  // biome-ignore lint/suspicious/noExplicitAny: recorded JSON of any shape
  const all = chunks as readonly any[];
  const candidates = all.flatMap((chunk) => chunk.candidates ?? []);
  const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
  const last = <T>(values: readonly (T | undefined)[]) => values.findLast((value) => value !== undefined);
  const usage = last(
    all.map((chunk) => (chunk.usageMetadata?.promptTokenCount === undefined ? undefined : chunk.usageMetadata)),
  );
  return {
    text: parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""),
    thoughts: parts.map((part) => (part.thought ? (part.text ?? "") : "")).join(""),
    signatures: parts.flatMap((part) => part.thoughtSignature ?? []),
    calls: parts.flatMap((part) => (part.functionCall?.name ? [part.functionCall.name] : [])),
    media: parts.flatMap((part) => part.inlineData?.data ?? []),
    native: parts.flatMap((part) =>
      Object.keys(part).filter((key) => /^(executableCode|codeExecutionResult|tool)/.test(key)),
    ),
    finish:
      last(candidates.map((candidate) => candidate.finishReason)) ??
      last(all.map((chunk) => chunk.promptFeedback?.blockReason)),
    queries: last(candidates.map((candidate) => candidate.groundingMetadata?.webSearchQueries)) ?? [],
    prompt: usage && usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0),
    output: usage && (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
    id: last(all.map((chunk) => chunk.responseId)),
  };
}

/** The same for a decoded response. */
function summary({ parts, stop, usage, id }: CanonReply): ReturnType<typeof reading> {
  const pick = <T>(choose: (part: CanonReply["parts"][number]) => T[]) => parts.flatMap(choose);
  const natives = pick((part) => (part.type === "native" ? [part] : []));
  const own = (part: CanonReply["parts"][number]) =>
    part.type === "native" ? String(part.raw["thoughtSignature"] ?? "") : (part.signature?.value ?? "");
  return {
    text: pick((part) => (part.type === "text" ? [part.text] : [])).join(""),
    thoughts: pick((part) => (part.type === "reasoning" ? [part.text] : [])).join(""),
    signatures: parts.map(own).filter((value) => value !== ""),
    calls: pick((part) => (part.type === "tool-call" ? [part.name] : [])),
    media: pick((part) => (part.type === "media" && part.source.type === "data" ? [part.source.data] : [])),
    native: natives.map(({ name }) => name),
    finish: stop.raw,
    queries: pick((part) => (part.type === "server-tool-call" ? [...readQueries(parseObject(part.input))] : [])),
    prompt: usage && (usage.input ?? 0) + (usage.cacheRead ?? 0),
    output: usage && (usage.output ?? 0) + (usage.imageOutput ?? 0) + (usage.reasoning ?? 0),
    id,
  };
}

/** The chunks of a stream merged into the body of the equivalent complete response. */
function wholeOf(chunks: readonly JsonObject[]): JsonObject {
  const candidates = chunks.flatMap((chunk) => (chunk["candidates"] as JsonObject[] | undefined) ?? []);
  const parts = candidates.flatMap((one) => ((one["content"] as JsonObject | undefined)?.["parts"] as unknown[]) ?? []);
  const usages = chunks.flatMap((chunk) => chunk["usageMetadata"] ?? []) as JsonObject[];
  const usageMetadata = usages.findLast((usage) => usage["promptTokenCount"] !== undefined);
  const candidate = Object.assign({}, ...candidates, { content: { role: "model", parts } }) as JsonObject;
  return {
    ...(Object.assign({}, ...chunks) as JsonObject),
    ...(candidates.length > 0 ? { candidates: [candidate] } : {}),
    usageMetadata,
  };
}

const stringOf = (reply: CanonReply): string => {
  const encoder = genaiCodec.createStreamEncoder(encoding);
  return [...unfold(reply)].map((event) => encoder.push(event)).join("");
};

/** A citation without a position refers to its whole text, and says so once it was written. Times come from the gateway. */
function asWritten({ created: _created, ...reply }: CanonReply): CanonReply {
  const parts = reply.parts.map((part) => {
    if (part.type !== "text" || part.citations === undefined) return part;
    const whole = { start: 0, end: part.text.length };
    return { ...part, citations: part.citations.map((citation) => ({ ...whole, ...citation })) };
  });
  if (reply.usage === undefined) return { ...reply, parts };
  // The number of model calls is only for bills. No field has it.
  const { rounds: _rounds, ...usage } = reply.usage;
  return { ...reply, parts, usage };
}

/** The stream's normal form: the signature of a text is on an empty text after it. */
function asStreamed(reply: CanonReply): CanonReply {
  const parts = asWritten(reply).parts.flatMap((part): CanonReply["parts"] => {
    if (part.type !== "text" || part.signature === undefined || part.text === "") return [part];
    const { signature, ...unsigned } = part;
    return [unsigned, { type: "text", text: "", signature }];
  });
  return { ...asWritten(reply), parts };
}

describe.skipIf(!there)("recorded answers of real providers", () => {
  const cases = answers.map((recording) => [recording.case, recording] as const);

  test("all of them are present, streams and complete responses", () => {
    expect(recordings.filter(({ dialect }) => dialect === "gemini-generate").length).toBe(24);
    expect(answers.filter(({ stream }) => stream).length).toBeGreaterThanOrEqual(11);
    expect(answers.length).toBeGreaterThanOrEqual(20);
  });

  test.each(cases)("%s: is decoded correctly, however it is cut (H07)", (_name, recording) => {
    const chunks = chunksOf(recording);
    const text = recording.response_file.endsWith(".sse") ? textOf(recording.response_file) : sse(chunks);
    made = 0;
    const events = eventsOf(text);
    expectBalanced(events);
    expect(summary(fold(events))).toEqual(reading(chunks));
    for (const size of text.length < 20_000 ? [1, 7] : [997]) {
      made = 0;
      expect(eventsOf(text, size)).toEqual(events);
    }
  });

  test.each(cases)("law 2: %s: the complete response is decoded like its stream", (_name, recording) => {
    const chunks = chunksOf(recording);
    made = 0;
    const streamed = fold(eventsOf(sse(chunks)));
    made = 0;
    expect(genaiCodec.decodeResponse(wholeOf(chunks), decoding)).toEqual(streamed);
  });

  test.each(cases)("law 3: %s: the decoder reads the encoder's stream and complete response", (_name, recording) => {
    made = 0;
    const reply = fold(eventsOf(sse(chunksOf(recording))));
    if (reply.id === undefined) reply.id = "given";
    expect(asStreamed(fold(eventsOf(stringOf(reply))))).toEqual(asStreamed(reply));
    const whole = JSON.parse(genaiCodec.encodeResponse(reply, encoding)) as JsonObject;
    expect(asWritten(genaiCodec.decodeResponse(whole, decoding))).toEqual(asWritten(reply));
  });

  test.each(cases.filter(([, { response_file }]) => response_file.endsWith(".sse")))(
    "law 7: %s: a stream cut before its end gives an error",
    (_name, recording) => {
      const chunks = chunksOf(recording);
      const ends = chunks.findIndex((chunk) => /"finishReason"|"blockReason"/.test(JSON.stringify(chunk)));
      for (let count = 0; count <= ends; count++) {
        const events = eventsOf(sse(chunks.slice(0, count)));
        expect(events.at(-1)?.type).toBe("error");
        expectBalanced(events);
      }
      const half = sse(chunks).slice(0, -20);
      const last = eventsOf(half).at(-1);
      expect(last?.type).toBe("error");
    },
  );
});

const going: EncodeRequestContext<GenaiQuirks> = {
  upstreamModel: "m",
  stream: true,
  traits: { reasoning: true, reasoningForm: "budget" },
  quirks: DEFAULT_GENAI_QUIRKS,
  origin: "genai",
};

/** The documented normal form (encode-request.ts), written independently for what the recordings contain. */
// biome-ignore lint/suspicious/noExplicitAny: recorded JSON of any shape
function normalForm(request: any): unknown {
  const body = structuredClone(request);
  delete body.systemInstruction?.role;
  for (const content of body.contents) content.role ??= "user";
  const config = body.generationConfig ?? {};
  if (JSON.stringify(config.responseModalities) === '["TEXT"]') delete config.responseModalities;
  if (Object.keys(config).length === 0) delete body.generationConfig;
  const calling = body.toolConfig?.functionCallingConfig;
  if (calling?.allowedFunctionNames?.length === 0) delete calling.allowedFunctionNames;
  for (const declaration of (body.tools ?? []).flatMap((tool: JsonObject) => tool["functionDeclarations"] ?? [])) {
    if (declaration.description === null) delete declaration.description;
    if (declaration.parameters !== undefined) {
      const small = JSON.stringify(declaration.parameters).replace(/"type":"([A-Z]+)"/g, (word) => word.toLowerCase());
      declaration.parametersJsonSchema = JSON.parse(small);
      delete declaration.parameters;
    }
    delete declaration.parametersJsonSchema?.$schema;
  }
  return body;
}

/** Removes ids that the gateway derived by position because the client had none. */
function withoutMadeIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/"id":"call_\d+_\d+",?/g, ""));
}

describe.skipIf(!there)("law 1: recorded requests come back from the canon in their normal form", () => {
  const requests = recordings
    .flatMap(({ request_file }) => request_file ?? [])
    .filter((file) => textOf(file).includes('"contents"'));

  test.each(requests)("%s", (file) => {
    const body = normaliseGenaiRequest(JSON.parse(textOf(file)));
    if (!isObject(body)) throw new Error(`${file} is no object`);
    const before = JSON.stringify(body);
    // Models with levels take them; both forms occur.
    const level = before.includes('"thinkingLevel"');
    const context: EncodeRequestContext<GenaiQuirks> = level
      ? { ...going, traits: { reasoning: true, reasoningForm: "level", efforts: ["low", "high"] } }
      : going;
    const call = genaiCodec.decodeRequest(body);
    const encoded = genaiCodec.encodeRequest(call, context);
    expect(encoded.notes).toEqual([]);
    expect(withoutMadeIds(encoded.body)).toEqual(normalForm(body) as JsonObject);
    expect(JSON.stringify(body)).toBe(before);
    expect(JSON.stringify(genaiCodec.encodeRequest(call, context))).toBe(JSON.stringify(encoded));
  });
});

describe("the vendor's package reads the gateway's streams", () => {
  const reply: CanonReply = {
    id: "answer-1",
    parts: [
      { type: "reasoning", text: "Hm, naïve.", signature: { origin: "messages", kind: "signature", value: "sig=" } },
      {
        type: "text",
        text: "Größe: 5 ½ – see there.",
        citations: [{ type: "web", url: "https://example.com/a", title: "A", start: 7, end: 10 }],
      },
      { type: "tool-call", id: "call_1", name: "look", input: '{"10":1,"2":[true,null]}' },
      { type: "tool-call", id: "call_2", name: "look", input: "" },
    ],
    stop: { unified: "tool", raw: "tool_calls" },
    usage: { input: 10, cacheRead: 3, cacheWrite5m: 2, output: 5, reasoning: 4 },
  };

  test("with text, thoughts, calls, signatures, usage, and the history that its chat keeps", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(stringOf(reply), { headers: { "content-type": "text/event-stream" } }),
    });
    try {
      const client = new GoogleGenAI({
        apiKey: "k",
        httpOptions: { baseUrl: `http://127.0.0.1:${server.port}`, apiVersion: "v1" },
      });
      const chat = client.chats.create({ model: "acme/model" });
      const chunks = [];
      for await (const chunk of await chat.sendMessageStream({ message: "hi" })) chunks.push(chunk);
      const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
      const plain = parts.filter((part) => part.text !== undefined && !part.thought);
      expect(plain.map((part) => part.text).join("")).toBe("Größe: 5 ½ – see there.");
      expect(parts.filter(({ thought }) => thought).map(({ text }) => text)).toEqual(["Hm, naïve.", ""]);
      expect(chunks.flatMap((chunk) => chunk.functionCalls ?? [])).toEqual([
        { id: "call_1", name: "look", args: { "10": 1, "2": [true, null] } },
        { id: "call_2", name: "look", args: {} },
      ]);
      const last = chunks.at(-1);
      expect(last?.candidates?.[0]?.finishReason as string).toBe("STOP");
      expect(chunks.slice(0, -1).every((chunk) => chunk.candidates?.[0]?.finishReason === undefined)).toBe(true);
      expect(last?.usageMetadata).toMatchObject({
        promptTokenCount: 15,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        totalTokenCount: 24,
      });
      const support = last?.candidates?.[0]?.groundingMetadata?.groundingSupports?.[0];
      expect(support?.segment).toEqual({ startIndex: 9, endIndex: 13, text: "5 ½" });
      // The package's chat keeps the response for the next turn, and the decoder finds everything in it again.
      const history = chat.getHistory(true) as unknown as JsonObject[];
      expect(history.length).toBeGreaterThan(1);
      const back = genaiCodec.decodeRequest({ contents: JSON.parse(JSON.stringify(history)) });
      const turns = back.turns.flatMap(({ parts: own }) => own);
      expect(turns.find((part) => part.type === "reasoning" && part.signature)?.signature).toEqual({
        origin: "messages",
        kind: "signature",
        value: "sig=",
      });
      expect(turns.flatMap((part) => (part.type === "tool-call" ? [part.id] : []))).toEqual(["call_1", "call_2"]);
    } finally {
      await server.stop(true);
    }
  });
});
