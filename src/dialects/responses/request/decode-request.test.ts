import { describe, expect, test } from "bun:test";
import { EVERY_TARGET, TARGETS, translate } from "../../../../testing/translate-sample.ts";
import type { JsonObject } from "../../../base/json.ts";
import { wrapOpaque } from "../../../canon/opaque.ts";
import { wrapCarrier } from "../../request/carriers.ts";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { encodeResponse } from "../answer/encode-response.ts";
import { STOPPED } from "../stream.sample.ts";
import { decodeRequest } from "./decode-request.ts";

const decode = (input: unknown, more: JsonObject = {}) => decodeRequest({ model: "acme/one", input, ...more });
const asked = { role: "user", content: "Hello" };
const call = (call_id: string, more: JsonObject = {}) => ({
  type: "function_call",
  call_id,
  name: "look",
  arguments: "{}",
  ...more,
});
const output = (call_id: string, given: unknown = "seen") => ({ type: "function_call_output", call_id, output: given });
const kinds = ({ turns }: ReturnType<typeof decode>) =>
  turns.map(({ role, parts }) => `${role}: ${parts.map(({ type }) => type).join(" ")}`);

describe("R4: every form of input that clients send", () => {
  test("a bare string is a user message", () => {
    expect(decode("Hello").turns).toEqual([
      { role: "user", parts: [{ type: "text", text: "Hello", path: "input" }], path: "input" },
    ]);
  });

  test("messages can lack a type, have a string as content, and have ids and statuses or not", () => {
    const call = decode([
      asked,
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Hi" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go on" }] },
    ]);
    expect(kinds(call)).toEqual(["user: text", "assistant: text", "user: text"]);
    expect(call.extras).toEqual([]);
  });

  test("reasoning can have content null and no id", () => {
    const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], content: null };
    expect(kinds(decode([asked, reasoning, { role: "assistant", content: "Hi" }, asked]))).toEqual([
      "user: text",
      "assistant: reasoning text",
      "user: text",
    ]);
  });
});

describe("R8: consecutive output of the model is one answer", () => {
  const history = [
    asked,
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
    call("a"),
    call("b"),
    output("a"),
    output("b"),
    call("c"),
    output("c"),
    asked,
  ];

  test("with its reasoning, and the results of its calls are one turn", () => {
    expect(kinds(decode(history))).toEqual([
      "user: text",
      "assistant: reasoning tool-call tool-call",
      "user: tool-result tool-result",
      "assistant: tool-call",
      "user: tool-result",
      "user: text",
    ]);
  });

  test("so that chat and messages providers get one message with both calls", async () => {
    const chat = (await translate("responses", { model: "m", input: history }, TARGETS.chat)).body;
    const called = (chat["messages"] as JsonObject[]).filter((message) => message["tool_calls"] !== undefined);
    expect(called.map((message) => (message["tool_calls"] as unknown[]).length)).toEqual([2, 1]);
    const messages = (await translate("responses", { model: "m", input: history }, TARGETS.messages)).body;
    const roles = (messages["messages"] as JsonObject[]).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "user", "assistant", "user"]);
  });
});

describe("R5: tools of unknown kinds never fail a call", () => {
  const tools = [{ type: "function", name: "look" }, { type: "shell" }, { type: "brand_new", depth: 3 }];
  test.each(EVERY_TARGET.filter(({ dialect }) => dialect !== "responses"))(
    "at $name they are left out and noted",
    async (target) => {
      const { body, notes } = await translate("responses", { model: "m", input: "Hello", tools }, target);
      expect(JSON.stringify(body)).toContain("look");
      expect(JSON.stringify(body)).not.toContain("brand_new");
      expect(notes.filter(({ action }) => action === "dropped").map(({ path }) => path)).toEqual([
        "tools[1]",
        "tools[2]",
      ]);
    },
  );
});

