import { SIMULATED_TEXT_MODELS, type SimulatedTextModel } from "../../../../src/catalogue/simulated-models.ts";
import type { AccessTokens } from "../../../access-tokens.ts";
import { bearerOf, type Credentials } from "../../../credentials.ts";
import { decodeName, type Exchange, type Host, incomingCall, jsonAnswer } from "../../../exchange.ts";
import { HostError } from "../../../host-error.ts";
import { isObject, type JsonObject, textOr } from "../../../json.ts";
import { answerCall, modelOf } from "../../../text/answer-call.ts";
import { anthropicAdapter } from "../../anthropic/text/adapter.ts";
import { type Cloud, callOnCloud } from "../../anthropic/text/on-cloud.ts";
import { answerBatches, BATCH_CREATION, BATCHES, createBatch } from "../batches.ts";
import { answerCaches, CACHES } from "../caches.ts";
import { answerFiles, answerUpload, DOWNLOADS, FILES, fileForbidden, sendFile, UPLOADS } from "../files.ts";
import { interactionsAdapter } from "../interactions/adapter.ts";
import type { StoredCaches } from "../stored-caches.ts";
import { countContentTokens, googleAdapter, isStream, wantsEvents } from "./adapter.ts";
import { type GoogleHost, googleError, invalid, missingKey, modelNotFound, wrongKey, wrongToken } from "./errors.ts";

const MODELS_PER_PAGE = 50;

/** Claude, hosted next to Google's own models: the messages API below a path of this host. */
const CLAUDE =
  /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/]+):(rawPredict|streamRawPredict)$/;
const CLOUD: Cloud = { version: "vertex-2023-10-16", refused: ["model"], schemas: false };

/** Where each host keeps its models, after the version. */
const COLLECTIONS = {
  gemini: /^\/(?:v1|v1beta|v1beta1)\/models(?:\/(.+))?$/,
  vertex: /^\/(?:v1|v1beta|v1beta1)\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/models(?:\/(.+))?$/,
} as const;

/** Another API of one of the hosts, which names its model in the body. */
const INTERACTIONS = /^\/(?:v1|v1beta)\/interactions$/;

function modelEntry(model: SimulatedTextModel, host: GoogleHost): JsonObject {
  if (host === "vertex")
    return { name: `publishers/google/models/${model.name}`, versionId: "default", openSourceCategory: "PROPRIETARY" };
  return {
    name: `models/${model.name}`,
    version: "001",
    displayName: model.displayName,
    description: model.description,
    inputTokenLimit: model.contextLength,
    outputTokenLimit: model.maxOutputTokens,
    supportedGenerationMethods: ["generateContent", "countTokens"],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: model.reasoning,
  };
}

function listModels(exchange: Exchange, host: GoogleHost): Response {
  const query = exchange.url.searchParams;
  const size = Math.min(1_000, Math.max(1, Number(query.get("pageSize")) || MODELS_PER_PAGE));
  const from = Number(query.get("pageToken")) || 0;
  const entries = SIMULATED_TEXT_MODELS.slice(from, from + size).map((model) => modelEntry(model, host));
  const more: JsonObject = from + size < SIMULATED_TEXT_MODELS.length ? { nextPageToken: String(from + size) } : {};
  return jsonAnswer(exchange, { [host === "vertex" ? "publisherModels" : "models"]: entries, ...more });
}

/** Without `alt=sse` even the error of a streaming call comes inside an array. */
function inArray(error: HostError): HostError {
  return new HostError(error.status, `[${error.body.trimEnd()}\n]\n`, error.headers);
}

