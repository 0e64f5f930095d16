import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { MOST_LEFT_TEXTS } from "../../src/relay/attempt.ts";
import { buildCall, type CallOptions, DIALECTS } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall, callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";
import { freePort, startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** H26: what was begun is billed by the upstream's own figures, and leaving early is never cheaper than the answer. */
const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;
const READ_ON_MS = 400;
/** By then a gateway has seen that its client is gone. */
const NOTICED_MS = 40;
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    ...scriptedModels(url),
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "poor", key: keyOf("Poor"), limits: { budget_usd_per_day: 0.05 } },
    ],
  },
  timings: { commitDeadlineMs: 200, keepAliveMs: 50, readOnMs: READ_ON_MS },
}));
/** A gateway that would read on for long: what ends there sooner is ended by another bound. */
const patient = await startTestGateway({
  config: {
    server: { host: "127.0.0.1", port: await freePort(), drain_seconds: 0.2 },
    ...scriptedModels(upstream.url, { first_byte: 60_000, idle: 60_000 }),
  },
  timings: { readOnMs: 60_000 },
});
afterAll(() => patient.stop());

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`in vain: ${what}`);
    await Bun.sleep(5);
  }
}

interface Row {
  outcome: string;
  usage_source: string;
  usage_input: number | null;
  usage_output: number | null;
  usage_reasoning: number | null;
  usage_searches: number | null;
  cost_nano_usd: number;
  offers: string;
}

function rowsOf({ folder }: TestGateway): Row[] {
  const database = new Database(join(folder, "data", "trivium.db"), { readonly: true });
  try {
    return database.query("SELECT * FROM receipts ORDER BY id").all() as Row[];
  } finally {
    database.close();
  }
}

/** The row of the one call that is made in between. */
async function rowOf(call: () => Promise<void>, at = gateway): Promise<Row> {
  const before = rowsOf(at).length;
  await call();
  await until(() => rowsOf(at).length > before, "the call's row");
  await until(() => upstream.open === 0, "no upstream request is left open");
  return rowsOf(at).at(-1) as Row;
}

