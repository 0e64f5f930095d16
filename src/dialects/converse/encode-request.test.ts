import { describe, expect, test } from "bun:test";
import type { CanonCall, Turn } from "../../canon/call.ts";
import type { Part } from "../../canon/part.ts";
import type { FunctionTool } from "../../canon/tool.ts";
import type { ModelTraits } from "../../canon/traits.ts";
import { FIELD_NAMES } from "../messages/request/field-names.ts";
import { DEFAULT_MEDIA_QUIRKS } from "../request/media-quirks.ts";
import { converseCodec } from "./codec.ts";

const turn = (role: Turn["role"], ...parts: Part[]): Turn => ({ role, parts, path: "turn" });
const text = (words: string): Part => ({ type: "text", text: words, path: "text" });
const user = (...parts: Part[]) => turn("user", ...parts);
const assistant = (...parts: Part[]) => turn("assistant", ...parts);

const BASE: CanonCall = {
  dialect: "messages",
  fieldNames: FIELD_NAMES,
  system: [],
  turns: [user(text("Hello"))],
  tools: [],
  paths: {},
  extras: [],
};

interface Target {
  origin?: string;
  traits?: Partial<ModelTraits>;
}

function encode(call: Partial<CanonCall>, { origin = "messages", traits = {} }: Target = {}) {
  const { body, notes, reading } = converseCodec.encodeRequest(
    { ...BASE, ...call },
    {
      upstreamModel: "m",
      stream: false,
      traits: { reasoning: true, ...traits },
      quirks: { ...DEFAULT_MEDIA_QUIRKS, media: ["image", "document", "video"], mediaUrls: [] },
      origin,
    },
  );
  return {
    body: body as Record<string, unknown>,
    reading,
    notes: notes.map(({ action, path }) => `${action} ${path}`),
  };
}

const messagesOf = (call: Partial<CanonCall>, target?: Target) =>
  encode(call, target).body["messages"] as { role: string; content: Record<string, unknown>[] }[];

const LOOK: FunctionTool = {
  type: "function",
  name: "look",
  description: "Looks",
  schema: { type: "object", properties: { at: { type: "string" } } },
  path: "tools[0]",
};

describe("providers 1.6: a request in Converse", () => {
  test("has system blocks, plain text and settings", () => {
    const { body, notes } = encode({
      system: [
        { type: "text", text: "Be brief", cache: { ttl: "1h" } },
        { type: "text", text: "" },
      ],
      maxOutputTokens: 100,
      temperature: 0.5,
      topK: 7,
      stop: ["END", "\n"],
      paths: { stop: "stop_sequences" },
    });
    expect(body).toEqual({
      system: [{ text: "Be brief" }, { cachePoint: { type: "default", ttl: "1h" } }],
      messages: [{ role: "user", content: [{ text: "Hello" }] }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ["END"] },
      additionalModelRequestFields: { top_k: 7 },
      additionalModelResponseFieldPaths: ["/stop_sequence", "/delta/stop_sequence"],
    });
    expect(notes).toEqual(["dropped stop_sequences"]);
  });

  test("H09: notes what the protocol or the model does not accept", () => {
    const { body, notes } = encode(
      {
        temperature: 1.7,
        topP: 0.5,
        seed: 0,
        presencePenalty: 0,
        frequencyPenalty: 1,
        logprobs: 0,
        userId: "u",
        candidateCount: 2,
        parallelTools: false,
        maxOutputTokens: 9000,
        topK: 3,
        cache: {},
        extras: [{ keys: ["container"], value: "c" }],
        paths: { temperature: "temperature", userId: "metadata.user_id" },
      },
      { origin: "other-host", traits: { maxOutputTokens: 5000 } },
    );
    expect(body["inferenceConfig"]).toEqual({ maxTokens: 5000, temperature: 1, topP: 0.5 });
    expect(body["additionalModelRequestFields"]).toBeUndefined();
    expect(notes.sort()).toEqual([
      "approximated max_tokens",
      "approximated temperature",
      "dropped cache",
      "dropped candidateCount",
      "dropped container",
      "dropped frequencyPenalty",
      "dropped logprobs",
      "dropped metadata.user_id",
      "dropped parallel_tool_calls",
      "dropped seed",
      "dropped top_k",
    ]);
    expect(encode({ temperature: 1, topP: 0.5 }).body["inferenceConfig"]).toEqual({ temperature: 1 });
    expect(encode({ temperature: 0, stop: ["x"] }, { traits: { rejectsSampling: true, rejectsStop: true } })).toEqual({
      body: { messages: [{ role: "user", content: [{ text: "Hello" }] }] },
      reading: {},
      notes: ["dropped temperature", "dropped stop"],
    });
  });

  test("roles alternate: turns of one role are one message, blank text is left out, a late system text is in tags", () => {
    const turns = [
      user(text("one")),
      user(text(""), text("two")),
      assistant(text("  \n")),
      turn("system", text("Now rhyme")),
      assistant({ type: "refusal", text: "No." }),
    ];
    expect(messagesOf({ turns })).toEqual([
      { role: "user", content: [{ text: "one" }, { text: "two" }, { text: "<system>Now rhyme</system>" }] },
      { role: "assistant", content: [{ text: "No." }] },
    ]);
  });
});

