import { SIMULATED_TEXT_MODELS, type SimulatedTextModel } from "../../../../src/catalogue/simulated-models.ts";
import { bearerOf, type Credentials } from "../../../credentials.ts";
import { decodeName, type Exchange, type Host, incomingCall, jsonAnswer } from "../../../exchange.ts";
import { isObject } from "../../../json.ts";
import type { IncomingCall } from "../../../text/adapter.ts";
import { answerCall, modelOf } from "../../../text/answer-call.ts";
import { answerBatches, BATCHES } from "../batches.ts";
import { answerFiles, FILES } from "../files.ts";
import { anthropicAdapter, countMessageTokens } from "./adapter.ts";
import { anthropicError, invalid, modelNotFound } from "./errors.ts";

const VERSIONS = ["2023-01-01", "2023-06-01", "2026-10-21"];
const MODELS_PER_PAGE = 20;

function modelEntry(model: SimulatedTextModel) {
  return {
    type: "model",
    id: model.name,
    display_name: model.displayName,
    created_at: "2026-10-01T00:00:00Z",
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens,
  };
}

function authenticate(headers: Headers, credentials: Credentials): string {
  const key = headers.get("x-api-key");
  const bearer = bearerOf(headers);
  if (key === null && bearer === undefined) {
    throw anthropicError(401, "authentication_error", "x-api-key header is required");
  }
  if (key !== null && !credentials.accepts(key)) throw anthropicError(401, "authentication_error", "invalid x-api-key");
  if (key === null && !credentials.accepts(bearer ?? "")) {
    throw anthropicError(401, "authentication_error", "Invalid bearer token");
  }
  const version = headers.get("anthropic-version");
  if (version === null) throw invalid("anthropic-version", "header is required");
  if (!VERSIONS.includes(version)) throw invalid("anthropic-version", `"${version}" is not a valid version`);
  return key ?? bearer ?? "";
}

function readCall(exchange: Exchange, key: string): IncomingCall {
  const { body } = exchange;
  if (body === undefined) throw invalid("", "The request body is not valid JSON");
  const model = isObject(body) ? body.model : undefined;
  if (model === undefined) throw invalid("model", "Field required");
  if (typeof model !== "string") throw invalid("model", "Input should be a valid string");
  return incomingCall(exchange, body, key, model);
}

function listModels(exchange: Exchange): Response {
  const query = exchange.url.searchParams;
  const limit = Math.min(1_000, Math.max(1, Number(query.get("limit") ?? MODELS_PER_PAGE) || MODELS_PER_PAGE));
  const from = SIMULATED_TEXT_MODELS.findIndex((model) => model.name === query.get("after_id")) + 1;
  const page = SIMULATED_TEXT_MODELS.slice(from, from + limit);
  return jsonAnswer(exchange, {
    data: page.map(modelEntry),
    has_more: from + page.length < SIMULATED_TEXT_MODELS.length,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  });
}

export function anthropicHost(credentials: Credentials): Host {
  return {
    requestIdHeader: "request-id",
    async handle(exchange) {
      const key = authenticate(exchange.headers, credentials);
      const { path, method } = exchange;
      const filed = FILES.exec(path);
      if (filed !== null) return jsonAnswer(exchange, answerFiles(exchange, key, filed[1]));
      const batched = BATCHES.exec(path);
      if (batched !== null) {
        const answer = answerBatches(exchange, key, batched[1], batched[2]);
        exchange.ended("finished");
        return answer;
      }
      const missing = exchange.state.files.missingIn(exchange.body, key);
      if (missing !== undefined) throw anthropicError(404, "not_found_error", `File not found: ${missing}`);
      if (path === "/v1/messages" && method === "POST") {
        const call = readCall(exchange, key);
        return answerCall(anthropicAdapter, call, exchange.state, exchange.signal, exchange.ended);
      }
      if (path === "/v1/messages/count_tokens" && method === "POST") {
        const call = readCall(exchange, key);
        return jsonAnswer(exchange, countMessageTokens(call, modelOf(anthropicAdapter, call)));
      }
      if (path === "/v1/models" && method === "GET") return listModels(exchange);
      if (path.startsWith("/v1/models/") && method === "GET") {
        const name = decodeName(path.slice("/v1/models/".length));
        const model = SIMULATED_TEXT_MODELS.find((one) => one.name === name);
        if (model === undefined) throw modelNotFound(name);
        return jsonAnswer(exchange, modelEntry(model));
      }
      throw anthropicError(404, "not_found_error", "Not Found");
    },
  };
}
