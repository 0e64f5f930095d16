import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic1 from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import {
  ANTHROPIC_0,
  ANTHROPIC_1,
  type CustomTool,
  MESSAGES_DOORS,
  type Message,
  type MessagesBody,
  type MessagesGeneration,
  type OwnBlock,
  type ReadBlock,
  textOf,
} from "./anthropic-clients.ts";
import { failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

const tool = (name: string): CustomTool => ({
  name,
  description: `Looks up ${name} for a city.`,
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
});
const TOOLS = [tool("get_weather"), tool("get_time")];

const callsOf = (blocks: readonly ReadBlock[]) => blocks.filter((block) => block.type === "tool_use");

/** The next request: the response unchanged, or with changed blocks, and a result for each of its calls. */
function withResults<Block extends ReadBlock>(
  body: MessagesBody<Block>,
  answer: Message<Block>,
  blocks: (OwnBlock | Block)[] = answer.content,
): MessagesBody<Block> {
  const results = callsOf(answer.content).map(
    (call): OwnBlock => ({ type: "tool_result", tool_use_id: call.id ?? "", content: `${call.name} says so` }),
  );
  return {
    ...body,
    messages: [...body.messages, { role: "assistant", content: blocks }, { role: "user", content: results }],
  };
}

/** A signature with one character in its middle replaced. */
function forged(signature: string): string {
  const middle = Math.floor(signature.length / 2);
  return signature.slice(0, middle) + (signature[middle] === "A" ? "B" : "A") + signature.slice(middle + 1);
}

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function tools<Block extends ReadBlock>({ version, errors, connect }: MessagesGeneration<Block>): void {
  for (const { name, path, kind } of MESSAGES_DOORS) {
    describe(`anthropic ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "messages");
      const open = () =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const asking = (content: string): MessagesBody<Block> => ({
        model: `${kind}/standard`,
        max_tokens: 2000,
        tools: TOOLS,
        messages: [{ role: "user", content }],
      });
      const thinking = (content: string): MessagesBody<Block> => ({
        ...asking(content),
        model: `${kind}/strict-thinker`,
        thinking: { type: "enabled", budget_tokens: 1024 },
      });

      test("contract 2.10: a tool is called, its result sent back, the answer uses it", async () => {
        const client = open();
        const body = asking("Please use get_weather for Lisbon.");
        const first = await client.messages.create(body);
        expect(first.stop_reason).toBe("tool_use");
        expect(callsOf(first.content)).toMatchObject([{ name: "get_weather", input: { city: "Lisbon" } }]);
        const second = await client.messages.create(withResults(body, first));
        expect(second.stop_reason).toBe("end_turn");
        expect(textOf(second.content)).toContain("get_weather answered “get_weather says so”");
      });

      test("sdks 2.3: parallel calls, streamed through the helper, each get their own result", async () => {
        const client = open();
        const body = asking("Call get_weather and get_time in parallel for Lisbon.");
        const first = await client.messages.stream(body).finalMessage();
        const calls = callsOf(first.content);
        expect(first.stop_reason).toBe("tool_use");
        expect(calls).toMatchObject([
          { name: "get_weather", input: { city: "Lisbon" } },
          { name: "get_time", input: { city: "Lisbon" } },
        ]);
        expect(new Set(calls.map((call) => call.id)).size).toBe(2);
        expect(first.content).toEqual((await client.messages.create(body)).content);
        const second = await client.messages.stream(withResults(body, first)).finalMessage();
        expect(textOf(second.content)).toContain("get_weather answered “get_weather says so”");
        expect(textOf(second.content)).toContain("get_time answered “get_time says so”");
      });

      test("contract 2.10: thinking and its signature are returned unchanged with a tool's result", async () => {
        const client = open();
        const body = thinking("Please use get_weather for Lisbon.");
        const whole = await client.messages.create(body);
        const streamed = await client.messages.stream(body).finalMessage();
        expect(streamed.content).toEqual(whole.content);
        // In this protocol the signature of a call only fits into a block before it.
        const carrier = upstream.signs === "calls" ? ["redacted_thinking"] : [];
        expect(whole.content.map((block) => block.type)).toEqual(["thinking", ...carrier, "tool_use"]);
        expect(whole.content[0]?.thinking).toContain("Lisbon");
        if (upstream.signs === "thoughts") expect(whole.content[0]?.signature?.length).toBeGreaterThan(40);
        for (const answer of [whole, streamed]) {
          const final = await client.messages.create(withResults(body, answer));
          expect(textOf(final.content)).toContain("get_weather answered “get_weather says so”");
        }
      });

      // No other host redacts.
      if (upstream.native)
        test("contract 2.10: redacted thinking is returned unchanged too", async () => {
          const client = open();
          const body = thinking("Redact some, and use get_weather for Lisbon.");
          const first = await client.messages.stream(body).finalMessage();
          expect(first.content.map((block) => block.type)).toEqual(["thinking", "redacted_thinking", "tool_use"]);
          const second = await client.messages.create(withResults(body, first));
          expect(textOf(second.content)).toContain("get_weather answered “get_weather says so”");
        });

      // Hosts that sign nothing cannot tell; for translated signed calls see conversations.test.ts.
      if (upstream.native)
        test("contract 2.10: altered or missing thinking is reported as the upstream's 400", async () => {
          const client = open();
          const body = thinking("Please use get_weather for Lisbon.");
          const first = await client.messages.create(body);
          const changed = (change: (thought: { thinking: string; signature: string }) => OwnBlock) =>
            withResults(
              body,
              first,
              first.content.map((block) => {
                const { type, thinking: text, signature } = block;
                return type === "thinking" ? change({ thinking: text ?? "", signature: signature ?? "" }) : block;
              }),
            );
          const refusals = [
            changed((thought) => ({ type: "thinking", ...thought, signature: forged(thought.signature) })),
            changed((thought) => ({ type: "thinking", ...thought, thinking: `${thought.thinking} Or not.` })),
            withResults(
              body,
              first,
              first.content.filter((block) => block.type !== "thinking"),
            ),
          ];
          for (const refused of refusals) {
            const failure = await failureOf(client.messages.create(refused));
            expect(failure.constructor).toBe(errors.badRequest);
            expect(failure).toMatchObject({ status: 400, error: { error: { type: "invalid_request_error" } } });
            expect(failure.message).toMatch(/signature|thinking/);
          }
        });
    });
  }
}

tools(ANTHROPIC_1);
tools(ANTHROPIC_0);

// Generation 0.60 is older than the package's own loop. By default the loop lets the server keep the conversation and
// sends only what is new; `thread: false` makes it send everything each time.
for (const { name, path, kind } of MESSAGES_DOORS) {
  for (const [what, thread] of [
    ["with the whole conversation in each request", { thread: false as const }],
    ["as it comes, which asks the server for a thread", {}],
  ] as const) {
    test(`anthropic 1.8, ${name} > contract 2.10: the package's own loop, ${what}`, async () => {
      const client = new Anthropic1({
        baseURL: `${harness.gateway.url}${path}`,
        apiKey: harness.gateway.key,
        maxRetries: 0,
      });
      const called: string[] = [];
      const runnable = TOOLS.map(({ name: toolName, description }) =>
        betaTool({
          name: toolName,
          description,
          inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const,
          run: ({ city }) => {
            called.push(`${toolName} ${city}`);
            return `${toolName} says so`;
          },
        }),
      );
      const message = await client.beta.messages.toolRunner({
        model: `${kind}/strict-thinker`,
        max_tokens: 2000,
        thinking: { type: "enabled", budget_tokens: 1024 },
        tools: runnable,
        messages: [{ role: "user", content: "Call get_weather and get_time in parallel for Lisbon." }],
        ...thread,
      });
      expect(called.toSorted()).toEqual(["get_time Lisbon", "get_weather Lisbon"]);
      expect(textOf(message.content.filter((block) => block.type === "text"))).toContain(
        "get_time answered “get_time says so”",
      );
    });
  }
}