describe("tools (H03, H05)", () => {
  const CALL = (id: string, input: string): Part => ({
    type: "tool-call",
    id,
    name: "look",
    input,
    path: `call ${id}`,
  });

  test("calls, results with status and media, results first and together, ids that fit on both sides", () => {
    const long = "call:of.another/host";
    const messages = messagesOf({
      tools: [{ ...LOOK, cache: {} }],
      turns: [
        user(text("Go")),
        assistant(CALL("a", '{"10":1,"2":{"x":2}}'), CALL(long, "")),
        user(
          text("And?"),
          { type: "tool-result", callId: "a", content: [{ type: "text", text: "sunny" }], isError: true },
          {
            type: "tool-result",
            callId: long,
            content: [
              { type: "text", text: '{"ok":true}' },
              { type: "media", kind: "image", source: { type: "data", mimeType: "image/png", data: "AAAA" } },
            ],
            response: { ok: true },
          },
        ),
      ],
    });
    const ids = (messages[1]?.content ?? []).map((block) => (block["toolUse"] as { toolUseId: string }).toolUseId);
    expect(ids[0]).toBe("a");
    expect(ids[1]).toMatch(/^tooluse_\w{13}$/);
    expect(messages[2]?.content).toEqual([
      { toolResult: { toolUseId: "a", content: [{ text: "sunny" }], status: "error" } },
      {
        toolResult: {
          toolUseId: ids[1],
          content: [{ json: { ok: true } }, { image: { format: "png", source: { bytes: "AAAA" } } }],
        },
      },
      { text: "And?" },
    ]);
  });

  test("declarations, choices, and settings that a model lacks", () => {
    const choose = (toolChoice: NonNullable<CanonCall["toolChoice"]>, more: Partial<CanonCall> = {}) =>
      encode({ tools: [LOOK, { ...LOOK, name: "find" }], toolChoice, ...more });
    const config = (encoded: ReturnType<typeof encode>) => encoded.body["toolConfig"] as Record<string, unknown>;
    expect(config(choose({ type: "auto" }))["toolChoice"]).toEqual({ auto: {} });
    expect(config(choose({ type: "any" }))["toolChoice"]).toEqual({ any: {} });
    expect(config(choose({ type: "tool", name: "find" }))["toolChoice"]).toEqual({ tool: { name: "find" } });
    const none = choose({ type: "none" });
    expect(config(none)).toBeUndefined();
    expect(none.notes.every((note) => note.startsWith("approximated "))).toBe(true);
    const allowed = choose({ type: "allowed", mode: "any", names: ["find"] });
    expect(config(allowed)).toMatchObject({ tools: [{ toolSpec: { name: "find" } }], toolChoice: { any: {} } });
    expect(allowed.notes).toEqual(["approximated tool_choice"]);

    const { body, notes } = encode(
      {
        tools: [
          { type: "function", name: "bare", strict: true, path: "tools[0]", cache: { ttl: "1h" } },
          { type: "web-search", path: "tools[1]" },
          { type: "custom", name: "free", path: "tools[2]" },
        ],
      },
      { origin: "other-host" },
    );
    expect(body["toolConfig"]).toEqual({
      tools: [
        { toolSpec: { name: "bare", inputSchema: { json: { type: "object", properties: {} } } } },
        {
          toolSpec: {
            name: "free",
            inputSchema: { json: { type: "object", properties: { input: { type: "string" } }, required: ["input"] } },
          },
        },
      ],
    });
    expect(notes.sort()).toEqual([
      "approximated tools[2]",
      "dropped tools[0].cache_control",
      "dropped tools[0].strict",
      "dropped tools[1]",
    ]);
    const strict = encode({ tools: [{ ...LOOK, strict: true, cache: {} }] }, { traits: { structuredOutput: true } });
    expect(strict.body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { strict: true } }, { cachePoint: { type: "default" } }],
    });
  });

  test("tools used in the history are declared if the request has none", () => {
    const history = [
      user(text("Go")),
      assistant(CALL("a", "{}")),
      user({ type: "tool-result", callId: "a", content: [] }),
    ];
    const bare = encode({ turns: history });
    expect(bare.body["toolConfig"]).toEqual({
      tools: [{ toolSpec: { name: "look", inputSchema: { json: { type: "object", properties: {} } } } }],
    });
    expect(bare.notes).toEqual(["approximated tools"]);
    const none = encode({ turns: history, tools: [LOOK], toolChoice: { type: "none" } });
    expect(none.body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { name: "look" } }],
      toolChoice: { auto: {} },
    });
    expect(none.notes).toEqual(["approximated tool_choice"]);
  });

  test("malformed arguments, and calls with free text", () => {
    const custom: Part = { type: "tool-call", id: "b", name: "free", input: "SELECT 1", custom: true, path: "p" };
    const { body, notes } = encode({
      tools: [LOOK],
      turns: [user(text("Go")), assistant(CALL("a", '{"at":'), custom)],
    });
    expect((body["messages"] as unknown[])[1]).toEqual({
      role: "assistant",
      content: [
        { toolUse: { toolUseId: "a", name: "look", input: {} } },
        { toolUse: { toolUseId: "b", name: "free", input: { input: "SELECT 1" } } },
      ],
    });
    expect(notes).toEqual(["approximated call a", "approximated p"]);
  });
});

