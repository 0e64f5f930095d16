import { afterAll, beforeAll, expect } from "bun:test";
import { Page } from "../../scripts/markdown-page.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { callGateway } from "../support/client-calls.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import type { Reader } from "./reader.ts";
import { problemsOf, testPage, variablesIn } from "./test-page.ts";

const page = new Page("docs/routing.md");

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
});
afterAll(() => simulator.stop());

const receiptIn = (text: string): ReceiptData => (JSON.parse(text) as { data: ReceiptData }).data;
const planOf = ({ plan }: ReceiptData) => plan?.map(({ provider, why }) => `${provider}: ${why}`);

/** Expects a plan of two providers, in this order, for these reasons. */
const expectPlan =
  (...patterns: RegExp[]) =>
  (output: string) => {
    const plan = planOf(receiptIn(output));
    expect(plan).toHaveLength(2);
    for (const [index, pattern] of patterns.entries()) expect(plan?.[index]).toMatch(pattern);
  };

testPage("docs/routing.md", {
  config: () => {
    const file = page.blocks.find(({ language }) => language === "yaml")?.code ?? "";
    return Bun.YAML.parse(file.replaceAll("http://127.0.0.1:8790", simulator.url)) as object;
  },
  expected: {
    "json request": (code) => void JSON.parse(code),
    "json plan": (code) => void JSON.parse(`{${code}}`),
    '"providers":["west","east"]': (output) => {
      const shown = JSON.parse(`{${page.one("json plan")}}`) as Pick<ReceiptData, "plan">;
      expect(receiptIn(output)).toMatchObject({ provider: "west", plan: shown.plan });
    },
    '"type":"priority","primary_factor":"cost"': expectPlan(/^west: cheapest/, /^east: next by cost/),
    '"primary_factor":"speed"': expectPlan(/: (fastest: \d+|not measured yet)/),
    '"primary_factor":"quality"': expectPlan(/^east: .*8/, /^west: .*7/),
    '"type":"round_robin"': (output) => {
      const receipts = output.split(/(?<=\}\})(?=\{"data")/).map(receiptIn);
      expect(receipts.map(({ provider }) => provider).sort()).toEqual(["east", "east", "east", "west"]);
      expect(planOf(receipts[0] as ReceiptData)?.[0]).toMatch(/its turn, with [13] of 4 turns/);
    },
    '"type":"least_latency"': expectPlan(/fastest to first content: \d+ ms|not measured yet|exploration/),
    '\'"model":"acme/failing"\'': (output) => {
      const receipt = receiptIn(output);
      expect(receipt.provider).toBe("west");
      expect(receipt.offers.at(-1)).toMatchObject({ provider: "west", outcome: "answered" });
      expect(receipt.offers[0]).toMatchObject({ provider: "east", outcome: "failed", reason: "overloaded" });
    },
    '"fallback":"acme/small"': (output) => {
      const receipt = receiptIn(output);
      expect(receipt).toMatchObject({ model: "acme/small", provider: "west" });
      expect(receipt.plan?.map(({ model }) => model)).toEqual(["acme/failing", null]);
    },
    '"model":"trivium/auto"': (output) => {
      const receipt = receiptIn(output);
      expect(receipt.model).toBe("acme/small");
      expect(receipt.plan?.[0]?.why).toContain("trivium/auto chose acme/small from 2 models");
    },
    "x-trivium-deadline-ms: 200": (output) =>
      expect(JSON.parse(output)).toMatchObject({ error: { type: "timeout_error" } }),
    "yaml traits": async (code) => {
      expect(problemsOf(code)).toBe("");
      const filledIn = Object.entries(variablesIn(code)).reduce(
        (text, [name, value]) => text.replace(`\${${name}}`, value),
        code,
      );
      const other = await startTestGateway({ config: Bun.YAML.parse(filledIn) as Record<string, unknown> });
      const key = variablesIn(code)["CLINIC_KEY"] ?? "";
      const answer = await callGateway(other.url, "chat", key, { model: "openai/gpt-5.4-mini" });
      expect(await answer.json()).toMatchObject({ error: { code: "required_traits" } });
      await other.stop();
    },
    "x-trivium-routing": async (output, { gateway }) => {
      const ids = [...output.matchAll(/^(\w+) (rcp_[\w-]+)$/gm)];
      expect(ids.map(([, name]) => name)).toEqual(["OpenAI", "Anthropic", "Google"]);
      for (const [, , id = ""] of ids) {
        const receipt = await readReceipt(gateway, id);
        expect(receipt.plan?.map(({ provider }) => provider)).toEqual(["west", "east"]);
      }
    },
    "keys create": /^sk-trv-/,
  },
});

async function readReceipt({ url, key }: Reader["gateway"], id: string): Promise<ReceiptData> {
  const headers = { authorization: `Bearer ${key}` };
  return receiptIn(await (await fetch(`${url}/api/v1/generation?id=${id}`, { headers })).text());
}
