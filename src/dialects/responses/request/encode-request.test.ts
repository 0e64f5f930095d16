import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../base/cpu-time.sample.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { CanonCall, Turn } from "../../../canon/call.ts";
import type { Part } from "../../../canon/part.ts";
import type { Tool } from "../../../canon/tool.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import { chatCodec } from "../../chat/codec.ts";
import { DEFAULT_RESPONSES_QUIRKS, type ResponsesQuirks } from "../quirks.ts";
import { encodeRequest } from "./encode-request.ts";

interface Sent {
  body: JsonObject;
  input: JsonObject[];
  notes: readonly { path: string; action: string }[];
}

function send(call: CanonCall, quirks: Partial<ResponsesQuirks> = {}, traits: Partial<ModelTraits> = {}): Sent {
  const { body, notes } = encodeRequest(call, {
    upstreamModel: "m",
    stream: false,
    traits: { reasoning: true, ...traits },
    quirks: { ...DEFAULT_RESPONSES_QUIRKS, ...quirks },
    origin: "responses",
  });
  return { body, input: body["input"] as JsonObject[], notes };
}

const chat = (body: JsonObject): CanonCall =>
  chatCodec.decodeRequest({ messages: [{ role: "user", content: "q" }], ...body });

/** A conversation in the canon's form. */
function conversation(...turns: [Turn["role"], ...Part[]][]): CanonCall {
  const base = chat({});
  return { ...base, turns: turns.map(([role, ...parts], index) => ({ role, parts, path: `messages[${index}]` })) };
}

const text = (words: string): Part => ({ type: "text", text: words });
const called = (id: string): Part => ({ type: "tool-call", id, name: "look", input: "{}" });
const answered = (callId: string, ...content: Extract<Part, { type: "text" | "media" }>[]): Part => ({
  type: "tool-result",
  callId,
  content,
});