describe("media and documents", () => {
  const media = (part: object): Part => ({ type: "media", path: "m", ...part }) as Part;
  const data = (mimeType: string) => ({ type: "data", mimeType, data: "AAAA" });

  test("images, videos and documents are sent as bytes, with unique names that follow the host's rules", () => {
    const { body, notes } = encode({
      turns: [
        user(
          media({ kind: "image", source: data("image/jpeg"), detail: "high" }),
          media({ kind: "video", source: data("video/mp4"), clip: { fps: 1 } }),
          media({ kind: "document", source: data("application/pdf"), title: "Q3 – report_v2.pdf", citations: true }),
          media({ kind: "document", source: { type: "text", text: "words" }, title: "notes (1)", context: "mine" }),
          media({ kind: "document", source: { type: "parts", parts: [text("a"), text("b")] }, title: "notes (1)" }),
          media({ kind: "document", source: data("text/x-log; charset=utf-8") }),
        ),
      ],
    });
    expect((body["messages"] as { content: unknown }[])[0]?.content).toEqual([
      { image: { format: "jpeg", source: { bytes: "AAAA" } } },
      { video: { format: "mp4", source: { bytes: "AAAA" } } },
      {
        document: {
          format: "pdf",
          name: "Q3 - report-v2-pdf",
          source: { bytes: "AAAA" },
          citations: { enabled: true },
        },
      },
      { document: { format: "txt", name: "notes (1)", source: { text: "words" }, context: "mine" } },
      { document: { format: "txt", name: "notes (1) (2)", source: { content: [{ text: "a" }, { text: "b" }] } } },
      { document: { format: "txt", name: "document", source: { bytes: "AAAA" } } },
      { text: "(See the document.)" },
    ]);
    expect(notes).toEqual([
      "dropped m.detail",
      "dropped m.clip",
      "approximated m.title",
      "approximated m.title",
      "approximated messages",
    ]);
  });

  test("media that the host does not accept is left out and noted", () => {
    const { body, notes } = encode({
      turns: [
        user(
          text("Look"),
          media({ kind: "audio", source: data("audio/wav"), path: "audio" }),
          media({ kind: "image", source: data("image/tiff"), path: "tiff" }),
          media({ kind: "image", source: { type: "url", url: "https://x/y.png" }, path: "url" }),
          media({ kind: "document", source: { type: "file", id: "f", origin: "o" }, path: "file" }),
          { type: "native", dialect: "messages", name: "container_upload", raw: {}, path: "native" },
        ),
        assistant(text("Yes"), media({ kind: "image", source: data("image/png"), path: "own" })),
      ],
    });
    expect(body["messages"]).toEqual([
      { role: "user", content: [{ text: "Look" }] },
      { role: "assistant", content: [{ text: "Yes" }] },
    ]);
    expect(notes).toEqual(["audio", "tiff", "url", "file", "native", "own"].map((path) => `dropped ${path}`));
  });

  test("media in a tool result moves after it if the model does not accept it there", () => {
    const image = media({ kind: "image", source: data("image/png"), path: "pic" }) as Extract<Part, { type: "media" }>;
    const call: Partial<CanonCall> = {
      tools: [LOOK],
      turns: [user({ type: "tool-result", callId: "a", content: [image] })],
    };
    const moved = encode(call, { traits: { mediaInToolResults: false } });
    expect(moved.body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "a", content: [] } },
          { image: { format: "png", source: { bytes: "AAAA" } } },
        ],
      },
    ]);
    expect(moved.notes).toEqual(["approximated pic"]);
  });

  test("citations and search results go to the family's own models", () => {
    const cited: Part = {
      type: "text",
      text: "So it is.",
      path: "t",
      citations: [
        { type: "document", unit: "page", documentIndex: 1, from: 2, to: 3, citedText: "it is", title: "Facts" },
        { type: "search-result", source: "s", resultIndex: 0, fromBlock: 0, toBlock: 1 },
      ],
    };
    const found: Part = {
      type: "search-result",
      source: "https://x",
      title: "X",
      content: [{ type: "text", text: "x is y" }],
      citations: true,
      path: "s",
    };
    const turns = [user(found, text("?")), assistant(cited)];
    expect(messagesOf({ turns }).map(({ content }) => content[0])).toEqual([
      {
        searchResult: {
          source: "https://x",
          title: "X",
          content: [{ text: "x is y" }],
          citations: { enabled: true },
        },
      },
      {
        citationsContent: {
          content: [{ text: "So it is." }],
          citations: [
            {
              title: "Facts",
              sourceContent: [{ text: "it is" }],
              location: { documentPage: { documentIndex: 1, start: 2, end: 3 } },
            },
            { source: "s", location: { searchResultLocation: { searchResultIndex: 0, start: 0, end: 1 } } },
          ],
        },
      },
    ]);
    const other = encode({ turns }, { origin: "other-host" });
    expect((other.body["messages"] as { content: unknown[] }[]).map(({ content }) => content[0])).toEqual([
      { text: "X\nhttps://x\nx is y" },
      { text: "So it is." },
    ]);
    expect(other.notes).toEqual(["approximated s", "dropped t.citations"]);
  });
});

