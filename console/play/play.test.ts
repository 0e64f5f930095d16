import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventLines, failureText, ownFile, readAnswer, readEvent, readOperation } from "./answer.ts";
import { samplesOf } from "./code.ts";
import { type PlaySettings, type Protocol, protocolsOf, requestOf } from "./request.ts";

const SETTINGS: PlaySettings = {
  protocol: "chat",
  model: "sim/standard",
  system: "Be brief.",
  prompt: "Hello",
  attached: [{ name: "a.png", type: "image/png", base64: "AAAA" }],
  history: [],
  count: undefined,
  size: "",
  quality: "",
  seconds: undefined,
  aspectRatio: "",
  resolution: "",
  voice: "",
  format: "",
  dimensions: undefined,
  maxTokens: 50,
  temperature: 0.5,
  stream: true,
};

describe("a request in each protocol", () => {
  test.each(["chat", "responses", "messages", "genai", "interactions"] as const)(
    "%s contains every setting",
    (protocol) => {
      const { path, body } = requestOf({ ...SETTINGS, protocol });
      const text = JSON.stringify(body);
      for (const part of ["Be brief.", "Hello", "AAAA", "50", "0.5"])
        expect([protocol, text.includes(part)]).toEqual([protocol, true]);
      expect(path.startsWith("/")).toBe(true);
      expect(path + text).toContain("stream");
    },
  );

  test("omits settings that are empty", () => {
    const bare = { ...SETTINGS, system: "", attached: [], maxTokens: undefined, temperature: undefined, stream: false };
    expect(requestOf(bare).body).toEqual({ model: "sim/standard", messages: [{ role: "user", content: "Hello" }] });
  });

  test.each(["chat", "responses", "messages", "genai", "interactions"] as const)(
    "%s has the earlier turns in order, without those that have no answer",
    (protocol) => {
      const turn = (prompt: string, answer: string) => ({ prompt, attached: [], answer });
      const history = [
        turn("first question", "first answer"),
        turn("lost question", ""),
        turn("second question", "ok"),
      ];
      const text = JSON.stringify(requestOf({ ...SETTINGS, history, protocol }).body);
      const places = ["first question", "first answer", "second question", "Hello"].map((part) => text.indexOf(part));
      expect(places.every((place, at) => place > (places[at - 1] ?? 0))).toBe(true);
      expect(text).not.toContain("lost question");
    },
  );

  test.each(["chat", "responses", "messages", "genai", "interactions"] as const)("%s has documents", (protocol) => {
    const attached = [{ name: "a.pdf", type: "application/pdf", base64: "JVBE" }];
    const text = JSON.stringify(requestOf({ ...SETTINGS, attached, protocol }).body);
    expect(text).toContain("application/pdf");
    expect(text).toContain("JVBE");
  });

  test("settings of other kinds of models are not sent", () => {
    const all: PlaySettings = {
      ...{ ...SETTINGS, count: 2, size: "1024x1024", quality: "high", seconds: 8, aspectRatio: "16:9" },
      ...{ resolution: "720p", voice: "nova", format: "mp3", dimensions: 64 },
    };
    const body = (protocol: Protocol) => requestOf({ ...all, protocol }).body;
    expect(body("images")).toEqual({
      model: "sim/standard",
      prompt: "Hello",
      n: 2,
      size: "1024x1024",
      quality: "high",
    });
    expect(body("video")["parameters"]).toEqual({ durationSeconds: 8, aspectRatio: "16:9", resolution: "720p" });
    expect(body("speech")).toEqual({ model: "sim/standard", input: "Hello", voice: "nova", response_format: "mp3" });
    expect(body("embeddings")).toEqual({ model: "sim/standard", input: "Hello", dimensions: 64 });
    expect(JSON.stringify(body("chat"))).not.toMatch(/1024x1024|high|720p|nova/);
  });

  test("escapes the model name in the path", () => {
    const { path } = requestOf({ ...SETTINGS, protocol: "genai", model: "a/../../b?x" });
    expect(path).toBe("/api/genai/v1/publishers/a/models/..%2F..%2Fb%3Fx:streamGenerateContent?alt=sse");
  });

  test("every kind of model except transcription has a protocol", () => {
    const kinds = ["text", "image", "video", "embedding", "rerank", "speech", "moderation"];
    for (const kind of kinds)
      for (const protocol of protocolsOf(kind)) expect(requestOf({ ...SETTINGS, protocol }).path).toStartWith("/");
    expect(protocolsOf("transcription")).toEqual([]);
  });
});

