import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  bytesOf,
  everyRecording,
  nameOf,
  present,
  type Recording,
  requestOf,
  textOf,
} from "../../testing/recordings.ts";
import type { JsonObject } from "../base/json.ts";
import { DIALECT_NAMES, type DialectName, type UpstreamDialectName } from "../canon/dialect-name.ts";
import { GatewayError } from "../canon/error.ts";
import type { CanonEvent } from "../canon/event.ts";
import { fold, unfold } from "../canon/fold.ts";
import type { CanonReply, ReplyPart } from "../canon/reply.ts";
import { completionTokens, promptTokens } from "../canon/usage.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import { EventSplitter, readFrames } from "../wire/sse.ts";
import type { DecodeAnswerContext } from "./codec.ts";
import { normaliseGenaiRequest } from "./genai/normalise.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";
import { DEFAULT_QUIRKS, quirksOf } from "./quirks.ts";
import { encodeContext } from "./request/encode-context.sample.ts";

/** Choices 14: what must hold for every dialect and every recording. */

const UPSTREAM_OF: Readonly<Record<string, UpstreamDialectName>> = {
  "openai-chat": "chat",
  "anthropic-messages": "messages",
  "gemini-generate": "genai",
  bedrock: "converse",
  "openai-responses": "responses",
};

const upstreamOf = (recording: Recording): UpstreamDialectName => UPSTREAM_OF[recording.dialect] ?? "chat";
const originOf = (dialect: UpstreamDialectName) =>
  dialect === "chat" ? "a-host" : dialect === "converse" ? "messages" : dialect;

const decoding = (dialect: UpstreamDialectName): DecodeAnswerContext => {
  let made = 0;
  return { origin: originOf(dialect), quirks: DEFAULT_QUIRKS[dialect], reading: {}, makeId: () => `made${++made}` };
};

/** Recordings that the laws do not apply to, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "vercel-ai.cererebras-structured-output-tools-1": "the file holds two answers, one after the other",
};

/** InvokeModel recordings contain the messages dialect in other frames. The tests of those frames use them. */
const answered = everyRecording.filter(
  ({ status, dialect, http, case: name, stream, response_file, features }) =>
    status === 200 &&
    dialect in UPSTREAM_OF &&
    !(dialect === "bedrock" && /\/invoke/.test(http)) &&
    !(
      dialect === "openai-responses" &&
      (features.includes("background") || !/^(?:POST \S*\/responses)?$/.test(http))
    ) &&
    !(name in LEFT_OUT) &&
    // One stream was recorded as a JSON array, which the gateway never requests.
    !(stream && response_file.endsWith(".json")),
);
const streamed = answered.filter(({ stream }) => stream);
const broken = (recording: Recording) => recording.features.includes("mid-stream-error");

function decodeBytes(recording: Recording, chunks: Iterable<Uint8Array>): CanonEvent[] {
  const dialect = upstreamOf(recording);
  const splitter = dialect === "converse" ? new AwsEventSplitter() : new EventSplitter();
  const decoder = UPSTREAM_CODECS[dialect].createStreamDecoder(decoding(dialect));
  const events: CanonEvent[] = [];
  const push = (text: string) => {
    for (const frame of readFrames(text)) events.push(...decoder.push(frame));
  };
  for (const chunk of chunks) push(splitter.push(chunk));
  const rest = splitter.end();
  if (rest.trim() !== "") push(`${rest.trimEnd()}\n\n`);
  const last = events.at(-1)?.type;
  return last === "finish" || last === "error" ? events : [...events, ...decoder.end()];
}

function replyOf(recording: Recording): CanonReply {
  if (recording.stream) return fold(decodeBytes(recording, [bytesOf(recording)]));
  const dialect = upstreamOf(recording);
  return UPSTREAM_CODECS[dialect].decodeResponse(JSON.parse(textOf(recording)) as JsonObject, decoding(dialect));
}

