import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { MapNode } from "../src/config/document-node.ts";
import { readPlacedDocument } from "../src/config/placed-document.ts";
import { programsPresent } from "../testing/is-present.ts";
import type { ReceiptData } from "../testing/receipt-data.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const page = new Page("docs/routing.md");
const canPaste = programsPresent("shell examples of docs/routing.md", "curl", "sed");

let simulator: Simulator;
let gateway: TestGateway;
let folder: ExampleFolder;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  const [file = ""] = page.in("yaml");
  const config = Bun.YAML.parse(file.replaceAll("http://127.0.0.1:8790", simulator.url)) as Record<string, unknown>;
  gateway = await startTestGateway({ config });
  folder = new ExampleFolder({
    TRIVIUM_URL: gateway.url,
    TRIVIUM_API_KEY: gateway.key,
    TRIVIUM_CONFIG: gateway.configFile,
  });
  if (canPaste) await folder.shell(page.one("sh", "cat > route.sh"));
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
  folder.remove();
});

const receiptIn = (text: string): ReceiptData => (JSON.parse(text) as { data: ReceiptData }).data;

/** The example that contains these words; returns its receipt. */
const receiptOf = async (words: string): Promise<ReceiptData> => receiptIn(await folder.shell(page.one("sh", words)));

const planOf = ({ plan }: ReceiptData) => plan?.map(({ provider, why }) => `${provider}: ${why}`);

test("every block of docs/routing.md is run, loaded or compared here", () => {
  expect(page.counts()).toEqual({ yaml: 4, sh: 12, json: 2, ts: 1 });
});

describe.skipIf(!canPaste)("docs/routing.md", () => {
  test("priority: the requested providers in order, with the plan shown on the page", async () => {
    const receipt = await receiptOf('"providers":["west","east"]');
    const shown = JSON.parse(`{${page.in("json")[1]}}`) as Pick<ReceiptData, "plan">;
    expect(receipt).toMatchObject({ provider: "west", plan: shown.plan });
  });

  test("priority by cost: the cheapest first", async () => {
    const plan = planOf(await receiptOf('"primary_factor":"cost"'));
    expect(plan?.[0]).toMatch(/^west: cheapest/);
    expect(plan?.[1]).toMatch(/^east: next by cost/);
  });

  test("priority by speed: the fastest measured first", async () => {
    const plan = planOf(await receiptOf('"primary_factor":"speed"'));
    expect(plan?.[0]).toMatch(/: (fastest: \d+|not measured yet)/);
    expect(plan).toHaveLength(2);
  });

  test("priority by quality: the highest first", async () => {
    const plan = planOf(await receiptOf('"primary_factor":"quality"'));
    expect(plan?.[0]).toMatch(/^east: .*8/);
    expect(plan?.[1]).toMatch(/^west: .*7/);
  });

  test("round robin: three turns and one", async () => {
    const answers = (await folder.shell(page.one("sh", '"type":"round_robin"'))).split(/(?<=\}\})(?=\{"data")/);
    const receipts = answers.map(receiptIn);
    expect(receipts).toHaveLength(4);
    const providers = receipts.map(({ provider }) => provider).sort();
    expect(providers).toEqual(["east", "east", "east", "west"]);
    expect(planOf(receipts[0] as ReceiptData)?.[0]).toMatch(/its turn, with [13] of 4 turns/);
  });

  test("least latency: by time to first content", async () => {
    const plan = planOf(await receiptOf('"type":"least_latency"'));
    expect(plan?.[0]).toMatch(/fastest to first content: \d+ ms|not measured yet|exploration/);
  });

  test("fallback: the next offer answers, and the receipt has both", async () => {
    const receipt = await receiptOf(`'"model":"acme/failing"'`);
    expect(receipt.provider).toBe("west");
    expect(receipt.offers.at(-1)).toMatchObject({ provider: "west", outcome: "answered" });
    expect(receipt.offers[0]).toMatchObject({ provider: "east", outcome: "failed", reason: "overloaded" });
  });

  test("fallback to another model: the receipt names the model that answered", async () => {
    const receipt = await receiptOf('"fallback":"acme/small"');
    expect(receipt).toMatchObject({ model: "acme/small", provider: "west" });
    expect(receipt.plan?.map(({ model }) => model)).toEqual(["acme/failing", null]);
  });

  test("trivium/auto: the cheapest of the list, and why", async () => {
    const receipt = await receiptOf('"model":"trivium/auto"');
    expect(receipt.model).toBe("acme/small");
    expect(receipt.plan?.[0]?.why).toContain("trivium/auto chose acme/small from 2 models");
  });

  test("a deadline: an error in the caller's protocol", async () => {
    const answer = await folder.shell(page.one("sh", "x-trivium-deadline-ms: 200"));
    expect(JSON.parse(answer)).toMatchObject({ error: { type: "timeout_error" } });
  });

  test("the SDKs: each reaches the same provider", async () => {
    const printed = await folder.typescript(page.in("ts")[0] ?? "");
    const ids = [...printed.matchAll(/^(\w+) (rcp_[\w-]+)$/gm)];
    expect(ids.map(([, name]) => name)).toEqual(["OpenAI", "Anthropic", "Google"]);
    for (const [, , id = ""] of ids) {
      const receipt = await gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": id } }));
      expect(receipt.plan?.map(({ provider }) => provider)).toEqual(["west", "east"]);
    }
  });

  test("a key with its own routing is created", async () => {
    const printed = await folder.shell(page.one("sh", "keys create"));
    expect(printed).toMatch(/^sk-trv-/);
    const listed = JSON.parse(await folder.shell("bin/trivium keys list --json")) as { name: string }[];
    expect(listed.find(({ name }) => name === "batch")).toMatchObject({
      routing: { type: "priority", primary_factor: "cost", fallback: "false" },
    });
  });
});

test("the traits shown can be loaded, and a key requires them", async () => {
  const text = (page.in("yaml")[1] ?? "").replaceAll(/\$\{\w+\}/g, "sk-trv-a-secret-of-the-example");
  const other = await startTestGateway({ config: Bun.YAML.parse(text) as Record<string, unknown> });
  const request = (model: string) =>
    fetch(`${other.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-trv-a-secret-of-the-example", "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    });
  const answer = await request("openai/gpt-5-mini");
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "required_traits" } });
  await other.stop();
});

test("the defaults shown can be loaded", async () => {
  const problems: string[] = [];
  const node = readPlacedDocument(page.in("yaml")[2] ?? "", (_, message) => void problems.push(message));
  expect([problems, [...(node as MapNode).entries.keys()]]).toEqual([[], ["routing"]]);
  const routing = (Bun.YAML.parse(page.in("yaml")[2] ?? "") as { routing: object }).routing;
  const other = await startTestGateway({ config: { routing } });
  expect(other.app.models).toBe(0);
  await other.stop();
});

test("so can the limits of concurrent requests", async () => {
  const config = Bun.YAML.parse((page.in("yaml")[2] ?? "").replace(/\$\{\w+\}/, "a-key")) as Record<string, unknown>;
  const other = await startTestGateway({ config });
  expect(other.app.models).toBe(0);
  await other.stop();
});