describe("requests of other dialects to a Responses host", () => {
  test("store nothing there, and request encrypted reasoning from reasoning models", () => {
    expect(send(chat({})).body).toEqual({
      model: "m",
      input: [{ type: "message", role: "user", content: "q" }],
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    expect(send(chat({}), {}, { reasoning: false }).body["include"]).toBeUndefined();
    expect(send(chat({}), { seals: false }).body["include"]).toBeUndefined();
  });

  test("contract 2.10: a partial answer is sent unchanged to a model that continues it, and with an instruction to others", () => {
    const begun = conversation(["user", text("Count.")], ["assistant", text("One, two")]);
    const last = (traits: Partial<ModelTraits>) => send(begun, {}, traits).input.at(-1)?.["role"];
    expect([last({}), last({ prefill: false }), last({ prefill: true })]).toEqual(["user", "user", "assistant"]);
  });

  test("instructions alone get an empty message, because hosts reject a request without input", () => {
    const input = [{ type: "message", role: "user", content: "" }];
    const instructed = chat({ messages: [{ role: "system", content: "Say hello." }] });
    expect(send(instructed).body).toMatchObject({ instructions: "Say hello.", input });
    expect(send(chat({ messages: [{ role: "system", content: "" }] })).input).toEqual(input);
  });

  test("R5: a tool that the host does not support is left out and noted", () => {
    const tools: Tool[] = [
      { type: "native", dialect: "responses", name: "local_shell", raw: { type: "local_shell" }, path: "tools[0]" },
      { type: "native", dialect: "messages", name: "bash", raw: { type: "bash" }, path: "tools[1]" },
    ];
    const { body, notes } = send({ ...chat({}), tools }, { toolTypes: ["function"] });
    expect(body["tools"]).toBeUndefined();
    expect(notes.map(({ path, action }) => [path, action])).toEqual([
      ["tools[0]", "dropped"],
      ["tools[1]", "dropped"],
    ]);
    expect(send({ ...chat({}), tools }).body["tools"]).toEqual([{ type: "local_shell" }]);
  });

  test("R7, R8: calls of one answer are one item each, and so are their results, in order", () => {
    const { input } = send(
      conversation(
        ["user", text("q")],
        ["assistant", text("a"), called("one"), called("two")],
        [
          "user",
          answered("one", { type: "text", text: "1" }),
          answered("two", { type: "text", text: "2" }),
          text("go on"),
        ],
      ),
    );
    expect(input.map((item) => [item["type"], item["call_id"] ?? item["role"]])).toEqual([
      ["message", "user"],
      ["message", "assistant"],
      ["function_call", "one"],
      ["function_call", "two"],
      ["function_call_output", "one"],
      ["function_call_output", "two"],
      ["message", "user"],
    ]);
  });

  test("R9: an id of more than 64 characters is shortened, the same on a call and its result", () => {
    const long = `${"x".repeat(1000)}1`;
    const other = `${"x".repeat(1000)}2`;
    const { input } = send(
      conversation(
        ["assistant", called(long), called(other), called("x".repeat(64))],
        ["user", answered(long), answered(other), answered("x".repeat(64))],
      ),
    );
    const ids = input.map((item) => String(item["call_id"]));
    expect(ids.slice(0, 3)).toEqual(ids.slice(3));
    expect(new Set(ids).size).toBe(3);
    expect(Math.max(...ids.map((id) => id.length))).toBe(64);
  });

  test("R10: an encrypted value returns with the id of its item, only to its origin", () => {
    const signature = { origin: "responses", kind: "encrypted", value: "gAAAAsealed", format: "#rs_1" } as const;
    const history = (origin: string) =>
      send(
        conversation(
          [
            "assistant",
            { type: "reasoning", text: "Hm.", summary: true, signature: { ...signature, origin } },
            text("a"),
          ],
          ["user", text("q")],
        ),
      );
    expect(history("responses").input[0]).toEqual({
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: "gAAAAsealed",
    });
    const foreign = history("messages");
    expect(foreign.input.map(({ type }) => type)).toEqual(["message", "message"]);
    expect(foreign.notes.length).toBeGreaterThan(0);
  });

  test("R11: thoughts never become text", () => {
    const call = conversation(["assistant", { type: "reasoning", text: "secret" }, text("a")], ["user", text("q")]);
    expect(JSON.stringify(send(call).body)).not.toContain("secret");
    const [thought] = send(call, { openReasoning: true }).input;
    expect(thought).toMatchObject({ type: "reasoning", content: [{ type: "reasoning_text", text: "secret" }] });
  });

  test("reasoning without the output that followed it is left out", () => {
    const signature = { origin: "responses", kind: "encrypted", value: "v", format: "#rs_1" } as const;
    const { input, notes } = send(
      conversation(["assistant", { type: "reasoning", text: "", signature }], ["user", text("q")]),
    );
    expect(input).toHaveLength(1);
    expect(notes).toHaveLength(1);
  });

  test("R14: a text result stays text, and one with an image has parts", () => {
    const image = { type: "data", mimeType: "image/png", data: "AAAA" } as const;
    const { input } = send(
      conversation(
        ["assistant", called("one"), called("two")],
        [
          "user",
          answered("one", { type: "text", text: "plain" }),
          answered("two", { type: "text", text: "see" }, { type: "media", kind: "image", source: image }),
        ],
      ),
    );
    expect(input[2]?.["output"]).toBe("plain");
    expect(input[3]?.["output"]).toEqual([
      { type: "input_text", text: "see" },
      { type: "input_image", image_url: "data:image/png;base64,AAAA" },
    ]);
  });

  test("R15: a system message within the conversation keeps its place", () => {
    const { body, input } = send(
      chat({
        messages: [
          { role: "system", content: "first" },
          { role: "user", content: "q" },
          { role: "developer", content: "later" },
        ],
      }),
    );
    expect(body["instructions"]).toBe("first");
    expect(input.map(({ role }) => role)).toEqual(["user", "system"]);
  });

  test("R16: a choice without tools is not sent", () => {
    const { body } = send({ ...chat({}), toolChoice: { type: "auto" }, parallelTools: false });
    expect("tool_choice" in body || "parallel_tool_calls" in body || "tools" in body).toBe(false);
  });

  test("R17: strict is always explicit, because hosts default to it, and an open schema is not strict", () => {
    const tool = (more: JsonObject): JsonObject => ({
      type: "function",
      function: { name: "look", parameters: { type: "object", properties: { a: { type: "string" } } }, ...more },
    });
    const strictOf = (more: JsonObject) =>
      (send(chat({ tools: [tool(more)] })).body["tools"] as JsonObject[]).map(({ strict }) => strict);
    expect(strictOf({})).toEqual([false]);
    expect(strictOf({ strict: true })).toEqual([false]);
    const closed = { type: "object", properties: { a: {} }, required: ["a"], additionalProperties: false };
    expect(strictOf({ strict: true, parameters: closed })).toEqual([true]);
  });

  test("R18: functions, tool choices and response schemas are flat", () => {
    const { body } = send(
      chat({
        tools: [
          {
            type: "function",
            function: { name: "look", description: "d", parameters: { type: "object", properties: {} } },
          },
        ],
        tool_choice: { type: "function", function: { name: "look" } },
        response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" }, strict: true } },
      }),
    );
    expect(body["tools"]).toEqual([
      {
        type: "function",
        name: "look",
        description: "d",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "function", name: "look" });
    expect(body["text"]).toEqual({
      format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true },
    });
  });

  test("R24: a limit below 16 is raised to 16 and noted", () => {
    const { body, notes } = send(chat({ max_completion_tokens: 5 }));
    expect(body["max_output_tokens"]).toBe(16);
    expect(notes).toMatchObject([{ path: "max_completion_tokens", action: "approximated" }]);
  });

  test("R25: settings that reasoning models reject are left out and noted", () => {
    const asked = chat({ temperature: 0.5, top_p: 0.5, seed: 7, stop: ["x"], frequency_penalty: 1 });
    const { body, notes } = send(asked, {}, { rejectsSampling: true });
    expect(Object.keys(body)).toEqual(["model", "input", "store", "include"]);
    expect(notes.map(({ path }) => path).sort()).toEqual(["frequency_penalty", "seed", "stop", "temperature", "top_p"]);
    expect(send(asked).body).toMatchObject({ temperature: 0.5, top_p: 0.5 });
  });

  test("R26: search settings that the host does not support are left out and noted", () => {
    const tools: Tool[] = [
      {
        type: "web-search",
        path: "tools[0]",
        allowedDomains: ["a.org"],
        contextSize: "low",
        location: { city: "Bern" },
      },
    ];
    expect(send({ ...chat({}), tools }).body["tools"]).toEqual([
      {
        type: "web_search",
        filters: { allowed_domains: ["a.org"] },
        user_location: { type: "approximate", city: "Bern" },
        search_context_size: "low",
      },
    ]);
    const narrow = send({ ...chat({}), tools }, { searchFields: ["filters"] });
    expect(narrow.body["tools"]).toEqual([{ type: "web_search", filters: { allowed_domains: ["a.org"] } }]);
    expect(narrow.notes).toHaveLength(2);
  });

  test("a custom tool keeps its grammar, or becomes a function that describes it", () => {
    const grammar = { syntax: "lark", definition: "start: /x/" };
    const asked = chat({
      tools: [{ type: "custom", custom: { name: "patch", format: { type: "grammar", grammar } } }],
    });
    expect(send(asked).body["tools"]).toEqual([
      { type: "custom", name: "patch", format: { type: "grammar", ...grammar } },
    ]);
    const [tool] = send(asked, { toolTypes: ["function"] }).body["tools"] as JsonObject[];
    expect(tool).toMatchObject({ type: "function", name: "patch", strict: false });
    expect(tool?.["description"]).toContain("start: /x/");
  });

  test("JSON is mentioned in the input, where hosts look for it", () => {
    const { input } = send(chat({ response_format: { type: "json_object" } }));
    expect(JSON.stringify(input)).toContain("JSON");
    expect(input).toHaveLength(2);
  });

  test("10,000 turns with ids of 1,000 characters are encoded quickly", () => {
    const turns = Array.from({ length: 5_000 }, (_, index): [Turn["role"], ...Part[]][] => {
      const id = `${"i".repeat(1_000)}${index}`;
      return [
        ["assistant", called(id)],
        ["user", answered(id)],
      ];
    });
    const startedMs = cpuMs();
    expect(send(conversation(...turns.flat())).input).toHaveLength(10_000);
    expect(cpuMs() - startedMs).toBeLessThan(2_000);
  });
});

describe("R30: a message's own fields", () => {
  const own = (words: string, extras: JsonObject): Part => ({ type: "text", text: words, extras });
  /** The messages of an answer that a Responses client returns. */
  const messages = (...parts: Part[]) => {
    const call = conversation(["user", text("q")], ["assistant", ...parts], ["user", text("and?")]);
    return send({ ...call, dialect: "responses" }).input.slice(1, -1);
  };

  test("are in an empty text before its others, which ends the preceding message", () => {
    const [first, second] = [own("", { phase: "commentary" }), own("", { phase: "final_answer" })];
    expect(messages(first, text("a"), second, text("b"))).toMatchObject([
      { role: "assistant", content: "a", phase: "commentary" },
      { role: "assistant", content: "b", phase: "final_answer" },
    ]);
  });

  test("neither an empty text without fields nor a text with words begins a message", () => {
    const both = [{ role: "assistant", content: [{ text: "a" }, { text: "b" }] }];
    expect(messages(text("a"), text(""), text("b"))).toMatchObject(both);
    const one = messages(text("a"), own("b", { phase: "commentary" }));
    expect(one).toMatchObject(both);
    expect(one[0]?.["phase"]).toBeUndefined();
  });
});

describe("H09: the name of a document", () => {
  const sentWith = (part: Part) => {
    const { input, notes } = send(conversation(["user", { ...part, path: "p" } as Part]));
    return { content: input[0]?.["content"], noted: notes.map(({ path }) => path) };
  };
  const data = { type: "data", mimeType: "application/pdf", data: "JVBERi0=" } as const;
  const url = { type: "url", url: "https://a.test/b.pdf" } as const;

  test("is sent with documents as data, and noted otherwise", () => {
    const named = sentWith({ type: "media", kind: "document", source: data, title: "b.pdf" });
    expect(named).toMatchObject({ content: [{ type: "input_file", filename: "b.pdf" }], noted: [] });
    const linked = sentWith({ type: "media", kind: "document", source: url, title: "b.pdf" });
    expect(linked.noted).toEqual(["p.file.filename"]);
    expect(sentWith({ type: "media", kind: "document", source: url }).noted).toEqual([]);
  });
});