/** What a protocol can express of a response, independent of the dialect. */
function meaningOf(reply: CanonReply) {
  const parts = (type: ReplyPart["type"]) => reply.parts.filter((part) => part.type === type);
  const join = (type: "text" | "reasoning" | "refusal") =>
    parts(type)
      .map((part) => (part.type === type ? part.text : ""))
      .join("");
  return {
    text: join("text") + join("refusal"),
    reasoning: join("reasoning"),
    calls: parts("tool-call").map((part) => (part.type === "tool-call" ? [part.name, parsed(part.input)] : [])),
    stop: reply.stop.unified,
    signatures: reply.parts.flatMap((part) => (part.signature ? [part.signature.value] : [])).sort(),
    usage: reply.usage && {
      input: promptTokens(reply.usage),
      cached: reply.usage.cacheRead ?? 0,
      output: completionTokens(reply.usage),
    },
  };
}

function parsed(input: string): unknown {
  if (input === "") return {};
  try {
    return JSON.parse(input);
  } catch {
    // A model's invalid arguments: protocols that require an object cannot carry them.
    return {};
  }
}

function encodeStream(dialect: DialectName, events: Iterable<CanonEvent>, context = encodeContext()): string {
  const encoder = DIALECTS[dialect].codec.createStreamEncoder(context);
  let text = "";
  for (const event of events) text += encoder.push(event);
  return text;
}

function decodeStream(dialect: DialectName, text: string): CanonEvent[] {
  const decoder = UPSTREAM_CODECS[dialect].createStreamDecoder(decoding(dialect));
  const events = readFrames(text).flatMap((frame) => decoder.push(frame));
  const last = events.at(-1)?.type;
  return last === "finish" || last === "error" ? events : [...events, ...decoder.end()];
}

const expectBalanced = (events: readonly CanonEvent[]) => {
  const open = new Set<number>();
  const seen = new Set<number>();
  for (const [index, event] of events.entries()) {
    const isLast = index === events.length - 1;
    expect(event.type === "finish" || event.type === "error").toBe(isLast);
    if (!("block" in event)) continue;
    if (event.type.endsWith("-start") || event.type === "whole") {
      expect(seen.has(event.block)).toBe(false);
      seen.add(event.block);
      if (event.type !== "whole") open.add(event.block);
    } else {
      expect(open.has(event.block)).toBe(true);
      if (event.type.endsWith("-end")) open.delete(event.block);
    }
  }
  if (events.at(-1)?.type === "finish") expect(open.size).toBe(0);
};

const frozen = <T>(value: T): T => {
  if (typeof value === "object" && value !== null && !(value instanceof GatewayError)) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
};

const cases = (list: readonly Recording[]) => list.map((recording) => [nameOf(recording), recording] as const);

