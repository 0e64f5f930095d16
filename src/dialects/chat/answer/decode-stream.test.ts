import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../canon/error.ts";
import { fold } from "../../../canon/fold.ts";
import { readFrames } from "../../../wire/sse.ts";
import { chatCodec } from "../codec.ts";
import { chunk, chunksText, decodeChunks, decodeContext, decodeText } from "../contexts.sample.ts";

describe("peculiarities of hosts (providers 1.1, 1.5, 1.7)", () => {
  test("an empty first chunk has no id, created 0 and no choices", () => {
    const filtered = { id: "", object: "", created: 0, model: "", choices: [], prompt_filter_results: [{}] };
    expect(decodeChunks([filtered, chunk({ content: "Hi" }), chunk({}, "stop")])).toMatchObject({
      id: "c1",
      created: 5,
      parts: [{ type: "text", text: "Hi" }],
    });
  });

  test.each([
    ["after the finish", [chunk({}, "stop"), { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }]],
    ["on the finish", [chunk({}, "stop", { usage: { prompt_tokens: 3, completion_tokens: 4 } })]],
    [
      "in the choice",
      [
        {
          choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: { prompt_tokens: 3, completion_tokens: 4 } }],
        },
      ],
    ],
    ["in x_groq", [chunk({}, "stop", { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } })]],
  ])("usage %s is emitted before the finish", (_where, last) => {
    const events = decodeText(chunksText([chunk({ content: "a" }), ...last]));
    expect(events.slice(-3).map(({ type }) => type)).toContain("usage");
    expect(fold(events).usage).toEqual({ input: 3, output: 4 });
  });

  test("H03: whole calls can come without an index, with repeated or empty ids, and with arguments as objects", () => {
    const whole = chunk({
      tool_calls: [
        { id: "a", function: { name: "f", arguments: '{"x":1}' } },
        { id: "b", function: { name: "f", arguments: { y: 2 } } },
      ],
    });
    expect(decodeChunks([whole, chunk({}, "tool_calls")]).parts).toEqual([
      { type: "tool-call", id: "a", name: "f", input: '{"x":1}' },
      { type: "tool-call", id: "b", name: "f", input: '{"y":2}' },
    ]);
    const fragment = (id: string, input: string, name?: string) =>
      chunk({
        tool_calls: [{ index: 0, id, type: "function", function: { ...(name ? { name } : {}), arguments: input } }],
      });
    expect(
      decodeChunks([fragment("a", "", "f"), fragment("a", "{", "f"), fragment("", "}"), chunk({}, "tool_calls")]).parts,
    ).toEqual([{ type: "tool-call", id: "a", name: "f", input: "{}" }]);
  });

  test("H03: interleaved calls keep their own arguments", () => {
    const fragment = (index: number, input: string, start = false) =>
      chunk({
        tool_calls: [
          {
            index,
            ...(start ? { id: `id${index}`, type: "function" } : {}),
            function: { ...(start ? { name: "f" } : {}), arguments: input },
          },
        ],
      });
    const chunks = [
      fragment(0, "", true),
      fragment(1, "", true),
      fragment(0, '{"a"'),
      fragment(1, '{"b"'),
      fragment(0, ":1}"),
      fragment(1, ":2}"),
    ];
    expect(decodeChunks([...chunks, chunk({}, "tool_calls")]).parts).toEqual([
      { type: "tool-call", id: "id0", name: "f", input: '{"a":1}' },
      { type: "tool-call", id: "id1", name: "f", input: '{"b":2}' },
    ]);
  });

  test("a call with complete arguments ends when the next begins", () => {
    const start = (index: number) =>
      chunk({ tool_calls: [{ index, id: `id${index}`, function: { name: "f", arguments: "{}" } }] });
    const events = decodeText(chunksText([start(0), start(1), chunk({}, "tool_calls")]));
    const kinds = events.flatMap((event) => ("block" in event ? [`${event.type} ${event.block}`] : []));
    expect(kinds.indexOf("tool-input-end 0")).toBeLessThan(kinds.indexOf("tool-input-start 1"));
  });

  test("custom tools stream their input", () => {
    const chunks = [
      chunk({ tool_calls: [{ index: 0, id: "a", type: "custom", custom: { name: "sh", input: "" } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: "ls" } }] }),
      chunk({}, "tool_calls"),
    ];
    expect(decodeChunks(chunks).parts).toEqual([{ type: "tool-call", id: "a", name: "sh", input: "ls", custom: true }]);
  });

  test("stop with a forced call means the call", () => {
    const call = chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" } }] });
    expect(decodeChunks([call, chunk({}, "stop")]).stop).toEqual({ unified: "tool", raw: "stop" });
  });

  test("reasoning comes in plain fields, in details only, or in both with a signature at the end", () => {
    const detail = (text?: string, signature?: string) => ({
      type: "reasoning.text",
      ...(text === undefined ? {} : { text }),
      ...(signature === undefined ? {} : { signature }),
      format: "maker-v1",
      index: 0,
    });
    const signature = { origin: "host", kind: "signature", value: "sig", format: "maker-v1" } as const;
    const both = [
      chunk({ reasoning: "ha", reasoning_details: [detail("ha")] }),
      chunk({ reasoning: "ha", reasoning_details: [detail("ha")] }),
      chunk({ reasoning_details: [detail(undefined, "sig")] }),
      chunk({ content: "!" }, "stop"),
    ];
    expect(decodeChunks(both).parts).toEqual([
      { type: "reasoning", text: "haha", signature },
      { type: "text", text: "!" },
    ]);
    const alone = [chunk({ reasoning_details: [detail("ha")] }), chunk({ reasoning_details: [detail("ha", "sig")] })];
    expect(decodeChunks([...alone, chunk({}, "stop")]).parts).toEqual([{ type: "reasoning", text: "haha", signature }]);
    const plain = [
      chunk({ reasoning_content: "ha", reasoning: "ha" }),
      chunk({ reasoning_content: null, content: "!" }, "stop"),
    ];
    expect(decodeChunks(plain).parts[0]).toEqual({ type: "reasoning", text: "ha" });
  });

  test("an encrypted detail belongs to the call with its id, and is reasoning if there is none", () => {
    const encrypted = (id: string) => ({ type: "reasoning.encrypted", data: id, id, format: "maker-v1", index: 0 });
    const call = { index: 0, id: "call_1", function: { name: "f", arguments: "{}" } };
    const opaque = { origin: "host", value: "call_1", format: "maker-v1", kind: "signature" } as const;
    for (const chunks of [
      [chunk({ reasoning_details: [encrypted("call_1")], tool_calls: [call] })],
      [chunk({ tool_calls: [call] }), chunk({ reasoning_details: [encrypted("call_1")] })],
    ]) {
      const [only, ...others] = decodeChunks([...chunks, chunk({}, "tool_calls")]).parts;
      expect(only).toMatchObject({ type: "tool-call", signature: opaque });
      expect(others).toEqual([]);
    }
    expect(
      decodeChunks([chunk({ reasoning_details: [encrypted("rs_1")] }), chunk({ content: "x" }, "stop")]).parts,
    ).toEqual([
      {
        type: "reasoning",
        text: "",
        signature: { origin: "host", kind: "encrypted", value: "rs_1", format: "maker-v1#rs_1" },
      },
      { type: "text", text: "x" },
    ]);
  });

  test("tags around reasoning can be split anywhere", () => {
    const text = "<think>I <b>think</b></thin </think>\n\nThe <think> tag";
    const quirks = { reasoningTags: { open: "<think>", close: "</think>" } };
    for (let size = 1; size < text.length; size++) {
      const fragments = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      expect(
        decodeChunks([...fragments.map((content) => chunk({ content })), chunk({}, "stop")], quirks).parts,
      ).toEqual([
        { type: "reasoning", text: "I <b>think</b></thin " },
        { type: "text", text: "The <think> tag" },
      ]);
    }
    const body = { choices: [{ index: 0, message: { content: text }, finish_reason: "stop" }] };
    expect(chatCodec.decodeResponse(body, decodeContext(quirks)).parts).toHaveLength(2);
  });

  test("annotations become citations of the text that contains them", () => {
    const annotation = (start_index: number, end_index: number) => ({
      type: "url_citation",
      url_citation: { url: "https://a.example", title: "A", start_index, end_index },
    });
    const chunks = [
      chunk({ content: "Hello " }),
      chunk({ content: "world" }),
      chunk({ annotations: [annotation(6, 11)] }),
      chunk({}, "stop"),
    ];
    const citation = { type: "web", url: "https://a.example", title: "A", start: 6, end: 11 } as const;
    expect(decodeChunks(chunks).parts).toEqual([{ type: "text", text: "Hello world", citations: [citation] }]);
    const body = {
      choices: [
        { index: 0, message: { content: "Hello world", annotations: [annotation(6, 11)] }, finish_reason: "stop" },
      ],
    };
    expect(chatCodec.decodeResponse(body, decodeContext()).parts).toEqual(decodeChunks(chunks).parts);
  });

  test("a signature inside a tool call is read where the host puts it", () => {
    const quirks = { toolSignatureKeys: ["extra_content", "maker", "thought_signature"] };
    const call = {
      id: "a",
      function: { name: "f", arguments: "{}" },
      extra_content: { maker: { thought_signature: "sig" } },
    };
    const signature = { origin: "host", kind: "signature", value: "sig" } as const;
    const expected = [{ type: "tool-call" as const, id: "a", name: "f", input: "{}", signature }];
    expect(decodeChunks([chunk({ tool_calls: [{ ...call, index: 0 }] }), chunk({}, "stop")], quirks).parts).toEqual(
      expected,
    );
    const body = { choices: [{ index: 0, message: { tool_calls: [call] }, finish_reason: "tool_calls" }] };
    expect(chatCodec.decodeResponse(body, decodeContext(quirks)).parts).toEqual(expected);
  });

  test("a stream closed after its finish reason is complete, [DONE] without an answer is not", () => {
    expect(decodeChunks([chunk({ content: "a" }), chunk({}, "length")], {}, false).stop.unified).toBe("length");
    expect(() => decodeChunks([])).toThrow("without a response");
    expect(() => decodeChunks([chunk({ content: "a" })], {}, false)).toThrow("before the response was complete");
  });

  test.each(["error", "network_error", "insufficient_system_resource"])(
    "H16: finish reason %s is a failure",
    (word) => {
      expect(() => decodeChunks([chunk({ content: "a" }), chunk({}, word)])).toThrow(GatewayError);
    },
  );

  test("H16: errors can come under a success status", () => {
    const bodies = [
      { error: { message: "no", code: 503 } },
      { code: "x", error: "no" },
      { object: "error", message: "no" },
      { base_resp: { status_code: 1002, status_msg: "no" } },
      { id: "a" },
      { choices: [{ index: 0, message: { content: "a" }, finish_reason: "error" }] },
    ];
    for (const body of bodies) expect(() => chatCodec.decodeResponse(body, decodeContext())).toThrow(GatewayError);
    expect(() => decodeChunks([{ object: "error", message: "no" }])).toThrow(GatewayError);
    const plain = JSON.stringify({ choices: null, base_resp: { status_code: 1002, status_msg: "slow down" } });
    expect(decodeText(plain).at(-1)).toMatchObject({ type: "error", error: { kind: "rate_limited" } });
  });

  test("nothing follows the end", () => {
    const decoder = chatCodec.createStreamDecoder(decodeContext());
    const frames = readFrames(chunksText([chunk({ content: "a" }), chunk({}, "stop")]));
    expect(frames.flatMap((frame) => decoder.push(frame)).at(-1)?.type).toBe("finish");
    expect([...decoder.push(frames[0] as (typeof frames)[0]), ...decoder.end()]).toEqual([]);
  });
});
