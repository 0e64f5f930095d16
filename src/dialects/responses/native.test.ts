import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import { cpuMs } from "../../base/cpu-time.sample.ts";
import type { JsonObject } from "../../base/json.ts";
import { wrapOpaque } from "../../canon/opaque.ts";
import type { NativeAnswerContext, NativeRequestContext } from "../dialect.ts";
import { ResponsesTap } from "./answer/tap.ts";
import { patchAnswer, prepareRequest } from "./native.ts";
import { needsCanon } from "./needs-canon.ts";
import { DEFAULT_RESPONSES_QUIRKS, type ResponsesQuirks } from "./quirks.ts";

function prepare(
  body: JsonObject,
  quirks: Partial<ResponsesQuirks> = {},
  more: Partial<NativeRequestContext<ResponsesQuirks>> = {},
) {
  const request = { model: "public", ...body };
  const { payload, notes } = prepareRequest(
    { text: JSON.stringify(request), body: request },
    {
      upstreamModel: "m",
      stream: false,
      door: "dropin",
      maxOutputTokens: 1000,
      reasons: false,
      knownEfforts: undefined,
      quirks: { ...DEFAULT_RESPONSES_QUIRKS, ...quirks },
      ...more,
    },
  );
  return { sent: JSON.parse(String(payload)) as JsonObject, notes, text: String(payload) };
}

const host = (quirks: Partial<ResponsesQuirks> = {}) => ({
  quirks: { ...DEFAULT_RESPONSES_QUIRKS, ...quirks },
  traits: { reasoning: true },
  origin: "responses",
  isForeignOrigin: () => true,
});

describe("a request in its own dialect", () => {
  test("passes unchanged, except for the model and the state, which the gateway manages", () => {
    const body = { input: "q", store: true, previous_response_id: "resp_1", background: false, metadata: { a: "b" } };
    expect(prepare(body).sent).toEqual({ model: "m", input: "q", store: false, metadata: { a: "b" } });
    expect(prepare({ input: "q" }, {}, { counting: true }).sent).toEqual({ model: "m", input: "q" });
  });

  test("requests encrypted reasoning from a reasoning model, in addition to the client's includes", () => {
    const asked = { input: "q", include: ["message.output_text.logprobs"] };
    expect(prepare(asked, {}, { reasons: true }).sent["include"]).toEqual([
      "message.output_text.logprobs",
      "reasoning.encrypted_content",
    ]);
    expect(prepare(asked, { seals: false }, { reasons: true }).sent["include"]).toEqual(asked.include);
  });

  test("R9: ids that the host rejects are shortened, or left out if nothing refers to them", () => {
    const long = "x".repeat(1000);
    const input = [
      { type: "message", id: long, role: "assistant", content: "a" },
      { type: "reasoning", id: long, summary: [], encrypted_content: "v" },
      { type: "function_call", id: "fc_1", call_id: long, name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: long, output: "o" },
    ];
    const sent = prepare({ input }).sent["input"] as JsonObject[];
    expect(sent.map(({ id }) => id)).toEqual([undefined, long, "fc_1", undefined]);
    expect(sent[2]?.["call_id"]).toBe(String(sent[3]?.["call_id"]));
    expect(String(sent[2]?.["call_id"]).length).toBeLessThan(65);
  });

  test("R16: an empty list of tools is removed with its choice", () => {
    expect(prepare({ input: "q", tools: [], tool_choice: "auto", parallel_tool_calls: false }).sent).toEqual({
      model: "m",
      input: "q",
      store: false,
    });
  });

  test("R24: a limit below 16 is raised, one above the model's is lowered, and both are noted", () => {
    for (const [asked, sent] of [
      [3, 16],
      [5000, 1000],
    ]) {
      const { sent: body, notes } = prepare({ input: "q", max_output_tokens: asked });
      expect([body["max_output_tokens"], notes.length]).toEqual([sent, 1]);
    }
  });

  test("R26: search settings that the host does not support are left out and noted", () => {
    const tools = [{ type: "web_search", filters: {}, search_content_types: ["text"] }];
    expect(prepare({ input: "q", tools }).sent["tools"]).toEqual(tools);
    const narrow = prepare({ input: "q", tools }, { searchFields: ["filters"] });
    expect(narrow.sent["tools"]).toEqual([{ type: "web_search", filters: {} }]);
    expect(narrow.notes).toMatchObject([{ path: "tools[0].search_content_types", action: "dropped" }]);
  });

  test("S07: a hosted tool cannot call another model, and the client's own tools pass unchanged", () => {
    const own = { type: "function", name: "f", model: "gpt-4o", parameters: { type: "object", properties: {} } };
    const { sent, notes } = prepare({ tools: [{ type: "image_generation", model: "dear", size: "auto" }, own] });
    expect(sent["tools"]).toEqual([{ type: "image_generation", size: "auto" }, own]);
    expect(notes).toMatchObject([{ path: "tools[0].model", action: "dropped" }]);
  });

  test("R30: the phase of a message is returned unchanged", () => {
    const input = [{ type: "message", role: "assistant", phase: "commentary", content: [] }];
    expect(prepare({ input }).sent["input"]).toEqual(input);
  });

  test("R33: client metadata is sent only to the client's maker", () => {
    const body = { input: "q", client_metadata: { a: "b" } };
    expect(prepare(body).sent["client_metadata"]).toBeUndefined();
    expect(prepare(body, { clientMetadata: true }).sent["client_metadata"]).toEqual({ a: "b" });
  });

  test("10,000 items with long ids are adapted quickly", () => {
    const input = Array.from({ length: 10_000 }, (_, index) => ({
      type: "function_call_output",
      call_id: `${"x".repeat(1000)}${index >> 1}`,
      output: "o",
    }));
    const startedMs = cpuMs();
    expect((prepare({ input }).sent["input"] as unknown[]).length).toBe(10_000);
    expect(cpuMs() - startedMs).toBeLessThan(2_000);
  });
});