describe("caching (H04)", () => {
  const marked: Part = { type: "text", text: "long", cache: { ttl: "5m" }, path: "t" };

  test("marks become points after their blocks, also in results, and the whole prompt's mark goes last", () => {
    const result: Part = {
      type: "tool-result",
      callId: "a",
      content: [{ type: "text", text: "r", cache: {} }],
    };
    const turns = [user(result, marked, text("end"))];
    expect(messagesOf({ turns, tools: [LOOK], cache: { ttl: "1h" } })[0]?.content).toEqual([
      { toolResult: { toolUseId: "a", content: [{ text: "r" }] } },
      { cachePoint: { type: "default" } },
      { text: "long" },
      { cachePoint: { type: "default" } },
      { text: "end" },
      { cachePoint: { type: "default" } },
    ]);
    expect(messagesOf({ turns: [user(marked)], cache: {} })[0]?.content).toHaveLength(2);
  });

  test("a mark on text that is left out moves to the preceding block, if there is one", () => {
    const system = (words: string) => ({ type: "text" as const, text: words, cache: {} });
    expect(encode({ system: [system(" ")] }).body["system"]).toBeUndefined();
    expect(encode({ system: [system("long"), system(" ")] }).body["system"]).toEqual([
      { text: "long" },
      { cachePoint: { type: "default" } },
    ]);
  });

  test("a model that rejects marks gets none", () => {
    const { body, notes } = encode({ turns: [user(marked)] }, { origin: "other-host" });
    expect(JSON.stringify(body)).not.toContain("cachePoint");
    expect(notes).toEqual(["dropped t.cache_control"]);
  });
});