/** Reads a stream up to some word, then leaves. */
async function leaveAt(word: string, client: DialectName, options: CallOptions, at = gateway): Promise<void> {
  const controller = new AbortController();
  const response = await callGateway(at.url, client, at.key, { ...options, stream: true, signal: controller.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  for (let text = ""; !text.includes(word); ) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended before "${word}": ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  controller.abort();
  await reader.closed.catch(() => {});
}

const BEGINNING: Record<DialectName, string> = {
  chat: wire.chatChunk({ content: "All but the " }) + wire.chatChunk({ content: "last" }),
  messages: wire.messageStart({ input_tokens: 10, output_tokens: 1 }) + wire.textBlock("All but the ", "last"),
  genai: wire.genaiChunk("All but the ") + wire.genaiChunk("last"),
};
const END: Record<DialectName, string> = {
  chat:
    wire.chatChunk({}, "stop") +
    wire.chatUsage({
      prompt_tokens: 10,
      completion_tokens: 20_005,
      total_tokens: 20_015,
      completion_tokens_details: { reasoning_tokens: 20_000 },
    }) +
    wire.done,
  messages: wire.messageEnd({ output_tokens: 20_005, output_tokens_details: { thinking_tokens: 20_000 } }),
  genai: wire.genaiChunk("", "STOP", {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 20_000,
    totalTokenCount: 20_015,
  }),
};
const MEASURED = {
  usage_source: "measured",
  usage_input: 10,
  usage_output: 5,
  usage_reasoning: 20_000,
  cost_nano_usd: 10 * 1_000 + 20_005 * 2_000,
};

/** An upstream that begins, and ends when it is told to. */
function playStream(host: DialectName): () => void {
  let held: ServerResponse | undefined;
  upstream.play((_request, response) => {
    startEvents(response);
    response.write(BEGINNING[host]);
    held = response;
  });
  return () => void held?.end(END[host]);
}

describe("the client leaves at the last word, before the usage", () => {
  test.each(DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host: the upstream's own figures are billed",
    async (client, host) => {
      const end = playStream(host);
      const row = await rowOf(async () => {
        await leaveAt("last", client, { model: `test/${host}` });
        await Bun.sleep(NOTICED_MS);
        end();
      });
      expect(row).toMatchObject(MEASURED);
      expect(upstream.seen).toHaveLength(1);
      expect(upstream.left).toBe(0);
    },
  );

  test("its key's budget pays for all of it", async () => {
    const key = keyOf("Poor");
    const end = playStream("chat");
    const small = { max_completion_tokens: 8_000 };
    await rowOf(async () => {
      await leaveAt("last", "chat", { key, body: small });
      await Bun.sleep(NOTICED_MS);
      end();
    });
    // 0.04 USD of 0.05 are spent: an answer of 8,000 tokens might cost 0.016.
    expect((await callGateway(gateway.url, "chat", key, { body: small })).status).toBe(402);
  });
});

describe("the upstream goes on and on: it is ended, and an estimate is billed", () => {
  /** Sends some text, and then nothing more, or more and more. */
  const playOn = (host: DialectName, said: string, more?: string) =>
    upstream.play(async (_request, response) => {
      startEvents(response);
      const first = { chat: wire.chatChunk({ content: said }), messages: wire.messageStart() + wire.textBlock(said) };
      response.write(host === "genai" ? wire.genaiChunk(said) : first[host]);
      while (more !== undefined && !response.destroyed) {
        response.write(more);
        await Bun.sleep(20);
      }
    });

  test.each([
    ["chat", { reasoning_effort: "low" }, 2_048],
    // The model's own limit is 8,192, and one token of it was seen.
    ["chat", { reasoning_effort: "high" }, 8_191],
    ["chat", { reasoning: { max_tokens: 5_000 } }, 5_000],
    ["chat", { reasoning_effort: "none" }, 0],
    ["chat", { reasoning_effort: "high", max_completion_tokens: 1_000 }, 999],
  ] as const)(
    "a %s client that asks for %j pays for %p tokens of thinking that nobody saw",
    async (client, body, least) => {
      playOn("chat", "last", wire.chatChunk({ content: "" }));
      const row = await rowOf(() => leaveAt("last", client, { body }));
      expect(upstream.left).toBe(1);
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial", usage_output: 1 });
      expect(row.usage_reasoning ?? 0).toBe(least);
    },
  );

  test.each([
    ["messages", { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 4_000 } }],
    ["genai", { generationConfig: { thinkingConfig: { thinkingBudget: 4_000 } } }],
  ] as const)("a %s client's budget counts too, in translation", async (client, body) => {
    playOn("chat", "last");
    const row = await rowOf(() => leaveAt("last", client, { model: "test/chat", body }));
    expect(row).toMatchObject({ usage_source: "partial", usage_output: 1, usage_reasoning: 4_000 });
  });

  test("thoughts that were shown are not billed twice", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.write(wire.chatChunk({ reasoning_content: "t".repeat(400) }) + wire.chatChunk({ content: "last" }));
    });
    const row = await rowOf(() => leaveAt("last", "chat", { body: { reasoning_effort: "high" } }));
    expect(row).toMatchObject({ usage_source: "partial", usage_output: 101, usage_reasoning: null });
  });

  test.each(DIALECTS.flatMap((client) => (["chat", "messages"] as const).map((host) => [client, host] as const)))(
    "a %s client, a %s host: a Chinese character is about a token",
    async (client, host) => {
      playOn(host, `${"中文字符".repeat(250)}终`);
      const body = {
        chat: { reasoning_effort: "none" },
        messages: { max_tokens: 8_000, thinking: { type: "disabled" } },
        genai: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      }[client];
      const row = await rowOf(() => leaveAt("终", client, { model: `test/${host}`, body }));
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
      expect(row.usage_output ?? 0).toBeGreaterThanOrEqual(1_000);
      expect(row.usage_output ?? 0).toBeLessThan(1_100);
    },
  );

  test.each(DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const)))(
    "a %s client, a %s host: each event is a token at least, however short",
    async (client, host) => {
      const digits = Array.from({ length: 60 }, (_, index) => String(index % 10));
      upstream.play((_request, response) => {
        startEvents(response);
        const delta = (text: string) =>
          wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
        const said = [...digits, "last"];
        const pieces = {
          chat: () => said.map((content) => wire.chatChunk({ content })),
          messages: () => [wire.messageStart(), wire.textBlock(), ...said.map(delta)],
          // A host that tells nothing as it goes on.
          genai: () => said.map((text) => wire.genaiChunk(text, undefined, {})),
        }[host]();
        for (const piece of pieces) response.write(piece);
      });
      const body = {
        chat: { reasoning_effort: "none" },
        messages: { max_tokens: 8_000, thinking: { type: "disabled" } },
        genai: { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } },
      }[client];
      const row = await rowOf(() => leaveAt("last", client, { model: `test/${host}`, body }));
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
      expect(row.usage_output ?? 0).toBeGreaterThanOrEqual(digits.length);
    },
  );

  test.each(DIALECTS)(
    "a %s client pays for the searches that it has seen, though their number comes at the end",
    async (client) => {
      upstream.play((_request, response) => {
        startEvents(response);
        const search = (index: number, content: unknown) => [
          wire.event({
            type: "content_block_start",
            index,
            content_block: { type: "server_tool_use", id: `srvtoolu_${index}`, name: "web_search", input: {} },
          }),
          wire.event({ type: "content_block_stop", index }),
          wire.event({
            type: "content_block_start",
            index: index + 1,
            content_block: { type: "web_search_tool_result", tool_use_id: `srvtoolu_${index}`, content },
          }),
          wire.event({ type: "content_block_stop", index: index + 1 }),
        ];
        const page = {
          type: "web_search_result",
          url: "https://example.com",
          title: "A page",
          encrypted_content: "EqgB",
        };
        const failed = { type: "web_search_tool_result_error", error_code: "unavailable" };
        const text = [
          wire.event({ type: "content_block_start", index: 9, content_block: { type: "text", text: "" } }),
          wire.event({ type: "content_block_delta", index: 9, delta: { type: "text_delta", text: "last" } }),
        ];
        const blocks = [...search(0, [page]), ...search(2, [page]), ...search(4, failed), ...text];
        response.write(wire.messageStart() + blocks.join(""));
      });
      const row = await rowOf(() => leaveAt("last", client, { model: "test/messages" }));
      expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial", usage_searches: 2 });
    },
  );

  test("it is ended by its bytes where they come fast", async () => {
    const piece = wire.chatChunk({ content: "x".repeat(100_000) });
    playOn("chat", "last", piece.repeat(10));
    await rowOf(() => leaveAt("last", "chat", {}, patient), patient);
    expect(upstream.left).toBe(1);
  });
});