describe("responses of each protocol", () => {
  const events: [Protocol, unknown][] = [
    ["chat", { choices: [{ delta: { content: "hi" } }] }],
    ["messages", { type: "content_block_delta", delta: { type: "text_delta", text: "hi" } }],
    ["responses", { type: "response.output_text.delta", delta: "hi" }],
    ["genai", { candidates: [{ content: { parts: [{ text: "no", thought: true }, { text: "hi" }] } }] }],
    ["interactions", { event_type: "step.delta", index: 0, delta: { type: "text", text: "hi" } }],
  ];
  test.each(events)("reads an event of %s", (protocol, event) => expect(readEvent(protocol, event).text).toBe("hi"));

  const answers: [Protocol, unknown][] = [
    ["chat", { choices: [{ message: { content: "hi" } }] }],
    [
      "messages",
      {
        content: [
          { type: "thinking", thinking: "no" },
          { type: "text", text: "hi" },
        ],
      },
    ],
    ["responses", { output: [{ content: [{ type: "output_text", text: "hi" }] }] }],
    ["genai", { candidates: [{ content: { parts: [{ text: "hi" }] } }] }],
    ["interactions", { steps: [{ type: "model_output", content: [{ type: "text", text: "hi" }] }] }],
  ];
  test.each(answers)("reads a response of %s", (protocol, answer) =>
    expect(readAnswer(protocol, answer).text).toBe("hi"),
  );

  test("never throws, whatever the response contains", () => {
    const protocols = ["chat", "messages", "responses", "genai", "interactions", "images", "video"] as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...protocols), (value, protocol) => {
        readEvent(protocol, value);
        readAnswer(protocol, value);
        readOperation(value);
        failureText(value);
      }),
    );
  });

  test("events are complete, wherever the stream is split", () => {
    const stream = 'data: {"a":1}\r\n\r\n: comment\n\nevent: x\ndata: {"b":2}\n\n';
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.sort((one, other) => one - other), stream.length];
        const lines = new EventLines();
        const found = at.slice(1).flatMap((end, index) => lines.read(stream.slice(at[index], end)));
        expect(found).toEqual(['{"a":1}', '{"b":2}']);
      }),
    );
  });

  test("loads files of the gateway from this origin and leaves other URLs unchanged, which the policy blocks", () => {
    expect(ownFile("http://127.0.0.1:8787/files/f_1?sig=x&e=1")).toBe(
      "/api/play?path=%2Ffiles%2Ff_1%3Fsig%3Dx%26e%3D1",
    );
    expect(ownFile("https://elsewhere.example/a.png")).toBe("https://elsewhere.example/a.png");
    expect(readAnswer("images", { data: [{ b64_json: "AA" }] }).images).toEqual(["data:image/png;base64,AA"]);
  });
});

describe("sample code", () => {
  const names = samplesOf("http://127.0.0.1:8787", SETTINGS, requestOf(SETTINGS)).map(({ name }) => name);

  test("covers curl and seven libraries", () => expect(names.length).toBe(8));

  test("S14: any prompt is escaped in TypeScript and is one argument in the shell", () => {
    fc.assert(
      fc.property(fc.string(), (prompt) => {
        const settings = { ...SETTINGS, prompt, attached: [] };
        for (const { name, code } of samplesOf("http://x", settings, requestOf(settings))) {
          if (name.endsWith("TypeScript") || name === "AI SDK")
            new Bun.Transpiler({ loader: "ts" }).transformSync(code);
          if (name === "curl")
            expect(code.replaceAll(/'(?:[^']|'\\'')*'/g, "").includes(prompt) && prompt.includes("'")).toBe(false);
          expect(code).not.toMatch(/trv-/);
        }
      }),
      { numRuns: 40 },
    );
  });
});
