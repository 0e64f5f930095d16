import { afterAll, beforeAll, expect, test } from "bun:test";
import { Page } from "../scripts/markdown-page.ts";
import { eventually } from "../testing/eventually.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { BatchClients, receiptRows } from "./support/native-batches.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

let gateway: TestGateway;
let clients: BatchClients;

beforeAll(async () => {
  const config = Bun.YAML.parse(new Page("docs/batches.md").one("yaml")) as Record<string, unknown>;
  gateway = await startTestGateway({ config });
  clients = new BatchClients(gateway, TEST_KEY);
});
afterAll(() => gateway.stop());

const rowsOf = async (model: string) => (await receiptRows(gateway)).filter((row) => row.model === model);

/** Each form at the batch API of each vendor, through the model that speaks its protocol alone. */
const FORMS = ["chat", "messages", "genai"] as const;
const MODELS = ["sim/standard-chat", "sim/standard-responses", "sim/standard-messages", "sim/standard-genai"] as const;
const MATRIX = [
  ...FORMS.map((form) => [form, "sim/thinker"] as const),
  ...MODELS.map((model) => ["chat", model] as const),
];

test.each(MATRIX)(
  "docs/batches.md, Batches at providers: a batch in the form of %s on %s runs in the simulator at half the price",
  async (form, model) => {
    const before = new Set((await rowsOf(model)).map(({ id }) => id));
    const outcome = await clients.run(form, [
      { id: "a", model, content: "One." },
      { id: "b", model, content: "Two." },
    ]);
    expect(outcome.lines.map(({ id, ok }) => [id, ok])).toEqual([
      ["a", true],
      ["b", true],
    ]);
    expect(outcome.lines[0]?.text).toContain("One.");
    // No id of the simulator reaches the client.
    expect(outcome.shown + JSON.stringify(outcome.lines)).not.toMatch(/batch_sim|batches\/sim|file-sim/);
    const rows = (await rowsOf(model)).filter(({ id }) => !before.has(id));
    expect(rows).toHaveLength(2);
    for (const { outcome: how, price_rule, unpriced = [], cost_nano_usd } of rows) {
      expect({ how, unpriced }).toEqual({ how: "ok", unpriced: [] });
      expect(price_rule).toContain("× 0.5 batch");
      expect(cost_nano_usd).toBeGreaterThan(0);
    }
  },
  30_000,
);

test("decision 0108: the batch price is half of what the same call costs", async () => {
  const model = "sim/no-done";
  const ask = { model, max_completion_tokens: 600, messages: [{ role: "user", content: "Three." }] } as const;
  // The prompt of the first call is cached for those after it.
  for (let calls = 0; calls < 2; calls++)
    await clients.openai.chat.completions.create({ ...ask, messages: [...ask.messages] });
  const [called] = await rowsOf(model);
  await clients.run("chat", [{ id: "a", model, content: "Three." }]);
  const [batched] = await rowsOf(model);
  expect(batched?.id).not.toBe(called?.id ?? "");
  expect(batched?.cost_nano_usd).toBe((called?.cost_nano_usd ?? 0) / 2);
}, 30_000);

test("a line that the simulator refuses fails alone, and a batch that fails says why", async () => {
  const outcome = await clients.run("messages", [
    { id: "a", model: "sim/fail-400", content: "One." },
    { id: "b", model: "sim/fail-400", content: "Two." },
  ]);
  expect(outcome.lines.map(({ ok }) => ok)).toEqual([false, false]);
  expect((await rowsOf("sim/fail-400")).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([0, 0]);
  const failed = await clients.run("chat", [{ id: "a", model: "sim/standard", content: "sim:batch-fails" }]);
  expect(failed.state).toBe("failed");
  expect(failed.shown).toContain("Simulated: the batch fails.");
}, 30_000);

test("H43: a cancelled batch is cancelled in the simulator", async () => {
  const id = await clients.create("chat", [{ id: "a", model: "sim/agent", content: "sim:batch-waits" }]);
  await eventually("the batch", async () => (await clients.openai.batches.retrieve(id)).status === "in_progress");
  await clients.openai.batches.cancel(id);
  const outcome = await clients.wait("chat", id);
  expect(outcome.state).toBe("cancelled");
  expect(outcome.lines.map(({ ok }) => ok)).toEqual([false]);
  expect(await rowsOf("sim/agent")).toEqual([]);
}, 30_000);

test("embeddings run in the simulator too", async () => {
  const line = {
    custom_id: "a",
    method: "POST",
    url: "/v1/embeddings",
    body: { model: "sim/embedding", input: "One." },
  };
  const file = new File([JSON.stringify(line)], "in.jsonl");
  const { id: input_file_id } = await clients.openai.files.create({ file, purpose: "batch" });
  const { id } = await clients.openai.batches.create({
    input_file_id,
    endpoint: "/v1/embeddings",
    completion_window: "24h",
  });
  expect(await clients.wait("chat", id)).toMatchObject({ state: "completed", lines: [{ ok: true }] });
  expect((await rowsOf("sim/embedding"))[0]?.price_rule).toContain("× 0.5 batch");
}, 30_000);
