import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { type FieldName, fieldPath } from "../../../canon/field-names.ts";
import type { Part } from "../../../canon/part.ts";
import { FIELD_NAMES } from "../../chat/request/field-names.ts";
import type { EncodeRequestContext } from "../../codec.ts";
import type { GenaiQuirks } from "../quirks.ts";
import { DEFAULT_GENAI_QUIRKS } from "../quirks.ts";
import { decodeRequest } from "./decode-request.ts";
import { encodeRequest } from "./encode-request.ts";

const context = (more: Partial<EncodeRequestContext<GenaiQuirks>> = {}): EncodeRequestContext<GenaiQuirks> => ({
  upstreamModel: "m",
  stream: false,
  traits: { reasoning: true },
  quirks: DEFAULT_GENAI_QUIRKS,
  origin: "genai",
  ...more,
});

/** The path of a field of a part or a tool in a chat request. */
const at = (path: string, field: FieldName) => fieldPath(FIELD_NAMES, path, field);

const user = (...parts: Part[]) => ({ role: "user" as const, parts, path: "messages[0]" });
const model = (...parts: Part[]) => ({ role: "assistant" as const, parts, path: "messages[1]" });
const text = (words: string): Part => ({ type: "text", text: words, path: "messages[0].content" });

const chat = (more: Partial<CanonCall>): CanonCall => ({
  dialect: "chat",
  fieldNames: FIELD_NAMES,
  system: [],
  turns: [user(text("hi"))],
  tools: [],
  paths: {},
  extras: [],
  ...more,
});

const encode = (more: Partial<CanonCall>, target: Partial<EncodeRequestContext<GenaiQuirks>> = {}) => {
  const { body, notes, reading } = encodeRequest(chat(more), context(target));
  return { body, reading, notes: notes.map(({ path, action }) => `${action} ${path}`) };
};
const configOf = (more: Partial<CanonCall>, target: Partial<EncodeRequestContext<GenaiQuirks>> = {}) => {
  const { body, notes } = encode(more, target);
  return { config: body["generationConfig"], notes };
};

/** Every field of the schema, in its normal form. */
const EVERYTHING: JsonObject = {
  systemInstruction: { parts: [{ text: "Be brief." }, { inlineData: { mimeType: "image/png", data: "aGk=" } }] },
  contents: [
    {
      role: "user",
      parts: [
        { text: "Look." },
        {
          inlineData: { mimeType: "image/png", data: "aGk=", displayName: "a.png" },
          mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" },
        },
        { inlineData: { mimeType: "text/plain", data: "R3LDvMOfZQ==" } },
        {
          fileData: { mimeType: "video/mp4", fileUri: "gs://bucket/video-1" },
          videoMetadata: { startOffset: "1s", endOffset: "2.5s", fps: 2 },
        },
        { fileData: { mimeType: "application/pdf", fileUri: "https://example.com/a.pdf", displayName: "A" } },
        { fileData: { fileUri: "https://www.youtube.com/watch?v=1" } },
        {
          inlineData: { mimeType: "image/png", data: "aGk=" },
          mediaResolution: { level: "MEDIA_RESOLUTION_LOW", numTokens: 5 },
        },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "Thinking.", thought: true },
        { text: "Signed thought.", thought: true, thoughtSignature: "c2lnMQ==" },
        { text: "Said.", thoughtSignature: "c2lnMg==" },
        { text: "", thoughtSignature: "c2lnMw==" },
        { executableCode: { language: "PYTHON", code: "1" }, thoughtSignature: "c2lnNA==" },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
        { functionCall: { id: "a", name: "look", args: { z: 1, b: [null] } }, thoughtSignature: "c2lnNQ==" },
        { functionCall: { id: "b", name: "look", args: {} } },
      ],
    },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "a",
            name: "look",
            response: { any: ["thing"] },
            parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }],
            scheduling: "SILENT",
            willContinue: true,
          },
        },
        { functionResponse: { id: "b", name: "look", response: { error: "no" } } },
        { text: "So?", partMetadata: { own: 1 } },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        {
          name: "look",
          description: "Looks.",
          parametersJsonSchema: { type: "object", properties: { b: { type: "string" } } },
          behavior: "BLOCKING",
          responseJsonSchema: { type: "string" },
        },
        { name: "none" },
      ],
    },
    { googleSearch: { excludeDomains: ["example.org"], timeRangeFilter: { startTime: "2026-01-01T00:00:00Z" } } },
    { googleSearchRetrieval: {} },
    { codeExecution: {} },
    { urlContext: {} },
    { googleMaps: { enableWidget: true } },
  ],
  toolConfig: {
    functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look", "none"], streamFunctionCallArguments: true },
    retrievalConfig: { languageCode: "de" },
    includeServerSideToolInvocations: true,
  },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
  labels: { team: "a" },
  cachedContent: "projects/p/locations/l/cachedContents/1",
  generationConfig: {
    temperature: 0.5,
    topP: 0.9,
    topK: 20,
    maxOutputTokens: 100,
    stopSequences: ["a", "b"],
    presencePenalty: 1.995,
    frequencyPenalty: -2,
    seed: -7,
    responseMimeType: "application/json",
    responseJsonSchema: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { const: 1 } } },
    responseLogprobs: true,
    logprobs: 3,
    responseModalities: ["TEXT", "IMAGE"],
    audioTimestamp: true,
    thinkingConfig: { thinkingBudget: 5000, includeThoughts: false },
    mediaResolution: "MEDIA_RESOLUTION_LOW",
    speechConfig: { languageCode: "de-DE" },
    routingConfig: { manualMode: { modelName: "x" } },
    imageConfig: { aspectRatio: "1:1" },
    enableAffectiveDialog: true,
  },
};

