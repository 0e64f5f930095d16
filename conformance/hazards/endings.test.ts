import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { drained, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness((url) => ({
  // A test that waits for these deadlines does not end.
  config: scriptedModels(url, { first_byte: 600_000, idle: 600_000 }),
  timings: { afterFinishMs: 300, commitDeadlineMs: 600_000 },
}));

const USAGE = { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 };

async function stream(
  dialect: "chat" | "genai",
  play: (response: ServerResponse, reads: (part: string) => Promise<unknown>) => void | Promise<void>,
): Promise<{ text: string; response: Response }> {
  let text = "";
  const reads = (part: string) =>
    eventually(`the client to read ${part}`, () => text.includes(part), { seen: () => text });
  upstream.play(async (_request, response) => {
    startEvents(response);
    await play(response, reads);
  });
  const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  return { text, response };
}

const contentsOf = (text: string, field = "content") =>
  [...text.matchAll(new RegExp(`"${field}":"([^"]*)"`, "g"))].map((match) => match[1]).join("");

/** The response is complete in these; only its trailer is missing. */
describe("H14, H16: nothing after the end of the content is lost", () => {
  const ways = {
    "the connection breaks": (response: ServerResponse) => void response.socket?.destroy(),
    "the host falls silent": () => {},
    "the host closes": (response: ServerResponse) => void response.end(),
  };
  test.each(Object.entries(ways))("%s", async (_, end) => {
    for (const inOneRead of [true, false]) {
      const { text, response } = await stream("chat", async (host, reads) => {
        host.write(wire.chatChunk({ content: "a" }) + (inOneRead ? "" : wire.chatChunk({ content: "b" })));
        if (!inOneRead) await reads('"b"');
        host.write(wire.chatChunk({ content: "c" }) + wire.chatChunk({}, "stop") + wire.chatUsage(USAGE));
        await reads('"c"');
        end(host);
      });
      expect(contentsOf(text)).toBe(inOneRead ? "ac" : "abc");
      expect(text).toEndWith("data: [DONE]\n\n");
      expect(text).not.toContain('"error"');
      const receipt = await gateway.receipt(response);
      expect(receipt).toMatchObject({ usage_source: "measured", usage: { input: 10, output: 7 } });
    }
  });

  test("genai: a single chunk with its STOP, then a break", async () => {
    const { text } = await stream("genai", async (host, reads) => {
      host.write(wire.genaiChunk("whole", "STOP"));
      await reads("whole");
      host.socket?.destroy();
    });
    expect(text).toContain("whole");
    expect(text).not.toContain('"error"');
  });

  test("an error event after the finish is still reported", async () => {
    const { text } = await stream("chat", (host) => {
      host.end(`${wire.chatChunk({ content: "a" }, "stop")}data: {"error":{"message":"too late","code":500}}\n\n`);
    });
    expect(text).toContain('"code":"upstream_failed"');
    expect(text).not.toContain("[DONE]");
  });
});

test("H20: endless data from a host, before or after its content, is not buffered without limit", async () => {
  const flood = (first: string, more: string) =>
    stream("chat", async (host) => {
      host.write(first);
      const block = more.repeat(Math.ceil((1024 * 1024) / more.length));
      for (let sent = 0; sent < 80 && !host.destroyed; sent++) {
        if (!host.write(block)) await drained(host);
      }
      host.end();
    });
  const before = await flood(": begins\n\n", `: ${"nothing to say ".repeat(500)}\n\n`);
  expect(before.response.status).toBe(502);
  expect(before.text).toContain("without any content");
  const after = await flood(
    wire.chatChunk({ content: "a" }) + wire.chatChunk({}, "stop"),
    wire.chatChunk({ content: "and on ".repeat(1000) }),
  );
  expect(after.text.slice(-300)).toContain("after the end of its response");
});

describe("choices 3: every chunk is repaired, not only the first", () => {
  const chunk = (delta: object, more: object = {}) =>
    `data: ${JSON.stringify({ object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
  const end = wire.chatChunk({}, "stop") + wire.done;

  test("a missing id, and an empty one", async () => {
    for (const more of [{}, { id: "" }, { id: null }]) {
      const { text } = await stream("chat", (host) => {
        host.end(["a", "b", "c"].map((content) => chunk({ content }, more)).join("") + end);
      });
      expect(text.match(/"id":"chatcmpl-[\w-]{20,}"/g)).toHaveLength(3);
    }
  });

  test("contract 2.13: reasoning under both names, if a host writes null for the other one", async () => {
    for (const [given, other] of [
      ["reasoning", "reasoning_content"],
      ["reasoning_content", "reasoning"],
    ] as const) {
      const { text } = await stream("chat", (host) => {
        const thoughts = ["t1", "t2", "t3"].map((thought) =>
          chunk({ content: null, [given]: thought, [other]: null }, { id: "c" }),
        );
        host.end(thoughts.join("") + chunk({ content: "x" }, { id: "c" }) + end);
      });
      expect(contentsOf(text, "reasoning")).toBe("t1t2t3");
      expect(contentsOf(text, "reasoning_content")).toBe("t1t2t3");
    }
  });

  test("H22: thoughts of such a host are content and are forwarded at once", async () => {
    const begun = Promise.withResolvers<void>();
    upstream.play(async (_request, host) => {
      startEvents(host);
      host.write(chunk({ content: null, reasoning: "t1", reasoning_content: null }, { id: "c" }));
      await begun.promise;
      host.end(chunk({ content: "x" }, { id: "c" }) + end);
    });
    const response = await callGateway(gateway.url, "chat", gateway.key, { stream: true });
    begun.resolve();
    expect(await response.text()).toContain("t1");
  });
});

describe("events as the standard defines them", () => {
  test("a byte order mark before the first event is ignored", async () => {
    const { text } = await stream("chat", (host) => {
      host.end(`\uFEFF${wire.chatChunk({ content: "a" })}${wire.chatChunk({}, "stop")}${wire.done}`);
    });
    expect(text).toStartWith("data: ");
    expect(text).not.toContain("upstream-model");
  });

  test("an event with empty data is ignored", async () => {
    const { text } = await stream("chat", (host) => {
      host.end(`${wire.chatChunk({ content: "a" })}data:\n\ndata: \n\n${wire.chatChunk({}, "stop")}${wire.done}`);
    });
    expect(text).toEndWith("[DONE]\n\n");
    expect(text).not.toContain('"error"');
  });

  test("a chunk that is not JSON is reported as an error, even among ordinary chunks", async () => {
    const padded = (content: string) => wire.chatChunk({ content }, null, { obfuscation: "pad" });
    for (const [good, bad] of [
      ['"b"', '"b\n"'],
      ['"pad"', '"pa\nd"'],
    ] as const) {
      const { text } = await stream("chat", (host) => {
        host.end(padded("a") + padded("b") + padded("b").replace(good, bad) + wire.chatChunk({}, "stop") + wire.done);
      });
      expect(text).toContain('"error"');
      expect(text).not.toContain("[DONE]");
    }
  });
});
