import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import type { PlayedBatchHost } from "../../testing/hosts/batch-host.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import {
  BatchClients,
  LIST_NANO_USD,
  nativeModels,
  type ReceiptRow,
  type Request,
  receiptRows,
  startBatchHost,
} from "../support/native-batches.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "../support/test-gateway.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const LIMITED = "trv_limited_key_of_this_test_0001";
const BATCH_NANO_USD = LIST_NANO_USD / 2;

let host: PlayedBatchHost;
let gateway: TestGateway;
let clients: BatchClients;
let earlier: Set<string>;

beforeAll(async () => {
  host = await startBatchHost();
  gateway = await startTestGateway({
    config: {
      ...nativeModels(host.url),
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "limited", key: LIMITED, limits: { budget_usd_total: 0.02 } },
      ],
    },
    timings: { batchLookupMs: 300 },
  });
  clients = new BatchClients(gateway, TEST_KEY);
});
afterAll(async () => {
  await gateway.stop();
  await host.stop();
});
beforeEach(async () => {
  host.reset();
  earlier = new Set((await receiptRows(gateway)).map(({ id }) => id));
});

const receipts = async (): Promise<ReceiptRow[]> => (await receiptRows(gateway)).filter(({ id }) => !earlier.has(id));
const sum = (rows: readonly ReceiptRow[]): number => rows.reduce((all, { cost_nano_usd }) => all + cost_nano_usd, 0);

const requests = (model: string, count = 3): Request[] =>
  Array.from({ length: count }, (_, index) => ({ id: `r-${index + 1}`, model, content: `Please say-w${index + 1}` }));

const FORMS = ["chat", "messages", "genai"] as const;
const VENDORS = [
  ["openai", "test/chat"],
  ["anthropic", "test/messages"],
  ["gemini", "test/genai"],
] as const;
const MATRIX = FORMS.flatMap((form) => VENDORS.map(([vendor, model]) => [form, vendor, model] as const));

