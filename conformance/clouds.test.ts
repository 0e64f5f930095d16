import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_SECRET_ACCESS_KEY, type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { type Answer, type ProtocolClient, protocolClients, type Question } from "./support/protocol-clients.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

/** Hosts that serve other vendors' models, by the names that they have there. */
const HOSTS = [
  { host: "claude-on-bedrock", provider: "bedrock", named: (model: string) => `us.anthropic.${model}-v1:0` },
  { host: "nova-on-bedrock", provider: "bedrock", named: (model: string) => `amazon.${model}-v1:0` },
  { host: "claude-on-vertex", provider: "vertex", named: (model: string) => `claude-${model}` },
] as const;
const MODELS = ["standard", "thinker", "strict-thinker", "fail-400", "fail-429", "error-in-stream", "cut-mid-stream"];

let simulator: Simulator;
let gateway: TestGateway;
let clients: ProtocolClient[];

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({
    config: {
      providers: {
        bedrock: {
          kind: "bedrock",
          base_url: `${simulator.url}/bedrock`,
          access_key_id: "AKIDOFTHESUITE",
          secret_access_key: DEFAULT_SECRET_ACCESS_KEY,
          session_token: "session-token-of-the-suite",
        },
        vertex: {
          kind: "vertex",
          base_url: `${simulator.url}/vertex`,
          project: "p",
          api_key: "upstream-secret-of-the-suite",
        },
      },
      models: HOSTS.flatMap(({ host, provider, named }) =>
        MODELS.map((model) => ({
          id: `${host}/${model}`,
          max_output_tokens: 64_000,
          reasoning: model.endsWith("thinker"),
          pricings: {},
          offers: [{ provider, model: named(model) }],
        })),
      ),
    },
  });
  clients = protocolClients(gateway.url, gateway.key);
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

function clientOf(dialect: DialectName): ProtocolClient {
  const client = clients.find((one) => one.dialect === dialect);
  if (client === undefined) throw new Error(`no client for ${dialect}`);
  return client;
}

const ask = (dialect: DialectName, question: Question): Promise<Answer> => clientOf(dialect).ask(question);

async function failure(dialect: DialectName, question: Question): Promise<number | undefined> {
  try {
    await ask(dialect, question);
  } catch (error) {
    return clientOf(dialect).statusOf(error);
  }
  throw new Error("the call succeeded");
}

for (const { host } of HOSTS) {
  for (const dialect of SCRIPTED_DIALECTS) {
    describe(`${dialect} client at ${host}`, () => {
      for (const stream of [false, true]) {
        const how = stream ? "streamed" : "at once";

        test(`a text, with settings, ${how}`, async () => {
          const question = { model: `${host}/standard`, text: "Guten Tag ✓", stream, settings: true };
          const answer = await ask(dialect, question);
          expect(answer.words).toContain("You wrote: “Guten Tag ✓”");
          expect(answer).toMatchObject({ thoughts: "", calls: [] });
        });

        test(`H03: two calls of one function, and their results, ${how}`, async () => {
          const text = "use get_weather for Paris, parallel";
          const first = await ask(dialect, { model: `${host}/standard`, text, stream, tools: true });
          expect(first.calls.map(({ name }) => name)).toEqual(["get_weather", "get_weather"]);
          const second = await first.followUp("rain");
          expect(second.words.match(/get_weather answered “[^”]*rain/g)).toHaveLength(2);
        });

        test(`H01: signed thoughts arrive and are returned with the calls they led to, ${how}`, async () => {
          const question = { model: `${host}/strict-thinker`, text: "use get_weather for Paris", stream, tools: true };
          const first = await ask(dialect, { ...question, thinking: true });
          const second = await first.followUp("rain");
          expect(first.calls).toHaveLength(1);
          expect(second.words).toContain("rain");
          // Both turns think: nothing was lost on the way to the client and back.
          expect(first.thoughts).toContain("The caller says");
          expect(second.thoughts).toContain("The caller says");
        });

        test(`a client that drops the thoughts is answered too, ${how}`, async () => {
          // The messages client uses these hosts' native protocol, so their refusals are its own concern.
          const model = dialect === "messages" && host !== "nova-on-bedrock" ? "thinker" : "strict-thinker";
          const question = { model: `${host}/${model}`, text: "use get_weather for Paris", stream, tools: true };
          const first = await ask(dialect, { ...question, thinking: true });
          expect((await first.followUp("rain", "forgotten")).words).toContain("rain");
        });

        test(`choices 4: the host's errors are reported in the caller's protocol, ${how}`, async () => {
          expect(await failure(dialect, { model: `${host}/fail-429`, text: "hello", stream })).toBe(429);
          expect(await failure(dialect, { model: `${host}/fail-400`, text: "hello", stream })).toBe(400);
        });
      }

      test.each(["error-in-stream", "cut-mid-stream"])("H16: %s ends a stream as an error", async (model) => {
        const question = { model: `${host}/${model}`, text: "hello", stream: true };
        expect([undefined, 500, 502, 503, 529]).toContain(await failure(dialect, question));
      });
    });
  }
}