describe.skipIf(!present)("laws over recorded answers", () => {
  test.each(cases(streamed))("law 4: blocks are balanced, and the only end is last: %s", (_name, recording) => {
    const events = decodeBytes(recording, [bytesOf(recording)]);
    expectBalanced(events);
    expect(events.at(-1)?.type).toBe(broken(recording) ? "error" : "finish");
  });

  test.each(cases(streamed))(
    "law 6: a stream cut anywhere, also inside UTF-8 characters, gives the same events: %s",
    (_name, recording) => {
      const bytes = bytesOf(recording);
      const whole = decodeBytes(recording, [bytes]);
      const steps = bytes.length < 20_000 ? [1, 7] : [61];
      for (const step of steps) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
          bytes.subarray(at * step, (at + 1) * step),
        );
        expect(decodeBytes(recording, chunks)).toEqual(whole);
      }
    },
  );

  test.each(cases(streamed.filter((recording) => !broken(recording))))(
    "law 7: a proper prefix ends in an error: %s",
    (_name, recording) => {
      const bytes = bytesOf(recording);
      const whole = fold(decodeBytes(recording, [bytes]));
      const count = Math.min(bytes.length, 60);
      for (let index = 0; index < count; index++) {
        const events = decodeBytes(recording, [bytes.subarray(0, Math.floor((bytes.length * index) / count))]);
        expectBalanced(events);
        // Bytes after the real end (a last usage, `[DONE]`, a blank line) may be missing: the content is already complete.
        if (events.at(-1)?.type === "finish") expect(meaningOf(fold(events)).text).toBe(meaningOf(whole).text);
        else expect(events.at(-1)?.type).toBe("error");
      }
    },
  );

  const whole = answered.filter((recording) => !broken(recording));
  for (const dialect of DIALECT_NAMES) {
    test.each(cases(whole))(`laws 2, 3 and 8 in ${dialect}: %s`, (_name, recording) => {
      const reply = frozen(replyOf(recording));
      const events = frozen([...unfold(reply)]);
      const stream = encodeStream(dialect, events);
      expect(encodeStream(dialect, events)).toBe(stream);
      const body = DIALECTS[dialect].codec.encodeResponse(reply, encodeContext());
      expect(DIALECTS[dialect].codec.encodeResponse(reply, encodeContext())).toBe(body);

      const fromStream = decodeStream(dialect, stream);
      expectBalanced(fromStream);
      const again = UPSTREAM_CODECS[dialect].decodeResponse(JSON.parse(body) as JsonObject, decoding(dialect));
      const [streamedMeaning, wholeMeaning] = [meaningOf(fold(fromStream)), meaningOf(again)];
      // A streamed message starts with an estimate of the prompt, which zeros do not replace. One token represents a prompt that
      // was entirely cached.
      if (dialect === "messages" && streamedMeaning.usage && wholeMeaning.usage) {
        const { usage } = wholeMeaning;
        if (usage.input === 0) streamedMeaning.usage.input = 0;
        if (usage.input === usage.cached + (reply.usage?.cacheWrite5m ?? 0) && usage.cached > 0) {
          expect(usage.cached - streamedMeaning.usage.cached).toBeLessThanOrEqual(1);
          streamedMeaning.usage.cached = usage.cached;
        }
      }
      expect(streamedMeaning).toEqual(wholeMeaning);
      const { signatures: _carried, ...meaning } = meaningOf(reply);
      const { signatures: _wrapped, ...reported } = meaningOf(again);
      const refused = reply.parts.some(({ type }) => type === "refusal");
      expect(endings(dialect, meaning, refused)).toContain(reported.stop);
      // A protocol that requires usage gets an estimate if the upstream reported none.
      const { stop: _stop, usage, ...said } = meaning;
      const { text, ...others } = said;
      expect(reported).toMatchObject(usage === undefined ? others : { ...others, usage });
      // Two protocols have a single text: separate texts are separated by a paragraph break.
      const isOneText = dialect === "chat" || dialect === "genai";
      const words = (spoken: string) => (isOneText ? spoken.replace(/\s+/g, "") : spoken);
      // An image that a protocol cannot represent is stored elsewhere, and text replaces it.
      const image = reply.parts.some((part) => part.type === "media") ? OMITTED_IMAGE : "";
      // Spoken words are text to protocols without audio.
      const spoken = reply.parts.map((part) => (part.type === "native" && part.dialect !== dialect ? part.text : ""));
      expect(words(reported.text).replace(image, "")).toBe(words(text + spoken.join("")));
    });
  }
});

const OMITTED_IMAGE = "[image omitted: this protocol has no place for it]";

type Meaning = Omit<ReturnType<typeof meaningOf>, "signatures">;

/** The stop reasons of protocols that have none for a pause or for a host's other reasons. None reads as a complete answer. */
function endings(dialect: DialectName, meaning: Meaning, refused: boolean): readonly Meaning["stop"][] {
  const { stop, calls } = meaning;
  if (refused) return [stop, "filter"];
  if (stop === "pause") return [dialect === "messages" ? "pause" : "length"];
  if (stop === "abnormal") return [dialect === "genai" ? "abnormal" : dialect === "interactions" ? "length" : "filter"];
  if (stop === "other") return ["other", "stop", "tool"];
  return calls.length > 0 && stop === "stop" ? ["stop", "tool"] : [stop];
}

const arbitraryPart: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.string({ minLength: 1 }).map((text): ReplyPart => ({ type: "text", text })),
  fc.string({ minLength: 1 }).map((text): ReplyPart => ({ type: "reasoning", text })),
  fc
    .record({ name: fc.constantFrom("look", "find"), input: fc.dictionary(fc.string(), fc.jsonValue()) })
    .map(({ name, input }): ReplyPart => ({ type: "tool-call", id: "", name, input: JSON.stringify(input) })),
);