describe("law 1: a request with every field comes back from the canon", () => {
  const target = context({ traits: { reasoning: true, mediaInToolResults: true } });

  test("contract 2.6: with all fields at once", () => {
    const { body, notes } = encodeRequest(decodeRequest(EVERYTHING), target);
    expect(notes).toEqual([]);
    expect(body).toEqual(EVERYTHING);
  });

  test.each([
    [{ thinkingBudget: -1, includeThoughts: true }, "budget"],
    [{ thinkingBudget: 0 }, "budget"],
    [{ thinkingBudget: 77 }, "budget"],
    [{ includeThoughts: true }, "budget"],
    [{ thinkingLevel: "MINIMAL" }, "level"],
    [{ thinkingLevel: "MEDIUM", includeThoughts: true }, "level"],
  ] as const)("thinkingConfig %j", (thinkingConfig, reasoningForm) => {
    const body = { contents: [{ role: "user", parts: [{ text: "a" }] }], generationConfig: { thinkingConfig } };
    const efforts = ["minimal", "low", "medium", "high"] as const;
    const encoded = encodeRequest(
      decodeRequest(body),
      context({ traits: { reasoning: true, reasoningForm, efforts } }),
    );
    expect(encoded).toMatchObject({ body, notes: [] });
    expect(encoded.body).toEqual(body);
  });

  test.each([
    [{ mode: "AUTO" }],
    [{ mode: "NONE" }],
    [{ mode: "ANY" }],
    [{ mode: "ANY", allowedFunctionNames: ["f"] }],
    [{ mode: "VALIDATED" }],
    [{ mode: "VALIDATED", allowedFunctionNames: ["f", "g"] }],
  ])("functionCallingConfig %j", (functionCallingConfig) => {
    const body = {
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      tools: [{ functionDeclarations: [{ name: "f" }, { name: "g" }] }],
      toolConfig: { functionCallingConfig },
    };
    expect(encodeRequest(decodeRequest(body), context()).body).toEqual(body);
  });

  test("a schema in the dialect's language comes back if the host accepts no other (H08)", () => {
    const responseSchema = {
      type: "OBJECT",
      nullable: true,
      description: "d",
      properties: {
        b: { type: "STRING", enum: ["x", "y"], nullable: true },
        a: { type: "ARRAY", items: { anyOf: [{ type: "INTEGER", minimum: 1 }, { type: "STRING" }] }, maxItems: 3 },
      },
      required: ["b"],
      propertyOrdering: ["b", "a"],
    };
    const body = {
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      generationConfig: { responseMimeType: "application/json", responseSchema },
    };
    const quirks = { ...DEFAULT_GENAI_QUIRKS, jsonSchema: false };
    const { body: back, notes } = encodeRequest(decodeRequest(body), context({ quirks }));
    expect(back).toEqual(body);
    expect(notes).toEqual([]);
  });

  test("text/x.enum: a value without quotes", () => {
    const body = {
      contents: [{ role: "user", parts: [{ text: "a" }] }],
      generationConfig: { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["x", "y"] } },
    };
    const call = decodeRequest(body);
    expect(call.format).toEqual({ type: "schema", word: true, schema: { type: "string", enum: ["x", "y"] } });
    expect(encodeRequest(call, context()).body).toEqual(body);
  });
});