describe("reasoning (H01, H02)", () => {
  const opaque = (origin: string, kind: "signature" | "redacted", value = "c2ln") => ({ origin, kind, value });
  const desired = (amount: NonNullable<CanonCall["reasoning"]>["amount"], show?: boolean) => ({
    reasoning: {
      path: "thinking",
      ...(amount === undefined ? {} : { amount }),
      ...(show === undefined ? {} : { show }),
    },
  });
  const fieldsOf = (call: Partial<CanonCall>, target?: Target) => {
    const { body, notes } = encode(call, target);
    return { fields: body["additionalModelRequestFields"], config: body["inferenceConfig"], notes };
  };

  test("signed and redacted blocks return to their origin, and all others are left out and noted", () => {
    const parts: Part[] = [
      { type: "reasoning", text: "hm", signature: opaque("messages", "signature"), path: "r0" },
      { type: "reasoning", text: "", signature: opaque("messages", "signature", "empty"), path: "r1" },
      { type: "reasoning", text: "", signature: opaque("messages", "redacted", "EuYB/w=="), path: "r2" },
      { type: "reasoning", text: "foreign", signature: opaque("genai", "signature"), path: "r3" },
      { type: "reasoning", text: "unsigned", path: "r4" },
      { type: "text", text: "Hi", signature: opaque("genai", "signature"), path: "r5" },
    ];
    const { body, notes } = encode({ turns: [user(text("?")), assistant(...parts)] });
    expect((body["messages"] as { content: unknown }[])[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "hm", signature: "c2ln" } } },
      { reasoningContent: { reasoningText: { text: "", signature: "empty" } } },
      { reasoningContent: { redactedContent: Buffer.from("EuYB/w==").toString("base64") } },
      { text: "Hi" },
    ]);
    expect(notes).toEqual(["dropped r3", "dropped r4", "dropped r5.signature"]);
  });

  test("mapping 1: a budget stays within its bounds and leaves room for the answer", () => {
    const budget = (tokens: number) => ({ thinking: { type: "enabled", budget_tokens: tokens } });
    expect(fieldsOf({ ...desired("high"), maxOutputTokens: 20000 })).toEqual({
      fields: budget(16384),
      config: { maxTokens: 20000 },
      notes: [],
    });
    expect(fieldsOf(desired({ budget: 2000 }))).toMatchObject({ fields: budget(2000), config: { maxTokens: 6096 } });
    expect(fieldsOf(desired("low"), { traits: { maxOutputTokens: 64000 } }).config).toEqual({ maxTokens: 64000 });
    expect(fieldsOf({ ...desired("high"), maxOutputTokens: 4000 })).toEqual({
      fields: budget(3999),
      config: { maxTokens: 4000 },
      notes: ["approximated thinking"],
    });
    expect(fieldsOf({ ...desired("high"), maxOutputTokens: 900 })).toEqual({
      fields: undefined,
      config: { maxTokens: 900 },
      notes: ["dropped thinking"],
    });
    expect(fieldsOf(desired("off"))).toEqual({ fields: undefined, config: undefined, notes: [] });
    const always = { traits: { budget: { min: 2000, max: 8000, off: false } } };
    expect(fieldsOf(desired("off"), always)).toMatchObject({ fields: budget(2000), notes: ["approximated thinking"] });
    expect(fieldsOf(desired("max"), always)).toMatchObject({ fields: budget(8000), notes: ["approximated thinking"] });
    expect(fieldsOf(desired("high"), { traits: { reasoning: false } })).toEqual({
      fields: undefined,
      config: undefined,
      notes: ["dropped thinking"],
    });
    expect(fieldsOf({ ...desired("low"), temperature: 0.3, topP: 1, topK: 4 }).notes).toEqual([
      "dropped temperature",
      "dropped top_p",
      "dropped top_k",
    ]);
  });

  test("an effort is sent with adaptive thinking, or alone", () => {
    const adaptive: Target = {
      traits: { reasoningForm: "adaptive", efforts: ["off", "low", "medium", "high", "max"] },
    };
    expect(fieldsOf(desired("high"), adaptive)).toMatchObject({
      fields: { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
      notes: [],
    });
    expect(fieldsOf(desired("xhigh", false), adaptive)).toMatchObject({
      fields: { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "high" } },
      notes: ["approximated thinking"],
    });
    expect(fieldsOf({ ...desired("dynamic"), dialect: "chat" }, adaptive).fields).toEqual({
      thinking: { type: "adaptive", display: "summarized" },
    });
    expect(fieldsOf(desired("off"), adaptive).fields).toEqual({ thinking: { type: "disabled" } });
    const effort: Target = { origin: "other-host", traits: { reasoningForm: "effort", efforts: ["low", "high"] } };
    expect(fieldsOf(desired("medium"), effort)).toMatchObject({
      fields: { reasoning_effort: "low" },
      notes: ["approximated thinking"],
    });
    expect(fieldsOf(desired("high"), effort)).toMatchObject({ fields: { reasoning_effort: "high" }, notes: [] });
  });

  test("contract 2.12, H09: a client that sets no amount, or only wants to see thoughts, gets a model that thinks", () => {
    const effort: Target = { origin: "other-host", traits: { reasoningForm: "effort" } };
    for (const asked of [desired("dynamic"), desired(undefined, true)]) {
      expect(fieldsOf(asked, effort)).toMatchObject({
        fields: { reasoning_effort: "medium" },
        notes: ["approximated thinking"],
      });
      expect(fieldsOf(asked).fields).toMatchObject({ thinking: { type: "enabled" } });
    }
    expect(fieldsOf(desired(undefined, false), effort).fields).toBeUndefined();
  });

  test("thinking is off where the host would reject it: forced calls, a partial answer, calls that another model made", () => {
    const forced = fieldsOf({ ...desired("high"), tools: [LOOK], toolChoice: { type: "any" } });
    expect(forced).toMatchObject({ fields: undefined, notes: ["dropped thinking"] });
    expect(fieldsOf({ ...desired("high"), turns: [user(text("?")), assistant(text("It"))] }).notes).toEqual([
      "dropped thinking",
    ]);
    const call: Part = { type: "tool-call", id: "a", name: "look", input: "{}" };
    const loop = (...before: Part[]) => ({
      ...desired("high"),
      tools: [LOOK],
      turns: [user(text("?")), assistant(...before, call), user({ type: "tool-result", callId: "a", content: [] })],
    });
    expect(fieldsOf(loop())).toMatchObject({ fields: undefined, notes: ["dropped thinking"] });
    const own: Part = { type: "reasoning", text: "hm", signature: opaque("messages", "signature") };
    expect(fieldsOf(loop(own))).toMatchObject({ fields: { thinking: { type: "enabled" } }, notes: [] });
    expect(fieldsOf(loop(), { traits: { reasoningForm: "adaptive" } }).fields).toMatchObject({
      thinking: { type: "adaptive" },
    });
  });
});