/** Blocks of a response whose events are interleaved in any order that keeps each block's own. */
const arbitraryInterleaving = fc.array(arbitraryPart, { minLength: 1, maxLength: 5 }).chain((parts) => {
  const named = parts.map(
    (part, index): ReplyPart => (part.type === "tool-call" ? { ...part, id: `call_${index}` } : part),
  );
  const calls = named.some((part) => part.type === "tool-call");
  const stop = calls ? ({ unified: "tool", raw: "tool" } as const) : ({ unified: "stop", raw: "stop" } as const);
  const [first, ...rest] = [...unfold({ parts: named, stop, usage: { input: 3, output: 5 } })];
  const byBlock = new Map<number, CanonEvent[]>();
  for (const event of rest)
    if ("block" in event) byBlock.set(event.block, [...(byBlock.get(event.block) ?? []), event]);
  const tail = rest.filter((event) => !("block" in event));
  return fc.array(fc.nat(), { minLength: 40, maxLength: 40 }).map((choices) => {
    const queues = [...byBlock.values()].map((events) => [...events]);
    const mixed: CanonEvent[] = first ? [first] : [];
    for (let step = 0; queues.some((queue) => queue.length > 0); step++) {
      const left = queues.filter((queue) => queue.length > 0);
      const event = left[(choices[step % choices.length] ?? 0) % left.length]?.shift();
      if (event) mixed.push(event);
    }
    return { events: [...mixed, ...tail], parts: named };
  });
});

describe("law 5: blocks in any order and interleaving", () => {
  test.each([...DIALECT_NAMES])("encode to a valid stream in %s (H03)", (dialect) => {
    fc.assert(
      fc.property(arbitraryInterleaving, ({ events, parts }) => {
        const decoded = decodeStream(dialect, encodeStream(dialect, frozen(events)));
        expectBalanced(decoded);
        const reply = fold(decoded);
        const callsOf = (list: readonly ReplyPart[]) =>
          list
            .flatMap((part) =>
              part.type === "tool-call" ? [`${part.name} ${JSON.stringify(parsed(part.input))}`] : [],
            )
            .sort();
        expect(callsOf(reply.parts)).toEqual(callsOf(parts));
        const ids = reply.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
        expect(new Set(ids).size).toBe(ids.length);
        const lengthOf = (list: readonly ReplyPart[], type: "text" | "reasoning") =>
          list.reduce((sum, part) => sum + (part.type === type ? part.text.length : 0), 0);
        expect(lengthOf(reply.parts, "text")).toBe(lengthOf(parts, "text"));
        expect(lengthOf(reply.parts, "reasoning")).toBe(lengthOf(parts, "reasoning"));
      }),
      { numRuns: 150 },
    );
  });
});

/** The client's next request, with the response in its history as the protocol's SDKs keep it, and every call answered. */
function historyWith(dialect: DialectName, answer: JsonObject): JsonObject {
  // biome-ignore lint/suspicious/noExplicitAny: the test reads what it has just had written
  const body = answer as any;
  const result = "It is 12 degrees.";
  switch (dialect) {
    case "chat": {
      const { message } = body.choices[0];
      const results = (message.tool_calls ?? []).map((call: { id: string }) => ({
        role: "tool",
        tool_call_id: call.id,
        content: result,
      }));
      return {
        model: "acme/model",
        messages: [{ role: "user", content: "Hello" }, message, ...results, { role: "user", content: "Go on" }],
      };
    }
    case "messages": {
      const calls = body.content.filter((block: { type: string }) => block.type === "tool_use");
      const results = calls.map((call: { id: string }) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: result,
      }));
      const next = { role: "user", content: [...results, { type: "text", text: "Go on" }] };
      return {
        model: "acme/model",
        max_tokens: 100,
        messages: [{ role: "user", content: "Hello" }, { role: "assistant", content: body.content }, next],
      };
    }
    case "responses": {
      const calls = body.output.filter(({ call_id }: { call_id?: string }) => call_id !== undefined);
      const results = calls.map((call: { type: string; call_id: string }) => ({
        type: `${call.type}_output`,
        call_id: call.call_id,
        output: result,
      }));
      const next = { role: "user", content: "Go on" };
      return { model: "acme/model", input: [{ role: "user", content: "Hello" }, ...body.output, ...results, next] };
    }
    case "interactions": {
      const calls = body.steps.filter(({ type }: { type: string }) => type === "function_call");
      const results = calls.map((call: { id: string }) => ({ type: "function_result", call_id: call.id, result }));
      const user = (text: string) => ({ type: "user_input", content: [{ type: "text", text }] });
      return { model: "acme/model", input: [user("Hello"), ...body.steps, ...results, user("Go on")] };
    }
    case "genai": {
      const { content } = body.candidates[0];
      const results = (content?.parts ?? []).flatMap((part: { functionCall?: { id?: string; name: string } }) =>
        part.functionCall
          ? [
              {
                functionResponse: {
                  ...(part.functionCall.id ? { id: part.functionCall.id } : {}),
                  name: part.functionCall.name,
                  response: { output: result },
                },
              },
            ]
          : [],
      );
      const next = { role: "user", parts: [...results, { text: "Go on" }] };
      return {
        contents: [{ role: "user", parts: [{ text: "Hello" }] }, ...(content?.parts?.length ? [content] : []), next],
      };
    }
  }
}