describe("a request to a host of the same dialect uses the canon", () => {
  test("R10, R11: if its reasoning is from another family or not encrypted, whatever its prefix", () => {
    const thought = (encrypted_content?: string) => ({
      input: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content }],
    });
    const wrapped = wrapOpaque({ origin: "messages", kind: "signature", value: "v" });
    expect(needsCanon(thought("gAAAAanything"), host())).toBe(false);
    expect(needsCanon(thought("anything"), host())).toBe(false);
    expect(needsCanon(thought(wrapped), host())).toBe(true);
    expect(needsCanon(thought(), host())).toBe(true);
    expect(needsCanon(thought(), host({ seals: false, openReasoning: true }))).toBe(false);
    expect(needsCanon(thought("gAAAA"), host({ seals: false, openReasoning: true }))).toBe(true);
  });

  test("R5: if the host does not support a tool, or an item of one", () => {
    const few = host({ toolTypes: ["function"] });
    expect(needsCanon({ input: "q", tools: [{ type: "function" }] }, few)).toBe(false);
    for (const type of ["custom", "namespace", "web_search"]) {
      expect(needsCanon({ input: "q", tools: [{ type }] }, few)).toBe(true);
      expect(needsCanon({ input: "q", tools: [{ type }] }, host())).toBe(false);
    }
    expect(needsCanon({ input: [{ type: "function_call_output" }] }, few)).toBe(false);
    expect(needsCanon({ input: [{ type: "custom_tool_call" }] }, few)).toBe(true);
  });
});

const answering = (more: Partial<NativeAnswerContext> = {}): NativeAnswerContext => ({
  publicModel: "acme/public",
  request: {},
  options: undefined,
  makeId: () => "made",
  receivedAtMs: 0,
  nowSeconds: () => 9,
  costUsd: () => 0,
  quirks: DEFAULT_RESPONSES_QUIRKS,
  ...more,
});