describe("structured output", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const format = { type: "schema", schema, name: "form" } as const;

  test("a forced tool replaces a schema, as one of the client's tools if there are any", () => {
    const alone = encode({ format, reasoning: { amount: "high", path: "thinking" } });
    expect(alone.body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { name: "answer", inputSchema: { json: schema } } }],
      toolChoice: { tool: { name: "answer" } },
    });
    expect(alone.reading).toEqual({ structuredTool: "answer" });
    expect(alone.notes).toEqual(["approximated format", "dropped thinking"]);
    const beside = encode({ format: { ...format, schema: { type: "array" } }, tools: [{ ...LOOK, name: "answer" }] });
    expect(beside.body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { name: "answer" } }, { toolSpec: { name: "answer_2" } }],
      toolChoice: { any: {} },
    });
    expect(beside.reading).toEqual({ structuredTool: "answer_2", unwrapMember: "answer" });
  });

  test("a model that supports schemas gets it and may reason, and JSON without a schema is requested in the prompt", () => {
    const native = encode({ format }, { traits: { structuredOutput: true } });
    expect(native.body["additionalModelRequestFields"]).toEqual({
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(native.reading).toEqual({});
    expect(native.notes).toEqual([]);
    const words = encode({ format: { type: "json" } });
    expect(words.body["system"]).toEqual([{ text: expect.stringContaining("JSON") }]);
    expect(words.notes).toEqual(["approximated format"]);
  });

  test("law 8: encoding does not change its input", () => {
    const call = structuredClone({ ...BASE, format, tools: [LOOK] });
    const before = JSON.stringify(call);
    expect(JSON.stringify(encode(call))).toBe(JSON.stringify(encode(call)));
    expect(JSON.stringify(call)).toBe(before);
  });
});

