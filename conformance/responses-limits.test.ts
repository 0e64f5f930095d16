import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { callGateway } from "./support/client-calls.ts";
import { simulatedProviders, startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const WIRES = ["chat", "messages", "genai"] as const;

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({
    config: {
      providers: simulatedProviders(simulator.url),
      models: WIRES.map((wire) => ({
        id: `acme/${wire}`,
        pricings: {},
        offers: [{ provider: `at-${wire}`, model: "standard" }],
      })),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

const ask = (wire: string, body: Record<string, unknown>, stream = false) =>
  callGateway(gateway.url, "responses", gateway.key, { model: `acme/${wire}`, stream, body, door: "dropin" });

describe.each([...WIRES])("a model at a provider of %s", (wire) => {
  test("R28: a prompt longer than the model accepts is reported with the code that makes clients shorten it", async () => {
    const input = "one two three four five ".repeat(60_000);
    const whole = await ask(wire, { input });
    expect(whole.status).toBe(400);
    expect(await whole.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
    // Decision 0045: in a stream it is reported there.
    const streamed = await ask(wire, { input }, true);
    expect(streamed.status).toBe(200);
    expect(await streamed.text()).toMatch(/event: error\n.*context_length_exceeded[\s\S]*event: response\.failed\n/);
  });

  test("a history of 10,000 items is answered, and the calls in it keep their results", async () => {
    const turns = Array.from({ length: 2_500 }, (_, index) => [
      { role: "user", content: `Look at ${index}.` },
      { type: "function_call", call_id: `call_${index}`, name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: `call_${index}`, output: `seen ${index}` },
      { role: "assistant", content: `It was ${index}.` },
    ]);
    const answer = await ask(wire, { input: [...turns.flat(), { role: "user", content: "Thanks." }] });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ status: "completed" });
  });
});

describe("bad input is refused before any provider is called", () => {
  const items = (item: unknown, count = 10_000) => Array.from({ length: count }, () => item);
  test.each([
    [
      "an id of 1,000 characters",
      { input: [{ type: "function_call_output", call_id: "c".repeat(1000), output: "" }] },
      "input[0].call_id",
    ],
    ["10,000 items of a wrong type", { input: items(7) }, "input[0]"],
    ["10,000 messages without content", { input: items({ role: "user" }) }, "input[0].content"],
    ["a number as input", { input: 7 }, "input"],
    ["an object as instructions", { input: "Hi", instructions: {} }, "instructions"],
    ["10,000 tools without a name", { input: "Hi", tools: items({ type: "function" }) }, "tools[0].name"],
    ["a list as metadata", { input: "Hi", metadata: [] }, "metadata"],
    ["a choice of a tool that is no choice", { input: "Hi", tool_choice: "perhaps" }, "tool_choice"],
  ])("%s", async (_name, body, param) => {
    const before = simulator.stats().requests;
    const answer = await ask("chat", body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
    expect(simulator.stats().requests).toBe(before);
  });
});
