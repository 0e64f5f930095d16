import { describe, test } from "bun:test";
import fc from "fast-check";
import { HostError } from "../simulator/host-error.ts";
import { readRequest as readMessages } from "../simulator/hosts/anthropic/text/read-request.ts";
import { readConverse } from "../simulator/hosts/bedrock/text/read-request.ts";
import { SIMULATED_HOSTS } from "../simulator/hosts/compatible/text/hosts.ts";
import { readHostRequest } from "../simulator/hosts/compatible/text/read-request.ts";
import { readRequest as readGenai } from "../simulator/hosts/google/text/read-request.ts";
import { readRequest as readResponses } from "../simulator/hosts/openai/responses/read-request.ts";
import { checkCallIds } from "../simulator/hosts/openai/text/read-messages.ts";
import { readRequest as readChat } from "../simulator/hosts/openai/text/read-request.ts";
import type { JsonObject as SimulatedJson } from "../simulator/json.ts";
import type { SimulatedModel } from "../simulator/text/adapter.ts";
import { findModel } from "../simulator/text/find-model.ts";
import { traitsOf } from "../simulator/text/traits.ts";
import type { JsonObject } from "../src/base/json.ts";
import { Secret } from "../src/base/secret.ts";
import { system } from "../src/base/system.ts";
import type { DialectName, UpstreamDialectName } from "../src/canon/dialect-name.ts";
import { GatewayError } from "../src/canon/error.ts";
import type { ModelTraits } from "../src/canon/traits.ts";
import { builtInModels } from "../src/catalogue/built-in-models.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../src/dialects/index.ts";
import { createProvider } from "../src/providers/index.ts";
import { resolveMedia } from "../src/relay/request/resolve-media.ts";
import { stringifyInOrder } from "../src/wire/ordered-json.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { checkedRequest } from "../testing/translate-sample.ts";
import { requestOf } from "./support/random-requests.ts";
import { PDF, PNG, randomSpec } from "./support/random-spec.ts";

/** Random requests of every dialect at every target: our translation must not write what a host's reader rejects. */

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 60);
const seeded = process.env["FUZZ_SEED"] === undefined ? {} : { seed: Number(process.env["FUZZ_SEED"]) };

interface Target {
  name: string;
  dialect: UpstreamDialectName;
  kind: string;
  upstreamModel: string;
  traits: ModelTraits;
  read: (body: SimulatedJson) => unknown;
}

function simulated(name: string): SimulatedModel {
  const facts = findModel(name);
  const traits = traitsOf(name);
  if (facts === undefined || traits === undefined) throw new Error(`the simulator has no ${name}`);
  return { facts, traits };
}

function known(id: string): ModelTraits {
  const model = builtInModels.find((one) => one.id === id);
  if (model === undefined) throw new Error(`the catalogue has no ${id}`);
  return { reasoning: model.reasoning, ...model.traits, maxOutputTokens: Math.min(model.maxOutputTokens ?? 0, 64_000) };
}

const PLAIN: ModelTraits = { reasoning: false, maxOutputTokens: 64_000 };
const THINKS: ModelTraits = { reasoning: true, maxOutputTokens: 64_000 };
const VERSIONED = new Headers({ "anthropic-version": "2023-06-01" });

const chat = (name: string, kind: string, model: string, traits: ModelTraits): Target => ({
  name,
  dialect: "chat",
  kind,
  upstreamModel: "m",
  traits,
  read: (body) => {
    if (kind === "openai") checkCallIds(body.messages);
    return readChat(body, simulated(model));
  },
});
const messages = (name: string, kind: string, model: string, traits: ModelTraits): Target => ({
  name,
  dialect: "messages",
  kind,
  upstreamModel: kind === "vertex" ? "claude-m" : "m",
  traits,
  read: (body) => readMessages(body, VERSIONED, simulated(model)),
});
const genai = (name: string, kind: "gemini" | "vertex", model: string, traits: ModelTraits): Target => ({
  name,
  dialect: "genai",
  kind,
  upstreamModel: "m",
  traits,
  read: (body) => readGenai(body, simulated(model), kind, () => 0),
});
const converse = (name: string, isClaude: boolean, model: string, traits: ModelTraits): Target => ({
  name,
  dialect: "converse",
  kind: "bedrock",
  upstreamModel: isClaude ? "anthropic.m" : "amazon.m",
  traits,
  read: (body) => readConverse(body, simulated(model), isClaude),
});

const responses = (name: string, kind: string, model: string, traits: ModelTraits): Target => ({
  name,
  dialect: "responses",
  kind,
  upstreamModel: "m",
  traits,
  read: (body) => readResponses(body, simulated(model)),
});

