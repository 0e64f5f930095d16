import { SIMULATED_TEXT_MODELS, type SimulatedTextModel } from "../../../../src/catalogue/simulated-models.ts";
import { bearerOf, type Credentials } from "../../../credentials.ts";
import { decodeName, type Exchange, type Host, incomingCall, jsonAnswer } from "../../../exchange.ts";
import { isObject } from "../../../json.ts";
import type { IncomingCall, TextAdapter } from "../../../text/adapter.ts";
import { answerCall, modelOf } from "../../../text/answer-call.ts";
import { answerBatches, BATCHES } from "../batches.ts";
import { completionsAdapter } from "../completions/adapter.ts";
import { answerFiles, FILES, sendFile } from "../files.ts";
import type { ClientSecrets } from "../realtime/client-secrets.ts";
import { countInputTokens, responsesAdapter } from "../responses/adapter.ts";
import { openaiAdapter } from "./adapter.ts";
import { invalid, missingKey, modelNotFound, openaiError, wrongKey } from "./errors.ts";

const CREATED_SECONDS = Date.UTC(2026, 9, 1) / 1_000;

function modelEntry(model: SimulatedTextModel) {
  return { id: model.name, object: "model", created: CREATED_SECONDS, owned_by: "trivium-simulator" };
}

function authenticate(headers: Headers, credentials: Credentials): string {
  const key = bearerOf(headers);
  if (key === undefined || key === "") throw missingKey();
  if (!credentials.accepts(key)) throw wrongKey(key);
  return key;
}

export function openaiHost(credentials: Credentials, nowMs: () => number, secrets: ClientSecrets): Host {
  const chat = openaiAdapter(nowMs);
  const completions = completionsAdapter(nowMs);
  const responses = responsesAdapter(nowMs);

  function readCall(exchange: Exchange, key: string): IncomingCall {
    const { body } = exchange;
    if (body === undefined) throw invalid("We could not parse the JSON body of your request.", null, null);
    const model = isObject(body) ? body.model : undefined;
    if (typeof model !== "string") throw invalid("you must provide a model parameter", null, null);
    return incomingCall(exchange, body, key, model);
  }

  function complete(exchange: Exchange, key: string, adapter: TextAdapter): Promise<Response> {
    const call = readCall(exchange, key);
    return answerCall(adapter, call, exchange.state, exchange.signal, exchange.ended);
  }

  return {
    requestIdHeader: "x-request-id",
    async handle(exchange) {
      const key = authenticate(exchange.headers, credentials);
      const { path, method } = exchange;
      const filed = FILES.exec(path);
      if (filed?.[1] !== undefined && filed[2] !== undefined) {
        const sent = sendFile(exchange, key, filed[1]);
        exchange.ended("finished");
        return sent;
      }
      if (filed !== null) return jsonAnswer(exchange, answerFiles(exchange, key, filed[1]));
      const [batched, id, cancel] = BATCHES.exec(path) ?? [];
      if (batched !== undefined) {
        const asked = { key, host: "openai", root: "/openai", isCancel: cancel !== undefined } as const;
        return jsonAnswer(exchange, answerBatches(exchange, id === undefined ? asked : { ...asked, id }));
      }
      const missing = exchange.state.files.missingIn(exchange.body, key);
      if (missing !== undefined)
        throw openaiError(404, `File '${missing}' not found.`, { param: "file_id", code: "file_not_found" });
      if (path === "/v1/chat/completions" && method === "POST") return complete(exchange, key, chat);
      if (path === "/v1/completions" && method === "POST") return complete(exchange, key, completions);
      if (path === "/v1/responses" && method === "POST") return complete(exchange, key, responses);
      if (path === "/v1/responses/input_tokens" && method === "POST") {
        const call = readCall(exchange, key);
        return jsonAnswer(exchange, countInputTokens(call, modelOf(responses, call)));
      }
      if (path === "/v1/realtime/client_secrets" && method === "POST") {
        return jsonAnswer(exchange, secrets.create(exchange.body));
      }
      if (path === "/v1/models" && method === "GET") {
        return jsonAnswer(exchange, { object: "list", data: SIMULATED_TEXT_MODELS.map(modelEntry) });
      }
      if (path.startsWith("/v1/models/") && method === "GET") {
        const name = decodeName(path.slice("/v1/models/".length));
        const model = SIMULATED_TEXT_MODELS.find((one) => one.name === name);
        if (model === undefined) throw modelNotFound(name);
        return jsonAnswer(exchange, modelEntry(model));
      }
      throw openaiError(404, `Invalid URL (${method} ${path})`);
    },
  };
}
