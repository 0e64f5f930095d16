import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { HostBehaviour } from "../simulator/hosts/compatible/text/behaviour.ts";
import { SIMULATED_HOSTS } from "../simulator/hosts/compatible/text/hosts.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { PROVIDER_KINDS } from "../src/providers/index.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { type Answer, type ProtocolClient, protocolClients, type Question } from "./support/protocol-clients.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const MODELS = ["standard", "thinker", "fail-400", "fail-429", "error-in-stream"];

/** The URL of the resource, if the kind builds the rest of the path itself. */
const PATHS: Readonly<Record<string, string>> = { "azure-openai": "" };

let simulator: Simulator;
let gateway: TestGateway;
let clients: ProtocolClient[];

/** A gateway with a provider of every kind that the simulator plays, each pointed at its host. */
beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  const provider = ({ kind, keyless }: HostBehaviour) => ({
    kind,
    base_url: `${simulator.url}/hosts/${kind}${PATHS[kind] ?? "/v1"}`,
    ...(keyless ? {} : { api_key: "upstream-secret-of-the-suite" }),
  });
  const models = ({ kind }: HostBehaviour) =>
    MODELS.map((model) => ({
      id: `${kind}/${model}`,
      max_output_tokens: 64_000,
      reasoning: model === "thinker",
      pricings: {},
      offers: [{ provider: kind, model }],
    }));
  gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(SIMULATED_HOSTS.map((host) => [host.kind, provider(host)])),
      models: SIMULATED_HOSTS.flatMap(models),
    },
  });
  clients = protocolClients(gateway.url, gateway.key);
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

function ask(dialect: string, question: Question): Promise<Answer> {
  const client = clients.find((one) => one.dialect === dialect);
  if (client === undefined) throw new Error(`no client for ${dialect}`);
  return client.ask(question);
}

/** The status that the SDK reports for a failing call; undefined if it failed inside a stream. */
async function failure(dialect: string, question: Question): Promise<number | undefined> {
  try {
    await ask(dialect, question);
  } catch (error) {
    return clients.find((one) => one.dialect === dialect)?.statusOf(error);
  }
  throw new Error("the call succeeded");
}

test("providers 1.7: every kind with a chat quirk is covered by the simulator", () => {
  const played = new Set(SIMULATED_HOSTS.map(({ kind }) => kind));
  const general = new Set(["openai-compatible", "simulator"]);
  const kinds = [...PROVIDER_KINDS.values()].filter(({ kind, dialects }) => dialects.chat && !general.has(kind));
  expect(kinds.map(({ kind }) => kind).filter((kind) => !played.has(kind))).toEqual([]);
});

for (const { kind, thoughts } of SIMULATED_HOSTS) {
  for (const dialect of SCRIPTED_DIALECTS) {
    describe(`${dialect} client at ${kind}`, () => {
      for (const stream of [false, true]) {
        const how = stream ? "streamed" : "at once";

        test(`a text, ${how}`, async () => {
          const answer = await ask(dialect, { model: `${kind}/standard`, text: "Guten Tag ✓", stream });
          expect(answer.words).toContain("You wrote: “Guten Tag ✓”");
          expect(answer).toMatchObject({ thoughts: "", calls: [] });
        });

        test(`settings that the host spells or limits differently, ${how}`, async () => {
          const question = { model: `${kind}/standard`, text: "Guten Tag", stream, settings: true };
          expect((await ask(dialect, question)).words).toContain("Guten Tag");
        });

        test(`H03: two calls of one function, and their results, ${how}`, async () => {
          const text = "use get_weather for Paris, parallel";
          const first = await ask(dialect, { model: `${kind}/standard`, text, stream, tools: true });
          const call = { name: "get_weather", input: { city: expect.any(String) } };
          expect(first.calls).toEqual([call, call]);
          const second = await first.followUp("rain");
          expect(second.words.match(/get_weather answered “[^”]*rain/g)).toHaveLength(2);
        });

        test(`contract 2.12: reasoning is returned, and sent back with the calls it led to, ${how}`, async () => {
          const text = "use get_weather for Paris";
          const first = await ask(dialect, { model: `${kind}/thinker`, text, stream, tools: true, thinking: true });
          const second = await first.followUp("rain");
          expect(first.calls).toHaveLength(1);
          expect(second.words).toContain("rain");
          for (const { thoughts: seen, words } of [first, second]) {
            expect(seen.includes("The caller says")).toBe(thoughts !== "unseen");
            expect(words).not.toContain("<think>");
          }
        });

        test(`a client that drops the thoughts is answered too, ${how}`, async () => {
          const text = "use get_weather for Paris";
          const first = await ask(dialect, { model: `${kind}/thinker`, text, stream, tools: true, thinking: true });
          expect((await first.followUp("rain", "forgotten")).words).toContain("rain");
        });

        test(`choices 4: the host's errors are reported in the caller's protocol, ${how}`, async () => {
          const text = "hello";
          expect(await failure(dialect, { model: `${kind}/fail-429`, text, stream })).toBe(429);
          expect(await failure(dialect, { model: `${kind}/fail-400`, text, stream })).toBe(400);
        });
      }

      test("an error inside a stream ends it as an error", async () => {
        const question = { model: `${kind}/error-in-stream`, text: "hello", stream: true };
        expect([undefined, 500, 502, 503]).toContain(await failure(dialect, question));
      });
    });
  }
}