/** Hosts whose models reject settings, as the catalogue knows. */
const HOST_TRAITS: Readonly<Record<string, ModelTraits>> = {
  "x-ai": known("x-ai/grok-4.5"),
  moonshot: known("moonshotai/kimi-k2.6"),
};

const HOSTS: readonly Target[] = SIMULATED_HOSTS.filter(({ kind }) => kind !== "openai" && kind !== "azure-openai").map(
  (host) => ({
    name: host.kind,
    dialect: "chat",
    kind: host.kind,
    upstreamModel: "m",
    traits: HOST_TRAITS[host.kind] ?? THINKS,
    read: (body) => readHostRequest(body, simulated("thinker"), host, true),
  }),
);

const TARGETS: readonly Target[] = [
  chat("any compatible host", "openai-compatible", "thinker", THINKS),
  chat("gpt-4.1", "openai", "standard", known("openai/gpt-4.1")),
  chat("gpt-5", "openai", "reasoner-strict", known("openai/gpt-5")),
  messages("a messages model", "anthropic", "standard", PLAIN),
  messages("claude-opus-4-1", "anthropic", "strict-thinker", known("anthropic/claude-opus-4-1")),
  messages("claude-opus-4-7", "anthropic", "reasoner-strict", known("anthropic/claude-opus-4-7")),
  messages("claude on a cloud", "vertex", "thinker", THINKS),
  genai("a genai model", "gemini", "standard", PLAIN),
  genai("gemini-2.5-flash", "gemini", "thinker", known("google/gemini-2.5-flash")),
  genai("gemini-3.1-pro", "gemini", "strict-thinker", known("google/gemini-3.1-pro-preview")),
  genai("gemini-3-flash on a cloud", "vertex", "strict-thinker", known("google/gemini-3-flash-preview")),
  converse("a converse model", false, "standard", PLAIN),
  converse("a converse model that thinks", false, "thinker", THINKS),
  converse("claude in converse", true, "strict-thinker", THINKS),
  converse("the newest claude in converse", true, "reasoner-strict", known("anthropic/claude-opus-4-7")),
  responses("a responses model", "azure-openai", "standard", PLAIN),
  responses("gpt-4.1 in responses", "openai", "standard", known("openai/gpt-4.1")),
  responses("gpt-5 in responses", "openai", "reasoner-strict", known("openai/gpt-5")),
  ...HOSTS,
];

const SETTINGS = { baseUrl: "http://127.0.0.1:9", apiKey: new Secret("upstream-secret-key") };

/** Stands in for the web: an image, or a document. */
const fetchMedia = (url: string) => {
  const [data, mimeType] = url.endsWith(".png") ? [PNG, "image/png"] : [PDF, "application/pdf"];
  return Promise.resolve({ bytes: new Uint8Array(Buffer.from(data, "base64")), mimeType });
};

/** The request if the client's own check accepts it, else undefined. */
function accepted(client: DialectName, request: JsonObject): JsonObject | undefined {
  try {
    return checkedRequest(client, JSON.stringify(request), "dropin");
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

for (const target of TARGETS) {
  const provider = createProvider({ ...SETTINGS, name: target.kind, kind: target.kind }, system);
  const quirks = provider.quirksOf(target.dialect);
  const context = {
    upstreamModel: target.upstreamModel,
    traits: target.traits,
    quirks,
    origin: provider.originOf(UPSTREAM_CODECS[target.dialect], target.upstreamModel),
  };
  describe(target.name, () => {
    const clients = SCRIPTED_DIALECTS.filter((client) => client !== target.dialect);
    test.each(clients.map((client) => [client]))("accepts translations of random requests in %s", async (client) => {
      await fc.assert(
        fc.asyncProperty(randomSpec, fc.boolean(), async (spec, stream) => {
          const request = accepted(client, requestOf(client, spec));
          fc.pre(request !== undefined);
          const asked = DIALECTS[client].codec.decodeRequest(request);
          const call = await resolveMedia(asked, quirks, fetchMedia);
          const { body } = UPSTREAM_CODECS[target.dialect].encodeRequest(call, { ...context, stream });
          const sent = JSON.parse(stringifyInOrder(body)) as SimulatedJson;
          try {
            target.read(sent);
          } catch (error) {
            if (!(error instanceof HostError)) throw error;
            throw new Error(`${error.body}\nasked: ${JSON.stringify(request)}\nsent: ${JSON.stringify(sent)}`);
          }
        }),
        { numRuns: RUNS, ...seeded },
      );
    });
  });
}