describe("decodeRequest", () => {
  const turnsOf = (...contents: JsonObject[]) => decodeRequest({ contents }).turns;

  test("calls without ids get ids by position; results match them by name, in order", () => {
    const call = (name: string) => ({ functionCall: { name, args: {} } });
    const result = (name: string) => ({ functionResponse: { name, response: { output: name } } });
    const turns = turnsOf(
      { parts: [{ text: "go" }] },
      { role: "model", parts: [call("f"), call("g"), call("f")] },
      { role: "function", parts: [result("g"), result("f"), result("f")] },
    );
    const ids = turns.map(({ parts }) =>
      parts.map((part) => (part.type === "tool-call" ? part.id : part.type === "tool-result" ? part.callId : "")),
    );
    expect(ids).toEqual([[""], ["call_1_0", "call_1_1", "call_1_2"], ["call_1_1", "call_1_0", "call_1_2"]]);
    expect(turns.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("H03: results with ids match their calls in any order", () => {
    const call = (id: string) => ({ functionCall: { id, name: "f", args: {} } });
    const result = (id: string) => ({ functionResponse: { id, name: "f", response: {} } });
    const turns = turnsOf(
      { role: "model", parts: [call("a"), call("b")] },
      { parts: [result("b"), result("unheard-of"), result("a")] },
    );
    expect(turns[1]?.parts.map((part) => part.type === "tool-result" && part.callId)).toEqual(["b", "unheard-of", "a"]);
  });

  test("a call streamed in chunks over several contents is joined", () => {
    const turns = turnsOf(
      { role: "model", parts: [{ functionCall: { name: "f", willContinue: true }, thoughtSignature: "cw==" }] },
      {
        role: "model",
        parts: [
          {
            functionCall: {
              partialArgs: [{ jsonPath: "$.a", stringValue: "x", willContinue: true }],
              willContinue: true,
            },
          },
        ],
      },
      { role: "model", parts: [{ functionCall: { partialArgs: [{ jsonPath: "$.a", stringValue: "y" }] } }] },
      { role: "model", parts: [{ functionCall: {} }] },
    );
    expect(turns.flatMap(({ parts }) => parts)).toMatchObject([{ type: "tool-call", name: "f", input: '{"a":"xy"}' }]);
  });

  test("H01: a signature of another family is unwrapped, one of this dialect is unchanged", () => {
    const wrapped = btoa(`trv1.${Buffer.from('["messages","redacted","v"]').toString("base64url")}`);
    const [turn] = turnsOf({
      role: "model",
      parts: [
        { text: "", thought: true, thoughtSignature: wrapped },
        { text: "a", thoughtSignature: "c2ln" },
      ],
    });
    expect(turn?.parts.map(({ signature }) => signature)).toEqual([
      { origin: "messages", kind: "redacted", value: "v" },
      { origin: "genai", kind: "signature", value: "c2ln" },
    ]);
  });

  test("a result object is also available as text", () => {
    const [turn] = turnsOf({
      parts: [
        { functionResponse: { name: "f", response: { output: "plain" } } },
        { functionResponse: { name: "f", response: { error: "bad" } } },
        { functionResponse: { name: "f", response: { a: 1 } } },
      ],
    });
    expect(turn?.parts).toMatchObject([
      { content: [{ text: "plain" }] },
      { content: [{ text: "bad" }], isError: true },
      { content: [{ text: '{"a":1}' }], response: { a: 1 } },
    ]);
  });

  test("H09: fields for the gateway are removed; other unknown fields are kept with their path", () => {
    const call = decodeRequest({
      contents: [{ parts: [{ text: "a" }] }],
      model: "x",
      provider: {},
      model_routing_config: {},
      serviceTier: "flex",
      generationConfig: { newField: 1, thinkingConfig: { newer: 2 } },
      toolConfig: { retrievalConfig: {} },
    });
    expect(call.extras.map(({ keys }) => keys.join("."))).toEqual([
      "serviceTier",
      "generationConfig.newField",
      "generationConfig.thinkingConfig.newer",
      "toolConfig.retrievalConfig",
    ]);
  });
});

describe("encodeRequest: the conversation of another dialect", () => {
  const call = (id: string, more: Partial<Part> = {}): Part =>
    ({ type: "tool-call", id, name: `f_${id}`, input: '{"10":1,"9":2}', path: `messages[1].${id}`, ...more }) as Part;
  const result = (callId: string, ...content: Part[]): Part =>
    ({ type: "tool-result", callId, content, path: `messages[2].${callId}` }) as Part;

  test("H03: results get their function names, are sent together, and have ids only if the host accepts them", () => {
    const turns = [
      user(text("go")),
      model(call("a"), call("b")),
      user(result("b", text("B"))),
      user(result("a", text("A"))),
    ];
    const { body, notes } = encode({ turns });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      {
        role: "model",
        parts: [
          { functionCall: { id: "a", name: "f_a", args: expect.anything() } },
          { functionCall: { id: "b", name: "f_b", args: expect.anything() } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "b", name: "f_b", response: { output: "B" } } },
          { functionResponse: { id: "a", name: "f_a", response: { output: "A" } } },
        ],
      },
    ]);
    expect(notes).toEqual([]);
    const without = encode({ turns }, { quirks: { ...DEFAULT_GENAI_QUIRKS, functionIds: false } });
    expect(JSON.stringify(without.body)).not.toContain('"id"');
  });

  test("H01: signatures are sent only to their origin; the first call of a response gets the documented placeholder if one is required", () => {
    const foreign = { origin: "messages", kind: "signature", value: "x" } as const;
    const own = { origin: "genai", kind: "signature", value: "b3du" } as const;
    const turns = [
      user(text("go")),
      model(
        { type: "reasoning", text: "hm", path: "r1" },
        { type: "reasoning", text: "so", signature: own, path: "r2" },
        call("a", { signature: foreign }),
        call("b"),
      ),
      user(result("a"), result("b")),
      model(call("c", { signature: own }), call("d")),
      user(result("c"), result("d")),
    ];
    const { body, notes } = encode({ turns }, { traits: { reasoning: true, demandsSignatures: true } });
    const signatures = (body["contents"] as { parts: JsonObject[] }[]).map(({ parts }) =>
      parts.map((part) => part["thoughtSignature"]),
    );
    expect(signatures).toEqual([
      [undefined],
      ["b3du", "skip_thought_signature_validator", undefined],
      [undefined, undefined],
      ["b3du", undefined],
      [undefined, undefined],
    ]);
    expect(notes).toEqual([
      "dropped r1",
      `dropped ${at("messages[1].a", "signature")}`,
      `approximated ${at("messages[1].a", "signature")}`,
    ]);
  });

  test("images in results are sent inside if the model accepts them, else after all the results", () => {
    const image: Part = {
      type: "media",
      kind: "image",
      source: { type: "data", mimeType: "image/png", data: "aGk=" },
      path: "p",
    };
    const turns = [
      user(text("go")),
      model(call("a"), call("b")),
      user(result("a", text("A"), image)),
      user(result("b", text("B"))),
    ];
    const inline = { inlineData: { mimeType: "image/png", data: "aGk=" } };
    const inside = encode({ turns }, { traits: { reasoning: false, mediaInToolResults: true } });
    expect((inside.body["contents"] as JsonObject[])[2]).toMatchObject({
      parts: [{ functionResponse: { response: { output: "A" }, parts: [inline] } }, { functionResponse: {} }],
    });
    expect(inside.notes).toEqual([]);
    const behind = encode({ turns });
    expect((behind.body["contents"] as JsonObject[])[2]).toEqual({
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "f_a", response: { output: "A" } } },
        { functionResponse: { id: "b", name: "f_b", response: { output: "B" } } },
        { text: "Media of the result of call a:" },
        inline,
      ],
    });
    expect(behind.notes).toEqual(["approximated messages[2].a"]);
  });

  test("encodes a system message inside the conversation, a speaker's name, a first assistant message and an empty text", () => {
    const { body, notes } = encode({
      turns: [
        model(text("Hello"), text("")),
        { role: "system", parts: [text("Be kind.")], path: "messages[1]" },
        { ...user(text("hi")), name: "Ann", path: "messages[2]" },
      ],
    });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: " " }] },
      { role: "model", parts: [{ text: "Hello" }] },
      { role: "user", parts: [{ text: "<system>\nBe kind.\n</system>" }, { text: "hi" }] },
    ]);
    expect(notes).toEqual([
      "approximated messages[1]",
      `dropped ${at("messages[2]", "name")}`,
      "approximated messages",
    ]);
  });

  test("encodes invalid arguments, free text, refusals, and searches and blocks of other providers", () => {
    const { body, notes } = encode({
      dialect: "messages",
      turns: [
        user(text("go")),
        model(
          call("a", { input: '{"x":' }),
          call("b", { input: "free", custom: true }),
          { type: "refusal", text: "No.", path: "r" },
          { type: "server-tool-call", id: "s", name: "web_search", input: "{}", path: "s1" },
          { type: "native", dialect: "messages", name: "container_upload", raw: {}, path: "n1" },
        ),
      ],
    });
    expect((body["contents"] as JsonObject[])[1]).toEqual({
      role: "model",
      parts: [
        { functionCall: { id: "a", name: "f_a", args: {} } },
        { functionCall: { id: "b", name: "f_b", args: { input: "free" } } },
        { text: "No." },
      ],
    });
    expect(notes).toEqual(["approximated messages[1].a", "approximated messages[1].b", "dropped s1", "dropped n1"]);
  });

  test("encodes media by URL, by file and as text, with titles and contexts", () => {
    const media = (source: Extract<Part, { type: "media" }>["source"], more: Partial<Part> = {}): Part =>
      ({ type: "media", kind: "document", source, path: "d", ...more }) as Part;
    const partsOf = (part: Part, quirks = DEFAULT_GENAI_QUIRKS) => {
      const { body, notes } = encode({ turns: [user(text("x"), part)] }, { quirks });
      return { parts: (body["contents"] as { parts: JsonObject[] }[])[0]?.parts.slice(1), notes };
    };
    expect(partsOf(media({ type: "url", url: "https://e.com/a.PNG?x=1" }, { kind: "image" }))).toEqual({
      parts: [{ fileData: { mimeType: "image/png", fileUri: "https://e.com/a.PNG?x=1" } }],
      notes: [],
    });
    expect(partsOf(media({ type: "url", url: "https://e.com/a" }))).toEqual({
      parts: [{ fileData: { mimeType: "application/pdf", fileUri: "https://e.com/a" } }],
      notes: ["approximated d"],
    });
    expect(partsOf(media({ type: "url", url: "https://e.com/a.mp4" }, { kind: "video" }))).toEqual({
      parts: [],
      notes: ["dropped d"],
    });
    expect(partsOf(media({ type: "file", id: "file-1", origin: "elsewhere" }))).toEqual({
      parts: [],
      notes: ["dropped d"],
    });
    const plain = { ...DEFAULT_GENAI_QUIRKS, labels: false };
    expect(
      partsOf(media({ type: "text", text: "Words" }, { title: "T", context: "C", citations: true }), plain),
    ).toEqual({
      parts: [{ text: "C" }, { text: "T\n\nWords" }],
      notes: ["approximated d", `dropped ${at("d", "citations")}`, `approximated ${at("d", "context")}`],
    });
    const pdf = { type: "data", mimeType: "application/pdf", data: "aGk=" } as const;
    expect(partsOf(media(pdf, { title: "a.pdf" }), plain)).toEqual({
      parts: [{ inlineData: { mimeType: "application/pdf", data: "aGk=" } }],
      notes: [`dropped ${at("d", "title")}`],
    });
    expect(partsOf(media(pdf, { kind: "audio" }), { ...DEFAULT_GENAI_QUIRKS, media: ["image"] }).notes).toEqual([
      "dropped d",
    ]);
  });

  test("H05: arguments keep the order of keys that look like numbers", () => {
    const { body } = encode({ turns: [user(text("go")), model(call("a"))] });
    const [, answer] = body["contents"] as { parts: { functionCall: { args: object } }[] }[];
    // In memory such keys carry a mark. Only their order matters here.
    expect(Object.values(answer?.parts[0]?.functionCall.args ?? {})).toEqual([1, 2]);
  });
});