describe("choices 12: native batches", () => {
  test.each(MATRIX)("a batch in the form of %s runs at the batch API of %s", async (form, _vendor, model) => {
    const outcome = await clients.run(form, requests(model));
    expect(outcome.lines.map(({ id, ok }) => [id, ok])).toEqual([
      ["r-1", true],
      ["r-2", true],
      ["r-3", true],
    ]);
    for (const [index, { text }] of outcome.lines.entries()) expect(text).toContain(`heard say-w${index + 1}`);
    expect(host.counts).toMatchObject({ creations: 1, calls: 0 });
    const rows = await receipts();
    expect(rows.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([BATCH_NANO_USD, BATCH_NANO_USD, BATCH_NANO_USD]);
    expect(rows.every(({ outcome: how, price_rule }) => how === "ok" && price_rule.includes("× 0.5 batch"))).toBe(true);
    expect(rows.every(({ unpriced }) => (unpriced ?? []).length === 0)).toBe(true);
    // No name of the provider's account reaches the client.
    expect(outcome.shown + JSON.stringify(outcome.lines)).not.toContain("of-host");
  });

  test("responses run at the batch API too", async () => {
    const id = await clients.create("responses", requests("test/messages", 1));
    const outcome = await clients.wait("chat", id);
    expect(outcome).toMatchObject({ state: "completed", lines: [{ id: "r-1", ok: true }] });
    expect(host.counts).toMatchObject({ creations: 1, calls: 0 });
  });

  test("embeddings run at the batch API too", async () => {
    const line = (custom_id: string, input: unknown) =>
      JSON.stringify({ custom_id, method: "POST", url: "/v1/embeddings", body: { model: "test/embed", input } });
    const long = "word ".repeat(1000);
    const file = new File([`${line("a", long)}\n${line("b", [long, "short"])}`], "in.jsonl");
    const { id: input_file_id } = await clients.openai.files.create({ file, purpose: "batch" });
    const window = { completion_window: "24h", input_file_id } as const;
    const { id } = await clients.openai.batches.create({ ...window, endpoint: "/v1/embeddings" });
    const outcome = await clients.wait("chat", id);
    expect(outcome).toMatchObject({ state: "completed", lines: [{ ok: true }, { ok: true }] });
    const body = JSON.parse(outcome.lines[1]?.text ?? "") as {
      response: { body: { data: { embedding: number[] }[] } };
    };
    expect(body.response.body.data.map(({ embedding }) => embedding)).toEqual([
      [0.5, 0.25],
      [0.5, 0.25],
    ]);
    expect(host.counts).toMatchObject({ creations: 1, calls: 0 });
    // 1000 tokens for 1 USD per million, at half the price.
    expect((await receipts()).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([500_000, 500_000]);
  });

  test.each(MATRIX)("%s at %s: a bad line and an unknown model fail alone", async (form, _vendor, model) => {
    const outcome = await clients.run(form, [
      { id: "good", model, content: "say-good" },
      { id: "bad", model, content: "say-bad" },
      { id: "unknown", model: "no/such", content: "say-x" },
    ]);
    expect(Object.fromEntries(outcome.lines.map(({ id, ok }) => [id, ok]))).toEqual({
      good: true,
      bad: false,
      unknown: false,
    });
    const { text = "" } = outcome.lines.find(({ id }) => id === "bad") ?? {};
    expect(text).toContain("This line is bad.");
    expect(host.counts).toMatchObject({ creations: 1, calls: 0 });
    expect([...host.batches.values()][0]?.lines.length).toBe(2);
    // The line that the provider refused has a receipt, and costs nothing.
    expect((await receipts()).map((row) => row.cost_nano_usd).sort((a, b) => a - b)).toEqual([0, BATCH_NANO_USD]);
  });

  test("lines that go to two offers are run by the gateway, at the ordinary price", async () => {
    const outcome = await clients.run("chat", [
      ...requests("test/chat", 1),
      { ...requests("test/messages", 2)[1] } as Request,
    ]);
    expect(outcome.lines.every(({ ok }) => ok)).toBe(true);
    expect(host.counts).toMatchObject({ creations: 0, calls: 2 });
    expect(sum(await receipts())).toBe(2 * LIST_NANO_USD);
  });

  test("a shorter completion_window is run by the gateway", async () => {
    const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions" };
    const body = { model: "test/chat", messages: [{ role: "user", content: "say-a" }] };
    const file = new File([JSON.stringify({ ...line, body })], "in.jsonl");
    const { id: input_file_id } = await clients.openai.files.create({ file, purpose: "batch" });
    const { id } = await clients.openai.batches.create({
      input_file_id,
      endpoint: "/v1/chat/completions",
      completion_window: "1h" as "24h",
    });
    expect(await clients.wait("chat", id)).toMatchObject({ state: "completed" });
    expect(host.counts).toMatchObject({ creations: 0, calls: 1 });
  });

  test.each(MATRIX)("H43: %s at %s: a cancelled batch keeps and bills what was done", async (form, _vendor, model) => {
    host.faults.isHeld = true;
    host.faults.doneAtCancel = 1;
    const id = await clients.create(form, requests(model));
    await eventually("the batch at the host", () => host.counts.creations === 1);
    if (form === "chat") await clients.openai.batches.cancel(id);
    else if (form === "messages") await clients.anthropic.messages.batches.cancel(id);
    else await clients.genai.batches.cancel({ name: id });
    const outcome = await clients.wait(form, id);
    expect(host.counts.cancels).toBe(1);
    expect(outcome.lines.map(({ id: name, ok }) => [name, ok])).toEqual([
      ["r-1", true],
      ["r-2", false],
      ["r-3", false],
    ]);
    expect((await receipts()).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([BATCH_NANO_USD]);
  });

  test.each(MATRIX)(
    "H43: %s at %s: a batch that expires at its provider bills what was done",
    async (form, _vendor, model) => {
      host.faults.expiresAfter = 2;
      const outcome = await clients.run(form, requests(model));
      expect(outcome.lines.map(({ ok }) => ok)).toEqual([true, true, false]);
      if (form === "chat") {
        expect(outcome.state).toBe("expired");
        expect(outcome.lines[2]?.text).toContain("batch_expired");
      }
      expect(sum(await receipts())).toBe(2 * BATCH_NANO_USD);
    },
  );

  test.each(VENDORS)(
    "H43: %s repeats a result and invents another: each line is billed once",
    async (_vendor, model) => {
      host.faults.repeats = true;
      host.faults.strays = true;
      const outcome = await clients.run("chat", requests(model));
      expect(outcome.lines.map(({ id, ok }) => [id, ok])).toEqual([
        ["r-1", true],
        ["r-2", true],
        ["r-3", true],
      ]);
      const rows = await receipts();
      expect([rows.length, sum(rows)]).toEqual([3, 3 * BATCH_NANO_USD]);
    },
  );

  test.each(VENDORS)("%s loses a result: the line has an error", async (_vendor, model) => {
    host.faults.missing = 1;
    const outcome = await clients.run("messages", requests(model));
    expect(outcome.lines.map(({ id, ok }) => [id, ok])).toEqual([
      ["r-1", true],
      ["r-2", false],
      ["r-3", true],
    ]);
    expect(outcome.lines[1]?.text).toContain("no result");
    expect(sum(await receipts())).toBe(2 * BATCH_NANO_USD);
  });

  test.each([VENDORS[0], VENDORS[1]])(
    "%s breaks off the results: they are read again",
    async (_vendor, model) => {
      host.faults.cutResults = 1;
      const outcome = await clients.run("chat", requests(model, 40));
      expect(outcome.lines.map(({ id }) => id)).toEqual(requests(model, 40).map(({ id }) => id));
      const rows = await receipts();
      expect([rows.length, sum(rows)]).toEqual([40, 40 * BATCH_NANO_USD]);
    },
    60_000,
  );

  test.each(VENDORS)(
    "H43: the response to the creation at %s is lost: it is created once",
    async (_vendor, model) => {
      host.faults.lostCreations = 1;
      const outcome = await clients.run("chat", requests(model));
      expect(outcome).toMatchObject({ state: "completed" });
      expect(outcome.lines.every(({ ok }) => ok)).toBe(true);
      expect(host.counts.creations).toBe(1);
      expect(host.counts.lists).toBeGreaterThan(0);
      expect(sum(await receipts())).toBe(3 * BATCH_NANO_USD);
    },
    120_000,
  );

  test.each(VENDORS)("%s refuses the batch: the gateway runs it", async (_vendor, model) => {
    host.faults.refusals = { status: 400, times: 1 };
    const outcome = await clients.run("chat", requests(model));
    expect(outcome.lines.every(({ ok }) => ok)).toBe(true);
    expect(host.counts).toMatchObject({ creations: 1, calls: 3 });
    expect(sum(await receipts())).toBe(3 * LIST_NANO_USD);
  });

  test("a batch that fails at its provider fails with the provider's reason", async () => {
    host.faults.failure = "Enqueued token limit reached.";
    const outcome = await clients.run("chat", requests("test/chat"));
    expect(outcome).toMatchObject({ state: "failed", lines: [] });
    expect(outcome.shown).toContain("Enqueued token limit reached.");
    expect(await receipts()).toEqual([]);
  });

  test("H43: a line whose file was deleted meanwhile is billed, and has the error", async () => {
    host.faults.isHeld = true;
    const image = new File([Buffer.from(PNG, "base64")], "a.png", { type: "image/png" });
    const { id: file_id } = await clients.openai.files.create({ file: image, purpose: "vision" });
    const content = [
      { type: "text", text: "say-seen" },
      { type: "image", source: { type: "file", file_id: file_id.replace("file-", "file_") } },
    ];
    const params = { model: "test/messages", max_tokens: 600, messages: [{ role: "user", content }] };
    const { id } = await clients.anthropic.messages.batches.create({
      requests: [{ custom_id: "a", params: params as never }],
    });
    await eventually("the batch at the host", () => host.counts.creations === 1);
    await clients.openai.files.delete(file_id);
    host.faults.isHeld = false;
    const outcome = await clients.wait("messages", id);
    expect(outcome.lines.map(({ ok }) => ok)).toEqual([false]);
    expect((await receipts()).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([BATCH_NANO_USD]);
  });

  test("a revoked key cancels its batch at the provider", async () => {
    host.faults.isHeld = true;
    host.faults.doneAtCancel = 2;
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" };
    const made = await fetch(`${gateway.adminUrl}/api/keys`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "short-lived" }),
    });
    const { id: keyId, key } = ((await made.json()) as { data: { id: string; key: string } }).data;
    await new BatchClients(gateway, key).create("chat", requests("test/chat"));
    await eventually("the batch at the host", () => host.counts.creations === 1);
    const revoked = await fetch(`${gateway.adminUrl}/api/keys/${keyId}`, { method: "DELETE", headers });
    expect(revoked.ok).toBe(true);
    await eventually("the batch at the host", () => host.counts.cancels === 1);
    await eventually("two receipts", async () => (await receipts()).length >= 2);
    expect(sum(await receipts())).toBe(2 * BATCH_NANO_USD);
  }, 20_000);

  test("asks the provider less often than clients ask", async () => {
    host.faults.isHeld = true;
    const id = await clients.create("chat", requests("test/chat"));
    await eventually("the batch at the host", () => host.counts.creations === 1);
    let asked = 0;
    await eventually("three polls", async () => {
      await clients.openai.batches.retrieve(id);
      asked++;
      return host.polledAtMs.length >= 3;
    });
    expect(asked).toBeGreaterThan(3 * host.polledAtMs.length);
    host.faults.isHeld = false;
    expect(await clients.wait("chat", id)).toMatchObject({ state: "completed" });
  }, 20_000);
});

describe("choices 11: what a native batch costs", () => {
  test("without a known batch price the receipts are marked, and the ordinary price is billed", async () => {
    const outcome = await clients.run("chat", requests("test/unpriced"));
    expect(outcome.lines.every(({ ok }) => ok)).toBe(true);
    expect(host.counts).toMatchObject({ creations: 1, calls: 0 });
    const rows = await receipts();
    expect(rows.map(({ unpriced }) => unpriced)).toEqual([["batch"], ["batch"], ["batch"]]);
    expect(sum(rows)).toBe(3 * LIST_NANO_USD);
  });

  test("a key with a budget runs such a batch at the ordinary price, which is known", async () => {
    const outcome = await new BatchClients(gateway, LIMITED).run("chat", requests("test/unpriced", 2));
    expect(outcome.lines.every(({ ok }) => ok)).toBe(true);
    expect(host.counts).toMatchObject({ creations: 0, calls: 2 });
    expect((await receipts()).every(({ unpriced }) => (unpriced ?? []).length === 0)).toBe(true);
  });

  test("H23: what the lines may cost is held while the provider has them", async () => {
    host.faults.isHeld = true;
    const limited = new BatchClients(gateway, LIMITED);
    // 12 lines of at most 600 tokens for 2 USD per million, and their prompts: most of what is left of 0.02 USD.
    const id = await limited.create("chat", requests("test/chat", 12));
    await eventually("the batch at the host", () => host.counts.creations === 1);
    const call = {
      model: "test/chat",
      max_completion_tokens: 4_000,
      messages: [{ role: "user" as const, content: "x" }],
    };
    const tried = () => limited.openai.chat.completions.create(call).catch((error: unknown) => error as object);
    expect(await tried()).toMatchObject({ status: 402 });
    await limited.openai.batches.cancel(id);
    expect(await limited.wait("chat", id)).toMatchObject({ state: "cancelled" });
    await eventually("the release of the budget", async () => "object" in (await tried()));
  }, 20_000);

  test("a counter that nobody knows is marked in the receipt of its line", async () => {
    await clients.run("messages", [{ id: "odd", model: "test/messages", content: "say-odd" }]);
    expect(await receipts()).toMatchObject([{ unpriced: ["usage.hologram_tokens"], cost_nano_usd: BATCH_NANO_USD }]);
  });
});
