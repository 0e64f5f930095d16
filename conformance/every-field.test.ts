import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { DIALECT_NAMES, type DialectName } from "../src/canon/dialect-name.ts";
import { GatewayError } from "../src/canon/error.ts";
import { type SampleRequest, sampleRequests } from "../testing/sample-requests.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { checkedRequest } from "../testing/translate-sample.ts";
import { callGateway, errorOf } from "./support/client-calls.ts";
import { signedSample } from "./support/signed-sample.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";
import { answerProblem } from "./support/well-formed.ts";

/**
 * Every sample of every dialect at models of every other, against a simulator that rejects what the real hosts reject.
 * The gateway may refuse a translation; a host must never do so.
 */

interface Target {
  /** The public id. Those of the catalogue bring the model's traits. */
  id: string;
  dialect: DialectName | "converse";
  provider: string;
  model: string;
  settings?: Record<string, unknown>;
}

const PLAIN = { max_output_tokens: 64_000 };
const THINKS = { ...PLAIN, reasoning: true };

const TARGETS: readonly Target[] = [
  { id: "acme/chat", dialect: "chat", provider: "compatible", model: "standard", settings: PLAIN },
  { id: "acme/chat-thinker", dialect: "chat", provider: "compatible", model: "thinker", settings: THINKS },
  { id: "openai/gpt-4.1", dialect: "chat", provider: "openai", model: "standard" },
  { id: "openai/gpt-5", dialect: "chat", provider: "openai", model: "reasoner-strict" },
  { id: "acme/messages", dialect: "messages", provider: "anthropic", model: "standard", settings: PLAIN },
  { id: "anthropic/claude-opus-4-1", dialect: "messages", provider: "anthropic", model: "strict-thinker" },
  {
    id: "anthropic/claude-opus-4-7",
    dialect: "messages",
    provider: "anthropic",
    model: "reasoner-strict",
    settings: PLAIN,
  },
  { id: "acme/messages-cloud", dialect: "messages", provider: "vertex", model: "claude-thinker", settings: THINKS },
  { id: "acme/genai", dialect: "genai", provider: "gemini", model: "standard", settings: PLAIN },
  { id: "google/gemini-2.5-flash", dialect: "genai", provider: "gemini", model: "thinker" },
  { id: "google/gemini-3.1-pro-preview", dialect: "genai", provider: "gemini", model: "strict-thinker" },
  { id: "google/gemini-3-flash-preview", dialect: "genai", provider: "vertex", model: "strict-thinker" },
  { id: "acme/interactions", dialect: "interactions", provider: "played", model: "standard", settings: PLAIN },
  {
    id: "acme/interactions-thinker",
    dialect: "interactions",
    provider: "played",
    model: "thinker",
    settings: THINKS,
  },
  { id: "acme/converse", dialect: "converse", provider: "bedrock", model: "amazon.standard-v1:0", settings: PLAIN },
  {
    id: "acme/converse-thinker",
    dialect: "converse",
    provider: "bedrock",
    model: "amazon.thinker-v1:0",
    settings: THINKS,
  },
  {
    id: "acme/converse-signing",
    dialect: "converse",
    provider: "bedrock",
    model: "anthropic.strict-thinker-v1:0",
    settings: THINKS,
  },
];