export function googleHost(
  host: GoogleHost,
  credentials: Credentials,
  tokens: AccessTokens,
  nowMs: () => number,
  caches: StoredCaches,
): Host {
  const adapter = googleAdapter(host, nowMs, caches);
  const interactions = interactionsAdapter(nowMs);

  function authenticate(exchange: Exchange): string {
    const key = exchange.headers.get("x-goog-api-key") ?? exchange.url.searchParams.get("key");
    if (key !== null && key !== "") {
      if (!credentials.accepts(key)) throw wrongKey(host);
      return key;
    }
    const bearer = bearerOf(exchange.headers);
    if (bearer === undefined || bearer === "") throw host === "vertex" ? wrongToken(host) : missingKey();
    const good = tokens.accepts(bearer) || (host === "gemini" && credentials.accepts(bearer));
    if (!good) throw wrongToken(host);
    return bearer;
  }

  async function generate(exchange: Exchange, key: string, modelName: string, verb: string): Promise<Response> {
    const { body } = exchange;
    if (body === undefined) throw invalid("Invalid JSON payload received. The body is not valid JSON.");
    const call = incomingCall(exchange, body, key, modelName);
    if (verb === "countTokens")
      return jsonAnswer(exchange, countContentTokens(call, modelOf(adapter, call), host, caches));
    if (verb !== "generateContent" && verb !== "streamGenerateContent")
      throw modelNotFound(host, modelName, exchange.path);
    try {
      return await answerCall(adapter, call, exchange.state, exchange.signal, exchange.ended);
    } catch (error) {
      throw error instanceof HostError && isStream(call) && !wantsEvents(call) ? inArray(error) : error;
    }
  }

  async function interact(exchange: Exchange, key: string): Promise<Response> {
    const { body } = exchange;
    if (!isObject(body)) throw invalid("Invalid JSON payload received. The body is not valid JSON.");
    const call = incomingCall(exchange, body, key, textOr(body.model, ""));
    return answerCall(interactions, call, exchange.state, exchange.signal, exchange.ended);
  }

  async function message(exchange: Exchange, key: string, id: string, stream: boolean): Promise<Response> {
    if (exchange.body === undefined) throw invalid("Invalid JSON payload received. The body is not valid JSON.");
    // `claude-standard@20260101` is the simulator's `standard`.
    const name = decodeName(id)
      .replace(/^claude-/, "")
      .replace(/@.*$/, "");
    const call = callOnCloud(incomingCall(exchange, exchange.body, key, name), CLOUD, name, stream);
    return answerCall(anthropicAdapter, call, exchange.state, exchange.signal, exchange.ended);
  }

  /** The batches of the Gemini API, and the files with their results. */
  function batchesOf(exchange: Exchange, key: string): Response | undefined {
    const { path, method } = exchange;
    const download = method === "GET" ? DOWNLOADS.exec(path) : null;
    if (download !== null) {
      const sent = sendFile(exchange, key, `files/${download[1]}`);
      exchange.ended("finished");
      return sent;
    }
    const creation = method === "POST" ? BATCH_CREATION.exec(path) : null;
    if (creation !== null) return jsonAnswer(exchange, createBatch(exchange, key, decodeName(creation[1] ?? "")));
    const batched = BATCHES.exec(path);
    return batched === null ? undefined : jsonAnswer(exchange, answerBatches(exchange, key, batched[1], batched[2]));
  }

  return {
    async handle(exchange) {
      const key = authenticate(exchange);
      const claude = host === "vertex" && exchange.method === "POST" ? CLAUDE.exec(exchange.path) : null;
      if (claude !== null) return message(exchange, key, claude[1] ?? "", claude[2] === "streamRawPredict");
      if (host === "gemini" && exchange.method === "POST" && INTERACTIONS.test(exchange.path))
        return interact(exchange, key);
      if (host === "gemini" && UPLOADS.test(exchange.path) && exchange.method === "POST") {
        exchange.ended("finished");
        return answerUpload(exchange, key);
      }
      const filed = host === "gemini" ? FILES.exec(exchange.path) : null;
      if (filed !== null) return jsonAnswer(exchange, answerFiles(exchange, key, filed[1]));
      if (host === "gemini") {
        const batched = batchesOf(exchange, key);
        if (batched !== undefined) return batched;
      }
      const missing = exchange.state.files.missingIn(exchange.body, key);
      if (missing !== undefined) throw fileForbidden(missing);
      const cached = CACHES.exec(exchange.path);
      if (cached !== null) return jsonAnswer(exchange, answerCaches(exchange, key, cached.groups ?? {}, host));
      const match = COLLECTIONS[host].exec(exchange.path);
      if (match === null) throw googleError(404, "NOT_FOUND", `The requested URL ${exchange.path} was not found.`);
      const named = match[1] === undefined ? undefined : decodeName(match[1]);
      if (exchange.method === "GET") {
        if (named === undefined) return listModels(exchange, host);
        const model = SIMULATED_TEXT_MODELS.find((one) => one.name === named);
        if (model === undefined) throw modelNotFound(host, named, exchange.path);
        return jsonAnswer(exchange, modelEntry(model, host));
      }
      const verb = /^(.*):(\w+)$/.exec(named ?? "");
      if (verb === null) throw googleError(404, "NOT_FOUND", `The requested URL ${exchange.path} was not found.`);
      return generate(exchange, key, verb[1] ?? "", verb[2] ?? "");
    },
  };
}
