import { describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { unfold } from "../../../canon/fold.ts";
import type { ReplyPart } from "../../../canon/reply.ts";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { decodeRequest } from "../request/decode-request.ts";
import { readEvents, STOPPED, streamOf, streamOfParts, typesOf } from "../stream.sample.ts";
import { encodeResponse } from "./encode-response.ts";
import { ResponsesStreamEncoder } from "./encode-stream.ts";

const call = (id: string, name: string, input = "{}"): ReplyPart => ({ type: "tool-call", id, name, input });
const responseIn = (event: JsonObject | undefined): JsonObject => objectAt(event, "response") ?? {};
const outputOf = (events: readonly JsonObject[]): JsonObject[] =>
  arrayAt(responseIn(events.at(-1)), "output") as JsonObject[];

describe("the order of events", () => {
  test("a text", () => {
    const events = streamOfParts([{ type: "text", text: "Hello" }]);
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
  });

  test("a thought and a call", () => {
    const signature = { origin: "messages", kind: "signature", value: "c2ln" } as const;
    const events = streamOfParts([{ type: "reasoning", text: "Hm.", signature }, call("call_1", "look", '{"a":1}')]);
    expect(typesOf(events).slice(2, -1)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
    ]);
    const [thought, called] = outputOf(events);
    expect(stringAt(thought, "encrypted_content")).toStartWith("trv1.");
    expect(called).toMatchObject({ type: "function_call", call_id: "call_1", name: "look", arguments: '{"a":1}' });
  });

  describe("decision 0103: a call of a tool that the client knows by its type", () => {
    const tools = [{ type: "shell", environment: { type: "local" } }, { type: "apply_patch" }, { type: "local_shell" }];
    const context = { ...encodeContext(), request: { tools } };

    test("becomes an item of that type, and its commands are announced", () => {
      const events = streamOfParts([call("call_1", "shell", '{"commands":["ls","pwd"],"timeout_ms":5}')], context);
      const command = ["added", "delta", "done"].map((step) => `shell_call_command.${step}`);
      expect(typesOf(events).slice(2, -1)).toEqual(["output_item.added", ...command, ...command, "output_item.done"]);
      expect(objectAt(events[2], "item")).toMatchObject({ type: "shell_call", action: { commands: [] } });
      const action = { commands: ["ls", "pwd"], timeout_ms: 5, max_output_length: null };
      const environment = { type: "local" };
      expect(outputOf(events)).toMatchObject([
        { type: "shell_call", status: "completed", call_id: "call_1", action, environment },
      ]);
    });

    const calls: [string, JsonObject, JsonObject][] = [
      ["apply_patch", { type: "delete_file", path: "a" }, { operation: { type: "delete_file", path: "a" } }],
      [
        "apply_patch",
        { type: "create_file", path: "a", diff: "+b" },
        { operation: { type: "create_file", path: "a", diff: "+b" } },
      ],
      ["local_shell", { command: ["ls"] }, { action: { type: "exec", command: ["ls"], env: {} } }],
    ];
    test.each(calls)("%s with %j", (name, input, item) => {
      const events = streamOfParts([call("call_1", name, JSON.stringify(input))], context);
      expect(outputOf(events)).toMatchObject([{ type: `${name}_call`, call_id: "call_1", ...item }]);
    });

    const broken = [
      ["shell", '{"commands":["ls"'],
      ["shell", '{"commands":[]}'],
      ["shell", '{"commands":["ls",7]}'],
      ["local_shell", '{"command":"ls"}'],
      ["apply_patch", '{"type":"update_file","path":"a"}'],
      ["apply_patch", '{"type":"move_file","path":"a","diff":""}'],
    ] as const;
    test.each(broken)("%s with %s fails, since another command could do anything", (name, input) => {
      expect(() => streamOfParts([call("call_1", name, input)], context)).toThrow("do not match the tool");
    });

    test("a call that was cut off is incomplete and empty", () => {
      const cut = { unified: "length", raw: "max_tokens" } as const;
      const events = streamOfParts([call("call_1", "shell", '{"commands":["rm')], context, cut);
      expect(outputOf(events)).toMatchObject([{ type: "shell_call", status: "incomplete", action: { commands: [] } }]);
    });
  });

  describe("decision 0091: an unsigned thought", () => {
    const thought = { type: "reasoning", text: "Hm." } as const;
    const itemOf = (unsignedComesBack: boolean) => {
      const context = { ...encodeContext(), unsignedComesBack };
      return JSON.parse(encodeResponse({ parts: [thought], stop: STOPPED }, context)).output[0];
    };

    test("has no encrypted value", () => {
      expect(itemOf(false)).toMatchObject({ type: "reasoning", summary: [{ text: "Hm." }] });
      expect(itemOf(false)).not.toHaveProperty("encrypted_content");
    });

    test("has one if its host accepts it back, because some clients return only thoughts with one", () => {
      expect(itemOf(true)).toMatchObject({ encrypted_content: expect.stringMatching(/^trv1\./) });
    });

    test("reaches its host from what a client returns, in either form", () => {
      for (const comesBack of [false, true]) {
        const input = [itemOf(comesBack), { type: "message", role: "user", content: "Go on." }];
        const [turn] = decodeRequest({ model: "m", input }).turns;
        expect(turn?.parts).toMatchObject([{ type: "reasoning", text: "Hm." }]);
      }
    });
  });

  test("R20: sequence numbers count from 0 without gaps", () => {
    const parts: ReplyPart[] = [{ type: "reasoning", text: "Hm." }, { type: "text", text: "Hi" }, call("c", "look")];
    const numbers = streamOfParts(parts).map((event) => event["sequence_number"]);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  test("R19: calls end in completed like texts, a limit or a filter in incomplete with the reason", () => {
    const ended = (unified: "tool" | "length" | "filter") =>
      streamOfParts([call("c", "look")], encodeContext(), { unified, raw: "" }).at(-1);
    expect(ended("tool")).toMatchObject({ type: "response.completed" });
    expect(ended("length")).toMatchObject({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
    });
    expect(ended("filter")).toMatchObject({ response: { incomplete_details: { reason: "content_filter" } } });
    expect(outputOf([ended("length") ?? {}])).toMatchObject([{ status: "incomplete" }]);
  });
});

describe("contents of an answer", () => {
  test("R2: the last event has every done item, and a usage even if the upstream reported none", () => {
    const events = streamOf(unfold({ parts: [{ type: "text", text: "Hello" }, call("c", "look")], stop: STOPPED }));
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    expect(outputOf(events)).toEqual(done as JsonObject[]);
    expect(responseIn(events.at(-1))["usage"]).toEqual({
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 9,
    });
  });

  test("a whole answer is the object that ends its stream", () => {
    const parts: ReplyPart[] = [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "See.", citations: [{ type: "web", url: "https://a.example" }] },
      call("c", "look"),
    ];
    const whole = JSON.parse(encodeResponse({ parts, stop: STOPPED, usage: { input: 3, output: 5 } }, encodeContext()));
    expect(whole).toEqual(responseIn(streamOfParts(parts).at(-1)));
  });

  test("R7: parallel calls are separate items, and their arguments are never mixed", () => {
    const blocks: CanonEvent[] = [
      { type: "tool-input-start", block: 0, id: "call_a", name: "look" },
      { type: "tool-input-start", block: 1, id: "call_b", name: "find" },
      { type: "tool-input-delta", block: 0, text: '{"a"' },
      { type: "tool-input-delta", block: 1, text: '{"b"' },
      { type: "tool-input-delta", block: 0, text: ":1}" },
      { type: "tool-input-delta", block: 1, text: ":2}" },
      { type: "tool-input-end", block: 1 },
      { type: "tool-input-end", block: 0 },
      { type: "finish", stop: { unified: "tool", raw: "" } },
    ];
    const events = streamOf(blocks);
    expect(outputOf(events)).toMatchObject([
      { call_id: "call_a", arguments: '{"a":1}' },
      { call_id: "call_b", arguments: '{"b":2}' },
    ]);
    const added = events.filter(({ type }) => type === "response.output_item.added");
    expect(added.map((event) => event["output_index"])).toEqual([0, 1]);
    expect(new Set(outputOf(events).map(({ id }) => id)).size).toBe(2);
  });

  test("a call without arguments has an empty object, also in its delta", () => {
    const events = streamOfParts([call("c", "look", "")]);
    expect(outputOf(events)).toMatchObject([{ arguments: "{}" }]);
    expect(events.find(({ type }) => type === "response.function_call_arguments.delta")?.["delta"]).toBe("{}");
  });

  test("R29: ids have the prefix of their kind, are stable in a stream, and have at most 64 characters", () => {
    const parts: ReplyPart[] = [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi" },
      call("c".repeat(80), "look"),
    ];
    const request = { tools: [{ type: "custom", name: "shell" }] };
    const events = streamOfParts([...parts, call("d", "shell", '{"input":"ls"}')], encodeContext(request));
    const output = outputOf(events);
    expect(output.map(({ id }) => String(id).replace(/_.*/, ""))).toEqual(["rs", "msg", "fc", "ctc"]);
    expect(String(responseIn(events[0])["id"])).toStartWith("resp_");
    expect(responseIn(events[0])["id"]).toBe(responseIn(events.at(-1))["id"]);
    for (const { id, call_id } of output) expect(String(call_id ?? id).length).toBeLessThanOrEqual(64);
    for (const event of events) {
      const item = output[Number(event["output_index"])];
      if (event["item_id"] !== undefined) expect(event["item_id"] === item?.["id"]).toBe(true);
    }
  });

  test("adjacent texts are one part, and a new message begins after a search", () => {
    const search: ReplyPart[] = [
      { type: "server-tool-call", id: "s", name: "web_search", input: '{"query":"oslo"}' },
      {
        type: "server-tool-result",
        callId: "s",
        name: "web_search",
        result: { pages: [{ url: "https://a.example" }] },
      },
    ];
    const output = outputOf(
      streamOfParts([
        { type: "text", text: "One " },
        { type: "text", text: "two." },
        ...search,
        { type: "text", text: "Three." },
      ]),
    );
    expect(output).toMatchObject([
      { type: "message", content: [{ text: "One two." }] },
      {
        type: "web_search_call",
        status: "completed",
        action: { type: "search", query: "oslo", sources: [{ type: "url", url: "https://a.example" }] },
      },
      { type: "message", content: [{ text: "Three." }] },
    ]);
  });

  test("decision 0091: a separate text is a message of its own, with its own citation ranges", () => {
    const citations = [{ type: "web", url: "https://a.example", title: "A" }] as const;
    const output = outputOf(
      streamOfParts([
        { type: "text", text: "One." },
        { type: "text", text: "Two.", apart: true, citations },
      ]),
    );
    expect(output).toMatchObject([
      { type: "message", status: "completed", content: [{ text: "One." }] },
      { type: "message", content: [{ text: "Two.", annotations: [{ start_index: 0, end_index: 4 }] }] },
    ]);
  });

  test("citations count from the start of the joined text", () => {
    const events = streamOfParts([
      { type: "text", text: "One " },
      { type: "text", text: "two.", citations: [{ type: "web", url: "https://a.example", title: "A" }] },
    ]);
    const annotation = { type: "url_citation", url: "https://a.example", title: "A", start_index: 4, end_index: 8 };
    expect(events.find(({ type }) => type === "response.output_text.annotation.added")).toMatchObject({
      annotation_index: 0,
      annotation,
    });
    expect(outputOf(events)).toMatchObject([{ content: [{ annotations: [annotation] }] }]);
  });

  test("R23: a refusal is a part of its own kind, never text", () => {
    const events = streamOfParts([{ type: "refusal", text: "No." }]);
    expect(typesOf(events)).toContain("refusal.delta");
    expect(outputOf(events)).toMatchObject([{ type: "message", content: [{ type: "refusal", refusal: "No." }] }]);
  });

  test("R23: text of an answer that a filter ended remains text", () => {
    const stop = { unified: "filter", raw: "refusal" } as const;
    const [message] = outputOf(streamOfParts([{ type: "text", text: "I will not." }], encodeContext(), stop));
    expect(message).toMatchObject({ content: [{ type: "output_text", text: "I will not." }] });
  });

  test("log probabilities are in their text part", () => {
    const logprobs = [{ token: "Hi", logprob: -0.1 }];
    const reply = { parts: [{ type: "text", text: "Hi" }], stop: STOPPED, logprobs } as const;
    const events = streamOf(unfold(reply));
    const told = [{ token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }];
    expect(outputOf(events)).toMatchObject([{ content: [{ logprobs: told }] }]);
    expect(events.find(({ type }) => type === "response.output_text.done")).toMatchObject({ logprobs: told });
  });

  test("an image is an item with its bytes; audio is replaced with a short text", () => {
    const media = (kind: "image" | "audio", mimeType: string): ReplyPart => ({
      type: "media",
      kind,
      source: { type: "data", mimeType, data: "AAAA" },
    });
    const notes: string[] = [];
    const context = { ...encodeContext(), note: ({ reason }: { reason: string }) => void notes.push(reason) };
    expect(outputOf(streamOfParts([media("image", "image/png"), media("audio", "audio/wav")], context))).toMatchObject([
      { type: "image_generation_call", result: "AAAA", output_format: "png" },
      { type: "message", content: [{ text: "[audio omitted: this protocol has no place for it]" }] },
    ]);
    expect(notes.length).toBe(1);
  });
});

describe("R6: tools are returned under the client's names", () => {
  const request = {
    tools: [
      {
        type: "namespace",
        name: "agents",
        tools: [
          { type: "function", name: "spawn" },
          { type: "custom", name: "tell" },
        ],
      },
      { type: "function", name: "agents__spawn" },
      { type: "custom", name: "shell" },
    ],
  };
  const [output] = [(parts: ReplyPart[]) => outputOf(streamOfParts(parts, encodeContext(request)))];

  test("a namespace and the bare name, even if a function has the joined name", () => {
    expect(output([call("a", "agents__spawn_"), call("b", "agents__spawn")])).toMatchObject([
      { type: "function_call", namespace: "agents", name: "spawn" },
      { type: "function_call", name: "agents__spawn" },
    ]);
    expect(output([call("b", "agents__spawn")])[0]).not.toHaveProperty("namespace");
  });

  test("a custom tool that the model called as a function gets its argument as free text", () => {
    expect(
      output([call("a", "shell", '{"input":"ls -l"}'), call("b", "agents__tell", '{"input":"hi"}')]),
    ).toMatchObject([
      { type: "custom_tool_call", call_id: "a", name: "shell", input: "ls -l" },
      { type: "custom_tool_call", call_id: "b", namespace: "agents", name: "tell", input: "hi" },
    ]);
  });

  test("free text is streamed as free text", () => {
    const part: ReplyPart = { type: "tool-call", id: "a", name: "shell", input: "ls -l", custom: true };
    const events = streamOfParts([part], encodeContext(request));
    expect(typesOf(events)).toContain("custom_tool_call_input.delta");
    expect(outputOf(events)).toMatchObject([{ type: "custom_tool_call", input: "ls -l" }]);
  });
});

describe("settings of the request are repeated", () => {
  test("as requested, with whether the answer is stored", () => {
    const request = {
      instructions: "Be brief.",
      previous_response_id: "resp_0",
      temperature: 0.5,
      metadata: { a: "b" },
    };
    const kept: JsonObject[] = [];
    const context = { ...encodeContext(request), keep: (answer: JsonObject) => void kept.push(answer) };
    const events = streamOfParts([{ type: "text", text: "Hi" }], context);
    for (const event of [events[0], events.at(-1)])
      expect(responseIn(event)).toMatchObject({ ...request, store: true, model: "acme/model", object: "response" });
    expect(kept).toEqual([responseIn(events.at(-1))]);
    expect(responseIn(streamOfParts([]).at(-1))).toMatchObject({ store: false, tools: [], tool_choice: "auto" });
  });

  test("an id that was already sent is the id of the answer", () => {
    const context = { ...encodeContext(), answerId: "resp_told" };
    expect(responseIn(streamOfParts([], context)[0])["id"]).toBe("resp_told");
  });
});

test("R1: the position of a stream is known at every step", () => {
  const encoder = new ResponsesStreamEncoder(encodeContext());
  expect(encoder.position).toBeUndefined();
  let text = "";
  for (const event of unfold({ parts: [{ type: "text", text: "Hi" }, call("c", "look")], stop: STOPPED })) {
    text += encoder.push(event);
    const events = readEvents(text);
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    expect(encoder.position).toMatchObject({ sequence: events.length, response: { output: done } });
  }
});