describe("R6: tools of a namespace", () => {
  const tools = [
    {
      type: "namespace",
      name: "agents",
      description: "Other agents.",
      tools: [
        { type: "function", name: "spawn" },
        { type: "custom", name: "tell" },
      ],
    },
  ];

  test("are flattened in the list, in the choice and in the history", () => {
    const decoded = decode([asked, call("a", { namespace: "agents", name: "spawn" }), output("a")], {
      tools,
      tool_choice: { type: "function", namespace: "agents", name: "spawn" },
    });
    expect(decoded.tools).toMatchObject([
      { type: "function", name: "agents__spawn", description: "Other agents.", path: "tools[0].tools[0]" },
      { type: "custom", name: "agents__tell" },
    ]);
    expect(decoded.toolChoice).toEqual({ type: "tool", name: "agents__spawn" });
    expect(decoded.turns[1]?.parts).toMatchObject([{ type: "tool-call", name: "agents__spawn" }]);
  });

  test("get another name if the flat one is taken", () => {
    const decoded = decode("Hello", { tools: [...tools, { type: "function", name: "agents__spawn" }] });
    const names = decoded.tools.map((tool) => ("name" in tool ? tool.name : ""));
    expect(new Set(names).size).toBe(3);
  });
});

describe("reasoning returns to its creator", () => {
  test("R10: an encrypted value of this protocol keeps the id that it is bound to", () => {
    const sealed = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAsealed" };
    expect(decode([asked, sealed, call("a")]).turns[1]?.parts[0]).toMatchObject({
      type: "reasoning",
      signature: { origin: "responses", kind: "encrypted", value: "gAAAAsealed", format: "#rs_1" },
    });
  });

  test("R11: thoughts never become text, whatever their encrypted value starts with", async () => {
    const thought = {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "SECRET" }],
      encrypted_content: "gAAAA",
    };
    for (const target of [TARGETS.messages, TARGETS.genai]) {
      const { body } = await translate(
        "responses",
        { model: "m", input: [asked, thought, { role: "assistant", content: "Hi" }, asked] },
        target,
      );
      expect(JSON.stringify(body)).not.toContain("SECRET");
    }
  });

  test("a value of another family is unwrapped with its text, and is not a summary", () => {
    const signature = { origin: "messages", kind: "signature", value: "c2ln" } as const;
    const item = {
      type: "reasoning",
      id: "rs_x",
      summary: [{ type: "summary_text", text: "Hm." }],
      encrypted_content: wrapOpaque(signature),
    };
    expect(decode([asked, item, call("a")]).turns[1]?.parts[0]).toEqual({
      type: "reasoning",
      text: "Hm.",
      signature,
      path: "input[1]",
    });
  });

  test("the signature of a call or text is in a separate item, and returns to where it belongs", () => {
    const signature = { origin: "genai", kind: "signature", value: "c2ln" } as const;
    const carrier = (position: "next-call" | "text") => ({
      type: "reasoning",
      id: "rs_x",
      summary: [],
      encrypted_content: wrapCarrier({ position, signature }),
    });
    const said = { role: "assistant", content: "Hi" };
    const [, first] = decode([asked, said, carrier("text"), carrier("next-call"), call("a")]).turns;
    expect(first?.parts).toMatchObject([
      { type: "text", text: "Hi", signature },
      { type: "tool-call", signature },
    ]);
    expect(first?.parts.length).toBe(2);
  });

  test("a block of another protocol is returned complete", () => {
    const part = { type: "native", dialect: "messages", name: "code", raw: { type: "code", text: "1+1" } } as const;
    const answer = JSON.parse(
      encodeResponse({ parts: [part, { type: "text", text: "2" }], stop: STOPPED }, encodeContext()),
    );
    expect(decode([asked, ...answer.output]).turns[1]?.parts[0]).toMatchObject(part);
  });
});

test("R13: a reference to an item that is not stored is left out and noted", async () => {
  const input = [asked, { type: "item_reference", id: "rs_gone" }, { role: "assistant", content: "Hi" }, asked];
  const { notes } = await translate("responses", { model: "m", input }, TARGETS.messages);
  expect(notes).toMatchObject([{ path: "input[1]", action: "dropped" }]);
});