describe("the client leaves before the first content", () => {
  test.each([
    ["an answer in one piece", false, 0],
    ["a stream whose headers are not sent", true, 0],
    ["a stream with keep-alives", true, 300],
  ] as const)("%s: what comes is billed by its own figures", async (_, stream, afterMs) => {
    for (const dialect of DIALECTS) {
      let held: ServerResponse | undefined;
      upstream.play((_request, response) => {
        held = response;
      });
      const row = await rowOf(async () => {
        const controller = new AbortController();
        const options = { stream, signal: controller.signal };
        const call = callGateway(gateway.url, dialect, TEST_KEY, options).then((response) => response.text());
        await until(() => held !== undefined, "the upstream is asked");
        await Bun.sleep(afterMs);
        controller.abort();
        await call.catch(() => {});
        await Bun.sleep(NOTICED_MS);
        const response = held as ServerResponse;
        if (!stream) sendJson(response, WHOLE[dialect]);
        else {
          startEvents(response);
          response.end(BEGINNING[dialect] + END[dialect]);
        }
      });
      expect(row).toMatchObject({ outcome: "client_gone", ...MEASURED });
      expect(upstream.seen).toHaveLength(1);
      expect(upstream.left).toBe(0);
    }
  });

  test.each([true, false])("stream %p: nothing comes: the prompt, and what its time allows", async (stream) => {
    upstream.play(() => {});
    const row = await rowOf(async () => {
      const controller = new AbortController();
      const body = { reasoning_effort: "none", messages: [{ role: "user", content: "word ".repeat(4_000) }] };
      const options = { stream, body, signal: controller.signal };
      const call = callGateway(gateway.url, "chat", TEST_KEY, options).then((response) => response.text());
      await until(() => upstream.seen.length === 1, "the upstream is asked");
      controller.abort();
      await call.catch(() => {});
    });
    expect(upstream.left).toBe(1);
    expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
    expect(row.usage_input).toBeGreaterThan(4_900);
    const generated = (row.usage_output ?? 0) + (row.usage_reasoning ?? 0);
    expect(generated).toBeGreaterThanOrEqual(READ_ON_MS / 10);
    expect(generated).toBeLessThan(500);
  });

  test("the provider fails by itself: nothing is billed, and nobody else is asked", async () => {
    let held: ServerResponse | undefined;
    upstream.play((_request, response) => {
      held = response;
    });
    const row = await rowOf(async () => {
      const controller = new AbortController();
      const call = callGateway(gateway.url, "chat", TEST_KEY, { signal: controller.signal });
      await until(() => held !== undefined, "the upstream is asked");
      controller.abort();
      await call.catch(() => {});
      await Bun.sleep(NOTICED_MS);
      sendJson(held as ServerResponse, { error: { message: "broken", type: "server_error" } }, 500);
    });
    expect(row).toMatchObject({ outcome: "client_gone", cost_nano_usd: 0 });
    expect(row.offers).toContain('"failed"');
    expect(upstream.seen).toHaveLength(1);
  });
});

