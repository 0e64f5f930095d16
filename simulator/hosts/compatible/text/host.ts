import { SIMULATED_TEXT_MODELS } from "../../../../src/catalogue/simulated-models.ts";
import { bearerOf, type Credentials } from "../../../credentials.ts";
import { type Exchange, type Host, incomingCall, jsonAnswer } from "../../../exchange.ts";
import { isObject } from "../../../json.ts";
import type { TextAdapter } from "../../../text/adapter.ts";
import { answerCall } from "../../../text/answer-call.ts";
import { answerBatches } from "../../openai/batches.ts";
import { answerFiles, sendFile } from "../../openai/files.ts";
import { invalid, missingKey, openaiError, wrongKey } from "../../openai/text/errors.ts";
import { compatibleAdapter, speakingAs } from "./adapter.ts";
import type { HostBehaviour } from "./behaviour.ts";
import { SIMULATED_HOSTS } from "./hosts.ts";

const CREATED_SECONDS = Date.UTC(2026, 9, 1) / 1_000;

function authenticate(headers: Headers, host: HostBehaviour, credentials: Credentials): string {
  const key = host.keyHeader === undefined ? bearerOf(headers) : (headers.get(host.keyHeader) ?? undefined);
  if (host.keyless && (key === undefined || key === "")) return "";
  if (key === undefined || key === "") throw missingKey();
  if (!credentials.accepts(key)) throw wrongKey(key);
  return key;
}

function complete(exchange: Exchange, adapter: TextAdapter, host: HostBehaviour, key: string): Promise<Response> {
  const call = speakingAs(host, () => {
    const { body } = exchange;
    const model = isObject(body) ? body.model : undefined;
    if (body === undefined) throw invalid("We could not parse the JSON body of your request.", null, null);
    if (typeof model !== "string") throw invalid("you must provide a model parameter", null, null);
    return incomingCall(exchange, body, key, model);
  });
  return answerCall(adapter, call, exchange.state, exchange.signal, exchange.ended);
}

const AZURE = "azure-openai";
const AZURE_FILES = /^(\/azure-openai(?:\/.*)?)\/v1\/files(?:\/([^/]+)(\/content)?)?$/;
const AZURE_BATCHES = /^(\/azure-openai(?:\/.*)?)\/v1\/batches(?:\/([^/]+)(\/cancel)?)?$/;

/** Azure has OpenAI's files and batches. */
function storedAtAzure(exchange: Exchange, key: string): Response | undefined {
  const [filed, , file, content] = AZURE_FILES.exec(exchange.path) ?? [];
  if (file !== undefined && content !== undefined) {
    const sent = sendFile(exchange, key, file);
    exchange.ended("finished");
    return sent;
  }
  if (filed !== undefined) return jsonAnswer(exchange, answerFiles(exchange, key, file));
  const [batched, root = "", id, cancel] = AZURE_BATCHES.exec(exchange.path) ?? [];
  if (batched === undefined) return undefined;
  const asked = { key, host: AZURE, root: `/hosts${root}`, isCancel: cancel !== undefined } as const;
  return jsonAnswer(exchange, answerBatches(exchange, id === undefined ? asked : { ...asked, id }));
}

/** All compatible hosts, each at `/<kind>/…/chat/completions`; the part in between is ignored. */
export function compatibleHosts(credentials: Credentials, nowMs: () => number, strict: boolean): Host {
  const hosts = new Map(
    SIMULATED_HOSTS.map((host) => [host.kind, { host, adapter: compatibleAdapter(host, nowMs, strict) }] as const),
  );
  return {
    requestIdHeader: "x-request-id",
    async handle(exchange) {
      const azure = exchange.path.startsWith(`/${AZURE}/`) ? hosts.get(AZURE)?.host : undefined;
      const stored =
        azure &&
        speakingAs(azure, () =>
          AZURE_FILES.test(exchange.path) || AZURE_BATCHES.test(exchange.path)
            ? storedAtAzure(exchange, authenticate(exchange.headers, azure, credentials))
            : undefined,
        );
      if (stored !== undefined) return stored;
      const [, kind = "", verb = ""] = /^\/([\w.-]+)\/(?:.*\/)?(chat\/completions|models)$/.exec(exchange.path) ?? [];
      const found = hosts.get(kind);
      if (found === undefined) throw openaiError(404, `Invalid URL (${exchange.method} ${exchange.path})`);
      const { host, adapter } = found;
      const key = speakingAs(host, () => authenticate(exchange.headers, host, credentials));
      if (verb === "chat/completions" && exchange.method === "POST") return complete(exchange, adapter, host, key);
      const data = SIMULATED_TEXT_MODELS.map(({ name }) => ({
        id: name,
        object: "model",
        created: CREATED_SECONDS,
        owned_by: kind,
      }));
      return jsonAnswer(exchange, { object: "list", data });
    },
  };
}