let simulator: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  const api_key = "upstream-secret-key";
  gateway = await startTestGateway({
    config: {
      // This tests what happens to object names, not who may use them.
      keys: [{ name: "tests", key: TEST_KEY, provider_objects: true }],
      providers: {
        compatible: { kind: "openai-compatible", base_url: `${simulator.url}/openai/v1`, api_key },
        openai: { kind: "openai", base_url: `${simulator.url}/openai/v1`, api_key },
        anthropic: { kind: "anthropic", base_url: `${simulator.url}/anthropic`, api_key },
        gemini: { kind: "gemini", base_url: `${simulator.url}/gemini`, api_key },
        vertex: { kind: "vertex", base_url: `${simulator.url}/vertex`, project: "p", api_key },
        played: { kind: "simulator", base_url: simulator.url, api_key },
        bedrock: { kind: "bedrock", base_url: `${simulator.url}/bedrock`, api_key },
      },
      models: TARGETS.map(({ id, dialect, provider, model, settings }) => ({
        id,
        ...settings,
        // A sample requires them.
        pricings: {},
        offers: [{ provider, model, dialect, traits: { retention: "zero", region: "eu" } }],
      })),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

/** No name is resolved: a URL that the gateway itself refuses is refused at once. */
const WEB_URL = /https:\/\/[a-z.]+\.example\//g;

/** The gateway's own refusals, each of which is documented. */
const REFUSALS = [
  // A test has no web access: what a host does not fetch itself is unavailable.
  /could not be fetched/,
  // R12: a response that is not stored cannot be continued.
  /^Previous response with id 'resp_1' not found/,
  /Interaction 'v1_1' not found/,
  // Decision 0109: neither can a conversation that does not exist.
  /^Conversation with id 'conv_1' not found/,
  // Contract 2.6: thinking of a model that does not think.
  /thinkingConfig must be omitted/,
];

/**
 * Host refusals that are not the translation's fault: client mistakes in any protocol, and limits of this kind of host
 * that are not known in advance.
 */
const HOST_REFUSALS: readonly { sample: string; provider?: string; reason: RegExp }[] = [
  { sample: "tool-call-never-answered", reason: /call_1|number of function response parts/ },
  { sample: "video", provider: "compatible", reason: /video_url/ },
];

/** Only the check refuses it, whatever the model. */
function refusedByCheck({ dialect, text }: SampleRequest): boolean {
  try {
    checkedRequest(dialect, text, "dropin");
    return false;
  } catch (error) {
    if (error instanceof GatewayError) return true;
    throw error;
  }
}

const samples = [...sampleRequests("every-field"), ...sampleRequests("matrix")].filter((one) => !refusedByCheck(one));

interface Sending {
  sample: SampleRequest;
  target: Target;
  stream: boolean;
}

/** What is wrong with the outcome of a request, if anything. */
async function problemOf({ sample, target: { id, provider }, stream }: Sending): Promise<unknown> {
  const client = sample.dialect;
  const text = signedSample(client, sample.text)
    .replaceAll(WEB_URL, "https://127.0.0.1/")
    // Routing options of a sample must name existing providers and models.
    .replaceAll(/"acme"|"other"/g, JSON.stringify(provider))
    .replaceAll(/"acme\/(one|two)"/g, JSON.stringify(id));
  const { model: _, stream: __, ...body } = JSON.parse(text) as Record<string, unknown>;
  const before = simulator.stats().requests;
  const response = await callGateway(gateway.url, client, TEST_KEY, { door: "dropin", model: id, stream, body });
  if (response.status === 200) return answerProblem(client, stream, await response.text());
  const { message, raw } = await errorOf(response);
  const isKnown = HOST_REFUSALS.some(
    (one) => one.sample === sample.name && (one.provider ?? provider) === provider && one.reason.test(message),
  );
  if (isKnown) return undefined;
  const sent = simulator.stats().requests > before ? simulator.stats().last?.body : undefined;
  const isOwn = response.status === 400 && sent === undefined && REFUSALS.some((known) => known.test(message));
  return isOwn ? undefined : { status: response.status, raw, sent };
}

for (const [position, target] of TARGETS.entries()) {
  for (const client of DIALECT_NAMES.filter((dialect) => dialect !== target.dialect)) {
    test(`every sample of a ${client} client is accepted at ${target.id}, or refused by the gateway`, async () => {
      const own = samples.filter(({ dialect }) => dialect === client);
      expect(own.length).toBeGreaterThan(20);
      const problems: unknown[] = [];
      for (const [index, sample] of own.entries()) {
        // Each sample is streamed at every second model.
        const stream = (index + position) % 2 === 0;
        const problem = await problemOf({ sample, target, stream });
        if (problem !== undefined) problems.push([sample.name, stream, problem]);
      }
      expect(problems).toEqual([]);
    });
  }
}

const LONG = "mcp__files__".padEnd(90, "x");
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
/** A request whose only tool must be called, by a name that many hosts refuse. */
const FORCED: Readonly<Record<DialectName, Record<string, unknown>>> = {
  chat: {
    tools: [{ type: "function", function: { name: LONG, parameters: SCHEMA } }],
    tool_choice: { type: "function", function: { name: LONG } },
  },
  messages: { tools: [{ name: LONG, input_schema: SCHEMA }], tool_choice: { type: "tool", name: LONG } },
  responses: {
    tools: [{ type: "function", name: LONG, parameters: SCHEMA, strict: false }],
    tool_choice: { type: "function", name: LONG },
  },
  interactions: {
    tools: [{ type: "function", name: LONG, parameters: SCHEMA }],
    generation_config: { tool_choice: { allowed_tools: { mode: "any", tools: [LONG] } } },
  },
  genai: {
    tools: [{ functionDeclarations: [{ name: "files/read ✓", parametersJsonSchema: SCHEMA }] }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["files/read ✓"] } },
  },
};

describe("tool names that a host rejects", () => {
  for (const { id, dialect: upstream } of TARGETS) {
    for (const client of DIALECT_NAMES.filter((dialect) => dialect !== upstream)) {
      test(`are restored in the response: ${client} client of ${id}`, async () => {
        for (const stream of [false, true]) {
          const options = { door: "dropin", model: id, stream, body: FORCED[client] } as const;
          const text = await (await callGateway(gateway.url, client, TEST_KEY, options)).text();
          expect(text).toContain(`"name":"${client === "genai" ? "files/read ✓" : LONG}"`);
        }
      });
    }
  }
});