describe("R14: the output of a tool keeps its form", () => {
  test("a string is one text, parts are parts", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    const [, , results] = decode([
      asked,
      call("a"),
      output("a", "12"),
      output("a", [{ type: "input_text", text: "Look:" }, image]),
    ]).turns;
    expect(results?.parts).toMatchObject([
      { type: "tool-result", content: [{ type: "text", text: "12", path: "input[2].output" }] },
      {
        type: "tool-result",
        content: [{ type: "text" }, { type: "media", kind: "image", path: "input[3].output[1]" }],
      },
    ]);
  });
});

test("R15: developer messages keep their place, and leading ones are the system text", () => {
  const said = (content: string) => ({ role: "developer", content });
  const decoded = decode([said("One."), said("Two."), asked, said("Three."), asked], { instructions: "Zero." });
  expect(decoded.system.map(({ text, path }) => [text, path])).toEqual([
    ["Zero.", "instructions"],
    ["One.", "input[0].content"],
    ["Two.", "input[1].content"],
  ]);
  expect(kinds(decoded)).toEqual(["user: text", "system: text", "user: text"]);
});

test("R16: an empty list of tools with a choice sends nothing to the target", async () => {
  const request = { model: "m", input: "Sum it up.", tools: [], tool_choice: "auto", parallel_tool_calls: false };
  for (const target of EVERY_TARGET) {
    const { body, notes } = await translate("responses", request, target);
    expect([target.name, body["tools"], body["tool_choice"], body["toolConfig"]]).toEqual([
      target.name,
      undefined,
      undefined,
      undefined,
    ]);
    expect([target.name, notes]).toEqual([target.name, []]);
  }
});

test("R17: a function without `strict` is not strict in other protocols", async () => {
  const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }];
  for (const target of [TARGETS.chat, TARGETS.messages]) {
    const { body } = await translate("responses", { model: "m", input: "Hello", tools }, target);
    expect(JSON.stringify(body)).not.toContain("strict");
  }
});

test("R18: response formats and tool choices are flat", () => {
  const schema = { type: "object" };
  const decoded = decode("Hello", {
    text: { format: { type: "json_schema", name: "city", schema, strict: true }, verbosity: "low" },
    tools: [{ type: "function", name: "look" }],
    tool_choice: { type: "function", name: "look" },
  });
  expect(decoded).toMatchObject({
    format: { type: "schema", name: "city", schema, strict: true },
    verbosity: "low",
    toolChoice: { type: "tool", name: "look" },
    paths: { format: "text.format", verbosity: "text.verbosity", toolChoice: "tool_choice" },
  });
});

test("R26: search settings of the own host are noted, and sent to no other", async () => {
  const tools = [
    {
      type: "web_search",
      external_web_access: true,
      search_content_types: ["text"],
      filters: { allowed_domains: ["a.example"] },
    },
  ];
  const { body, notes } = await translate("responses", { model: "m", input: "News?", tools }, TARGETS.messages);
  expect(body["tools"]).toEqual([{ type: "web_search_20250305", name: "web_search", allowed_domains: ["a.example"] }]);
  expect(notes.map(({ path }) => path)).toEqual(["tools[0].external_web_access", "tools[0].search_content_types"]);
});

test("R30: the phase of a message is sent to no other protocol, and noted", async () => {
  const said = {
    type: "message",
    role: "assistant",
    phase: "commentary",
    content: [{ type: "output_text", text: "Hi" }],
  };
  for (const target of EVERY_TARGET.filter(({ dialect }) => dialect !== "responses")) {
    const { body, notes } = await translate("responses", { model: "m", input: [asked, said, asked] }, target);
    expect(JSON.stringify(body)).not.toContain("commentary");
    expect([target.name, notes.map(({ path }) => path)]).toEqual([target.name, ["input[1].phase"]]);
  }
});

test("R33: client metadata stays in the gateway", async () => {
  const request = { model: "m", input: "Hello", client_metadata: { window: "SECRET" } };
  for (const target of EVERY_TARGET) {
    expect(JSON.stringify((await translate("responses", request, target)).body)).not.toContain("SECRET");
  }
});

test("state that the gateway manages is not sent, and not noted as lost", () => {
  const state = { store: true, previous_response_id: "resp_1", background: false, metadata: { a: "b" } };
  expect(decode("Hello", { ...state, include: ["reasoning.encrypted_content"] }).extras).toEqual([]);
});