describe("a response in its own dialect", () => {
  const body = {
    id: "resp_1",
    status: "completed",
    output: [],
    usage: { input_tokens: 3, output_tokens: 4 },
    store: false,
  };

  test("has the public model, whether it is stored, and all five counts", () => {
    const text = JSON.stringify({ ...body, model: "m" });
    const answer = patchAnswer(
      text,
      JSON.parse(text) as JsonObject,
      answering({ keep: () => {}, answerId: "resp_own" }),
    );
    expect(JSON.parse(answer.text)).toMatchObject({
      id: "resp_own",
      model: "acme/public",
      store: true,
      usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    });
  });

  test("R1: is an error if the host reports a failure", () => {
    const failed = { id: "resp_1", status: "failed", error: { code: "server_error", message: "no" }, output: [] };
    expect(() => patchAnswer(JSON.stringify(failed), failed, answering())).toThrow();
    const stuck = { ...body, status: "in_progress" };
    expect(() => patchAnswer(JSON.stringify(stuck), stuck, answering())).toThrow();
  });

  const stream = (...events: JsonObject[]): Buffer =>
    Buffer.from(events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  const response = { id: "resp_1", model: "m", status: "in_progress", output: [], store: false };
  const item = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "hi" }] };
  const delta = (sequence_number: number, text: string) => ({
    type: "response.output_text.delta",
    sequence_number,
    output_index: 0,
    content_index: 0,
    delta: text,
  });

  function tapped(bytes: Buffer, context = answering()) {
    const tap = new ResponsesTap(context);
    const output = new ByteBuffer();
    tap.push(bytes, output);
    return { tap, text: output.view().toString() };
  }

  test("R2, R3: the last event gets the items that the host left out, and is stored", () => {
    const kept: JsonObject[] = [];
    const { tap, text } = tapped(
      stream(
        { type: "response.created", sequence_number: 0, response },
        { type: "response.output_item.done", sequence_number: 1, output_index: 0, item },
        { type: "response.completed", sequence_number: 2, response: { ...response, status: "completed" } },
      ),
      answering({ keep: (answer) => kept.push(answer) }),
    );
    expect(tap.state).toBe("ended");
    expect(text.match(/"output":\[\{/g)).toHaveLength(1);
    expect(kept).toMatchObject([{ id: "resp_1", model: "acme/public", store: true, output: [item] }]);
  });

  test("R2, R22: without a usage and deltas, the usage is estimated from the items", () => {
    const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: '{"a":"eleven"}' };
    const ended = { ...response, status: "completed" };
    const done = { type: "response.output_item.done", output_index: 0 };
    for (const events of [
      [
        { ...done, item },
        { ...done, output_index: 1, item: call },
        { type: "response.completed", response: ended },
      ],
      [{ type: "response.completed", response: { ...ended, output: [item, call], usage: { input_tokens: 9 } } }],
    ]) {
      const { tap, text } = tapped(stream({ type: "response.created", response }, ...events));
      expect(tap.generatedCharacters).toBe(16);
      const usage = JSON.parse(text.match(/^data: (.*"response.completed".*)$/m)?.[1] ?? "").response.usage;
      expect(usage).toMatchObject({ output_tokens: 4, total_tokens: usage.input_tokens + 4 });
    }
  });

  test("R20: events that are left out leave no gap in the numbers", () => {
    const { text } = tapped(
      stream(
        { type: "response.created", sequence_number: 0, response },
        delta(1, "a"),
        { type: "keepalive", sequence_number: 2 },
        delta(3, "b"),
        delta(4, "c"),
        { type: "response.completed", sequence_number: 5, response: { ...response, status: "completed" } },
      ),
    );
    expect([...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number))).toEqual([0, 1, 2, 3, 4]);
    expect(text).not.toContain("keepalive");
  });

  test("R21: an item keeps its announced id, except for reasoning, whose value is bound to its last id", () => {
    const at = { output_index: 1 };
    const thought = (id: string) => ({ type: "reasoning", id, summary: [], encrypted_content: "v" });
    const said = (id: string) => ({ ...item, id });
    const { text } = tapped(
      stream(
        { type: "response.created", sequence_number: 0, response },
        { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: thought("rs_a") },
        { type: "response.output_item.done", sequence_number: 2, output_index: 0, item: thought("rs_b") },
        { type: "response.output_item.added", sequence_number: 3, ...at, item: { ...said("msg_a"), content: [] } },
        { ...delta(4, "h"), ...at, item_id: "msg_b" },
        { ...delta(5, "i"), ...at, item_id: "msg_c" },
        { type: "response.output_item.done", sequence_number: 6, ...at, item: said("msg_d") },
        {
          type: "response.completed",
          sequence_number: 7,
          response: { ...response, status: "completed", output: [thought("rs_b"), said("msg_e")] },
        },
      ),
    );
    expect([...text.matchAll(/"(?:rs|msg)_\w"/g)].map(([id]) => id)).toEqual([
      '"rs_a"',
      '"rs_b"',
      '"msg_a"',
      '"msg_a"',
      '"msg_a"',
      '"msg_a"',
      '"rs_b"',
      '"msg_a"',
    ]);
  });

  test("R21: items get missing indexes, and a repeated start is removed", () => {
    const created = { type: "response.created", sequence_number: 0, response };
    const added = (id: string) => ({ type: "response.output_item.added", item: { id, type: "message" } });
    const words = (item_id: string) => ({ type: "response.output_text.delta", item_id, delta: "a" });
    const { text } = tapped(stream(created, created, added("one"), words("one"), added("two"), words("two")));
    const places = [...text.matchAll(/"output_index":(\d+)/g)].map(([, place]) => Number(place));
    expect(places).toEqual([0, 0, 1, 1]);
    expect(text.match(/"content_index":0/g)).toHaveLength(2);
    expect(text.match(/"response.created"/g)).toHaveLength(1);
  });

  test("R1: a failure inside a stream is reported by the gateway, with the stream's position", () => {
    const error = { type: "server_error", code: "server_error", message: "no" };
    const { tap, text } = tapped(
      stream({ type: "response.created", sequence_number: 0, response }, delta(1, "a"), { type: "error", error }),
    );
    expect(tap.failure?.kind).toBe("upstream_failed");
    expect(text).not.toContain("server_error");
    expect(tap.position).toMatchObject({ sequence: 2, response: { id: "resp_1", model: "acme/public" } });
  });

  test("an ordinary delta passes by its bytes, and is weighed by its text", () => {
    const padded = { ...delta(2, "wörter"), obfuscation: "x".repeat(40) };
    const bytes = stream({ type: "response.created", sequence_number: 0, response }, delta(1, "a"), padded);
    const { tap, text } = tapped(bytes);
    expect(text.endsWith(stream(padded).toString())).toBe(true);
    const careful = new ResponsesTap(answering());
    const crlf = Buffer.from(bytes.toString().replaceAll("\n", "\r\n"));
    careful.push(crlf, new ByteBuffer());
    expect(tap.generatedCharacters).toBe(careful.generatedCharacters);
  });
});

describe("R19: a response ends in calls if the client answers one of its items", () => {
  const stopOf = (item: JsonObject) => {
    const body = { status: "completed", output: [item], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
    return patchAnswer(JSON.stringify(body), body, answering()).stop?.unified;
  };

  const items: [JsonObject, "stop" | "tool"][] = [
    [{ type: "shell_call", environment: { type: "local" } }, "tool"],
    [{ type: "shell_call", environment: { type: "container_reference", container_id: "cntr_1" } }, "stop"],
    [{ type: "apply_patch_call" }, "tool"],
    [{ type: "local_shell_call" }, "tool"],
    [{ type: "computer_call" }, "tool"],
    [{ type: "program" }, "stop"],
    [{ type: "web_search_call" }, "stop"],
  ];
  test.each(items)("%j: %s", (item, stop) => expect(stopOf(item)).toBe(stop));
});