describe("encodeRequest: settings", () => {
  test("H72: a model that rejects penalties gets none, and ignores no setting silently", () => {
    const asked = { temperature: 0.2, topP: 0.5, presencePenalty: 1, frequencyPenalty: 1 };
    const { config, notes } = configOf(asked, {
      traits: { reasoning: false, rejectsSampling: true, rejectsPenalties: true },
    });
    expect(config).toBeUndefined();
    expect(notes.toSorted()).toEqual([
      "dropped frequencyPenalty",
      "dropped presencePenalty",
      "dropped temperature",
      "dropped topP",
    ]);
  });

  test("adjusts values to ranges and limits, and notes settings that the protocol lacks", () => {
    const { config, notes } = configOf(
      {
        temperature: 1,
        frequencyPenalty: 2,
        presencePenalty: -3,
        seed: 2 ** 40 + 5,
        stop: ["1", "2", "3", "4", "5", "6"],
        logprobs: 0,
        maxOutputTokens: 900,
        logitBias: { 1: 2 },
        verbosity: "low",
        userId: "u",
        candidateCount: 2,
        parallelTools: false,
        cache: { ttl: "1h" },
        toolChoice: { type: "auto" },
        paths: { stop: "stop", logitBias: "logit_bias" },
      },
      { traits: { reasoning: false, maxOutputTokens: 500 } },
    );
    expect(config).toEqual({
      temperature: 1,
      frequencyPenalty: 1.99,
      presencePenalty: -2,
      seed: 5,
      stopSequences: ["1", "2", "3", "4", "5"],
      responseLogprobs: true,
      maxOutputTokens: 500,
    });
    expect(notes.toSorted()).toEqual([
      "approximated frequencyPenalty",
      "approximated maxOutputTokens",
      "approximated presencePenalty",
      "approximated seed",
      "approximated stop",
      "dropped cache",
      "dropped candidateCount",
      "dropped logit_bias",
      "dropped parallelTools",
      "dropped userId",
      "dropped verbosity",
    ]);
  });

  test("settings that a model rejects are dropped and noted", () => {
    const traits = { reasoning: false, rejectsSampling: true, rejectsStop: true };
    expect(configOf({ temperature: 1, topP: 1, topK: 1, stop: ["a"] }, { traits })).toEqual({
      config: undefined,
      notes: ["dropped temperature", "dropped topP", "dropped topK", "dropped stop"],
    });
  });

  const pro = { reasoning: true, reasoningForm: "budget", budget: { min: 128, max: 32768, off: false } } as const;
  const flash = { reasoning: true, budget: { min: 0, max: 24576, off: true } } as const;
  const levels = { reasoning: true, reasoningForm: "level", efforts: ["low", "high"] } as const;
  test.each([
    [flash, "low", { thinkingBudget: 2048, includeThoughts: true }, []],
    [flash, "max", { thinkingBudget: 24576, includeThoughts: true }, ["approximated"]],
    [flash, "off", { thinkingBudget: 0 }, []],
    [flash, "dynamic", { thinkingBudget: -1, includeThoughts: true }, []],
    [pro, "off", { thinkingBudget: 128 }, ["approximated"]],
    [pro, { budget: 50 }, { thinkingBudget: 128, includeThoughts: true }, ["approximated"]],
    [levels, "high", { thinkingLevel: "HIGH", includeThoughts: true }, []],
    [levels, "medium", { thinkingLevel: "LOW", includeThoughts: true }, ["approximated"]],
    [levels, "xhigh", { thinkingLevel: "HIGH", includeThoughts: true }, ["approximated"]],
    [levels, "off", { thinkingLevel: "LOW" }, ["approximated"]],
    [levels, "dynamic", { includeThoughts: true }, []],
    [levels, { budget: 20000 }, { thinkingLevel: "HIGH", includeThoughts: true }, ["approximated"]],
    [{ reasoning: false }, "high", undefined, ["dropped"]],
    [{ reasoning: false }, "off", undefined, []],
  ] as const)("reasoning %j %j", (traits, amount, thinkingConfig, actions) => {
    const { config, notes } = configOf({ reasoning: { amount, path: "reasoning" } }, { traits });
    expect((config as JsonObject | undefined)?.["thinkingConfig"]).toEqual(thinkingConfig as JsonObject | undefined);
    expect(notes).toEqual(actions.map((action) => `${action} reasoning`));
  });

  test("a budget stays below the output limit, or is dropped if there is no room", () => {
    const reasoning = { amount: "high", path: "reasoning", show: false } as const;
    expect(configOf({ reasoning, maxOutputTokens: 4000 }, { traits: flash })).toEqual({
      config: { maxOutputTokens: 4000, thinkingConfig: { thinkingBudget: 3999, includeThoughts: false } },
      notes: ["approximated reasoning"],
    });
    const { config, notes } = configOf({ reasoning, maxOutputTokens: 1000 }, { traits: flash });
    expect(config).toMatchObject({ thinkingConfig: { thinkingBudget: 0 } });
    expect(notes).toEqual(["dropped reasoning"]);
  });

  test("one resolution applies to the whole request, and never lowers that of parts without one", () => {
    const image = (detail?: "low" | "high" | "auto"): Part =>
      ({
        type: "media",
        kind: "image",
        source: { type: "data", mimeType: "image/png", data: "" },
        path: `p${detail}`,
        ...(detail ? { detail } : {}),
      }) as Part;
    const of = (...parts: Part[]) => configOf({ turns: [user(...parts)] });
    expect(of(image("low"), image("high"), image())).toEqual({
      config: { mediaResolution: "MEDIA_RESOLUTION_HIGH" },
      notes: [`approximated ${at("plow", "detail")}`],
    });
    expect(of(image("low"))).toEqual({ config: { mediaResolution: "MEDIA_RESOLUTION_LOW" }, notes: [] });
    expect(of(image("low"), image("auto"))).toEqual({
      config: undefined,
      notes: [`approximated ${at("plow", "detail")}`],
    });
  });
});