describe("what hosts reject", () => {
  const call = (id: string): Part => ({ type: "tool-call", id, name: "look", input: "{}" });
  const result = (callId: string): Part => ({ type: "tool-result", callId, content: [{ type: "text", text: "r" }] });
  const thought: Part = {
    type: "reasoning",
    text: "hm",
    signature: { origin: "messages", kind: "signature", value: "s" },
  };

  test("a conversation without text", () => {
    expect(messagesOf({ turns: [user(text(""))] })).toEqual([{ role: "user", content: [{ text: "." }] }]);
  });

  test("a choice of a tool that is not a function", () => {
    const toolChoice = { type: "tool", name: "web_search" } as const;
    const { body, notes } = encode({ tools: [LOOK], toolChoice });
    expect(body["toolConfig"]).not.toHaveProperty("toolChoice");
    expect(notes).toEqual(["dropped tool_choice"]);
    const format = { type: "schema", schema: { type: "object" } } as const;
    expect(encode({ tools: [LOOK], toolChoice, format }).body["toolConfig"]).toMatchObject({ toolChoice: { any: {} } });
  });

  test("a final assistant message, if the model does not continue it", () => {
    const turns = [user(text("Write.")), assistant(text("Autumn "))];
    const { body, notes } = encode({ turns }, { traits: { prefill: false } });
    const messages = body["messages"] as { role: string }[];
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(notes).toContain("approximated turn");
    expect(messagesOf({ turns }, { traits: { prefill: true } })).toHaveLength(2);
  });

  test("H01: thoughts before the first call of a turn allow the turn to continue with thinking", () => {
    const thinks = (...turns: Turn[]) =>
      encode({ turns, tools: [LOOK], reasoning: { amount: "low", path: "thinking" } }).body[
        "additionalModelRequestFields"
      ] !== undefined;
    const loop = [user(result("1")), assistant(call("2")), user(result("2"))];
    expect(thinks(user(text("a")), assistant(thought, call("1")), ...loop)).toBe(true);
    expect(thinks(user(text("a")), assistant(call("1")), ...loop)).toBe(false);
  });
});