describe.skipIf(!present)("law 9: opaque values are sent back only to their origin (H01, H02)", () => {
  const signed = answered
    .filter((recording) => !broken(recording))
    .map((recording) => ({ recording, reply: replyOf(recording) }))
    .filter(({ reply }) => reply.parts.some((part) => part.signature));

  test("there are recordings with opaque values", () => {
    expect(signed.length).toBeGreaterThan(10);
  });

  for (const client of DIALECT_NAMES) {
    test.each(signed.map((one) => [nameOf(one.recording), one] as const))(
      `through ${client}: %s`,
      (_name, { recording, reply }) => {
        const values = reply.parts.flatMap((part) => (part.signature ? [part.signature] : []));
        const { codec } = DIALECTS[client];
        const call = frozen(
          codec.decodeRequest(
            historyWith(client, JSON.parse(codec.encodeResponse(reply, encodeContext())) as JsonObject),
          ),
        );
        const echoed = call.turns.flatMap((turn) =>
          turn.parts.flatMap((part) => (part.signature ? [part.signature] : [])),
        );
        const key = ({ origin, kind, value }: { origin: string; kind: string; value: string }) =>
          `${origin} ${kind} ${value}`;
        expect(echoed.map(key).sort()).toEqual(values.map(key).sort());

        const home = upstreamOf(recording);
        for (const target of Object.keys(UPSTREAM_CODECS) as UpstreamDialectName[]) {
          const own = originOf(target) === originOf(home);
          const { body, notes } = UPSTREAM_CODECS[target].encodeRequest(call, {
            upstreamModel: "m",
            stream: false,
            traits: { reasoning: true },
            quirks: quirksOf(target, { chat: { reasoningHistory: "keep", reasoningDetails: true } }),
            origin: originOf(target),
          });
          const text = JSON.stringify(body);
          // One wire protocol of the family carries redacted reasoning as base64 bytes, another as text.
          const forms = (value: string) => [value, btoa(value), Buffer.from(value, "base64").toString()];
          for (const { value } of values) {
            const found = forms(value).some(
              (form) => form.length > 8 && text.includes(JSON.stringify(form).slice(1, -1)),
            );
            expect([target, value, found]).toEqual([target, value, own]);
          }
          if (!own) expect(notes.length).toBeGreaterThan(0);
        }
      },
    );
  }
});

describe.skipIf(!present)(
  "law 1: a request comes back from the canon unchanged, except for the dialect's normal form",
  () => {
    const asked = everyRecording.flatMap((recording) => {
      const request =
        recording.dialect in UPSTREAM_OF && upstreamOf(recording) in DIALECTS ? requestOf(recording) : undefined;
      return request ? [{ recording, request }] : [];
    });
    test.each(asked.map((one) => [nameOf(one.recording), one] as const))("%s", (_name, { recording, request }) => {
      const dialect = upstreamOf(recording) as DialectName;
      const again = (body: JsonObject) =>
        UPSTREAM_CODECS[dialect].encodeRequest(DIALECTS[dialect].codec.decodeRequest(frozen(body)), {
          upstreamModel: recording.model,
          stream: body["stream"] === true,
          traits: { reasoning: true },
          quirks: quirksOf(dialect, {
            chat: {
              maxTokensField: "max_tokens",
              reasoningHistory: "keep",
              reasoningDetails: true,
              unsupported: [],
              webSearch: true,
              cacheControl: true,
            },
          }),
          origin: originOf(dialect),
        });
      // The normal form is a fixed point: a second pass changes nothing.
      const once = again(normalised(dialect, request));
      expect(again(once.body).body).toEqual(once.body);
    });
  },
);

const normalised = (dialect: DialectName, body: JsonObject): JsonObject =>
  dialect === "genai" ? (normaliseGenaiRequest(body) as JsonObject) : body;