const usage = { prompt_tokens: 10, completion_tokens: 20_005, completion_tokens_details: { reasoning_tokens: 20_000 } };
const WHOLE: Record<DialectName, object> = {
  chat: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "All of it." }, finish_reason: "stop" }],
    usage,
  },
  messages: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "All of it." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 20_005, output_tokens_details: { thinking_tokens: 20_000 } },
  },
  genai: {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: "All of it." }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 20_000,
      totalTokenCount: 20_015,
    },
  },
};

test("H13: no more than so many upstreams are read without a client, and the drain's end ends them all", async () => {
  upstream.play(() => {});
  const surplus = 4;
  const sockets = Array.from({ length: MOST_LEFT_TEXTS + surplus }, () => {
    const call = buildCall(patient.url, "chat", patient.key);
    const body = String(call[1].body);
    const socket = beginCall(call, body.length);
    socket.write(body);
    return socket;
  });
  await until(() => upstream.open === MOST_LEFT_TEXTS + surplus, "all calls are upstream");
  const before = rowsOf(patient).length;
  for (const socket of sockets) socket.destroy();
  await until(() => upstream.left === surplus, "the surplus is ended");
  await until(() => rowsOf(patient).length === before + surplus, "their rows");
  expect(upstream.open).toBe(MOST_LEFT_TEXTS);
  await patient.app.stop();
  await until(() => upstream.open === 0, "the drain ends the others");
  const rows = rowsOf(patient).slice(before);
  expect(rows).toHaveLength(MOST_LEFT_TEXTS + surplus);
  for (const row of rows) expect(row).toMatchObject({ outcome: "client_gone", usage_source: "partial" });
}, 30_000);