describe("encodeRequest: tools and formats", () => {
  const schema = { $schema: "x", type: "object", properties: { a: { const: "k" } }, additionalProperties: false };
  const f = { type: "function", name: "f", schema, path: "tools[0]" } as const;

  test("H08: sends JSON Schema if the host accepts it, else lowers it; sends no empty parameters", () => {
    const declared = (jsonSchema: boolean, tools: CanonCall["tools"]) =>
      encode({ tools }, { quirks: { ...DEFAULT_GENAI_QUIRKS, jsonSchema } }).body["tools"];
    const { $schema: _dialect, ...plain } = schema;
    expect(declared(true, [f])).toEqual([{ functionDeclarations: [{ name: "f", parametersJsonSchema: plain }] }]);
    expect(declared(false, [f])).toEqual([
      {
        functionDeclarations: [
          { name: "f", parameters: { type: "OBJECT", properties: { a: { type: "STRING", enum: ["k"] } } } },
        ],
      },
    ]);
    const none = { ...f, schema: { type: "object", properties: {} } };
    expect(declared(false, [none])).toEqual([{ functionDeclarations: [{ name: "f" }] }]);
  });

  test("encodes custom tools, searches and tools of other providers", () => {
    const { body, notes } = encode({
      tools: [
        { type: "custom", name: "c", format: { type: "grammar" }, path: "tools[0]", extras: { own: 1 } },
        {
          type: "web-search",
          allowedDomains: ["a"],
          blockedDomains: ["b"],
          maxUses: 2,
          location: {},
          contextSize: "low",
          path: "tools[1]",
        },
        { type: "native", dialect: "messages", name: "bash", raw: {}, path: "tools[2]" },
        { ...f, strict: true, cache: { ttl: "1h" }, path: "tools[3]" },
      ],
      toolChoice: { type: "tool", name: "web_search" },
      paths: { toolChoice: "tool_choice" },
    });
    expect(body["tools"]).toMatchObject([
      { functionDeclarations: [{ name: "c", parametersJsonSchema: { required: ["input"] } }, { name: "f" }] },
    ]);
    expect(body["toolConfig"]).toBeUndefined();
    expect(notes).toEqual([
      "approximated tools[0]",
      `dropped ${at("tools[0]", "format")}`,
      "dropped tools[1]",
      "dropped tools[2]",
      `dropped ${at("tools[3]", "cache")}`,
      `dropped ${at("tools[3]", "strict")}`,
      "dropped tool_choice",
      "dropped tools[0].own",
    ]);
  });

  const search = { type: "web-search", blockedDomains: ["b"], path: "tools[1]" } as const;

  test("encodes a single search with all its settings", () => {
    const { body, notes } = encode({
      tools: [{ ...search, allowedDomains: ["a"], maxUses: 2, location: {}, contextSize: "low" }],
    });
    expect(body["tools"]).toEqual([{ googleSearch: { excludeDomains: ["b"] } }]);
    const lost = (["allowedDomains", "maxUses", "location", "contextSize"] as const).map((field) =>
      at("tools[1]", field),
    );
    expect(notes).toEqual(lost.map((path) => `dropped ${path}`));
  });

  test("a search is dropped next to functions, and on most models next to a schema", () => {
    const format = { type: "schema", schema: { type: "object" } } as const;
    expect(encode({ tools: [f, search] }).notes).toEqual(["dropped tools[1]"]);
    expect(encode({ tools: [search], format })).toMatchObject({
      body: { generationConfig: { responseMimeType: "application/json" } },
      notes: ["dropped tools[1]"],
    });
    const newest = { traits: { reasoning: true, schemaBesideTools: true } };
    expect(encode({ tools: [search], format }, newest).notes).toEqual([]);
  });

  test("next to functions, a forced call or an instruction replaces the response format on most models", () => {
    const newest = { traits: { reasoning: true, schemaBesideTools: true } };
    const format = { type: "schema", schema: { type: "object" } } as const;
    const paths = { format: "response_format" };
    const toolsOf = (more: Partial<CanonCall>) => encode({ tools: [f], format, paths, ...more }).body["toolConfig"];
    expect(encode({ tools: [f], format, paths })).toMatchObject({
      reading: { structuredTool: "answer" },
      notes: ["approximated response_format"],
    });
    expect(toolsOf({})).toEqual({ functionCallingConfig: { mode: "ANY" } });
    expect(toolsOf({ toolChoice: { type: "tool", name: "f" } })).toMatchObject({
      functionCallingConfig: { allowedFunctionNames: ["f"] },
    });
    expect(toolsOf({ toolChoice: { type: "none" } })).toMatchObject({
      functionCallingConfig: { allowedFunctionNames: ["answer"] },
    });
    expect(encode({ tools: [f], format, paths }, newest)).toMatchObject({ reading: {}, notes: [] });
    const json = encode({ tools: [f], format: { type: "json" }, paths });
    expect(json.body).not.toHaveProperty("generationConfig");
    expect(json.body["systemInstruction"]).toEqual({ parts: [{ text: "Answer with JSON only." }] });
    expect(json.notes).toEqual(["approximated response_format"]);
  });

  test("no tool choice is sent without functions", () => {
    const { body, notes } = encode({
      tools: [search],
      toolChoice: { type: "any" },
      paths: { toolChoice: "tool_choice" },
    });
    expect(body).not.toHaveProperty("toolConfig");
    expect(notes).toEqual(["dropped tool_choice"]);
  });

  test("encodes a forced choice among several functions", () => {
    const toolChoice = { type: "allowed", mode: "auto", names: ["f"] } as const;
    expect(encode({ tools: [f], toolChoice }).body["toolConfig"]).toEqual({
      functionCallingConfig: { mode: "VALIDATED", allowedFunctionNames: ["f"] },
    });
  });

  test("a forced call replaces the response schema on a model without schemas", () => {
    const format = { type: "schema", schema: { type: "array", items: {} } } as const;
    const traits = { reasoning: false, structuredOutput: false };
    const { body, reading, notes } = encode(
      { format, tools: [{ ...f, name: "answer" }], paths: { format: "response_format" } },
      { traits },
    );
    expect(reading).toEqual({ structuredTool: "answer_2", unwrapMember: "answer" });
    expect(body["toolConfig"]).toEqual({ functionCallingConfig: { mode: "ANY" } });
    expect(body["generationConfig"]).toBeUndefined();
    expect(notes).toEqual(["approximated response_format"]);
    expect(encode({ format }, { traits }).body["toolConfig"]).toEqual({
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["answer"] },
    });
  });

  test("labels are sent only to hosts that accept them", () => {
    const body = { contents: [{ role: "user", parts: [{ text: "a" }] }], labels: { a: "b" } };
    const quirks = { ...DEFAULT_GENAI_QUIRKS, labels: false };
    const encoded = encodeRequest(decodeRequest(body), context({ quirks }));
    expect(encoded.body["labels"]).toBeUndefined();
    expect(encoded.notes.map(({ path }) => path)).toEqual(["labels"]);
  });
});
