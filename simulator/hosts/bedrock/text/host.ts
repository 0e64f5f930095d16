import { bearerOf, type Credentials } from "../../../credentials.ts";
import { decodeName, type Exchange, type Host, incomingCall } from "../../../exchange.ts";
import { isObject } from "../../../json.ts";
import { emptyPrompt, type TextAdapter } from "../../../text/adapter.ts";
import { answerCall } from "../../../text/answer-call.ts";
import { invokeService } from "../invoke-service.ts";
import { bedrockError, bedrockFailure, invalid, modelNotFound } from "./errors.ts";
import { invokeAdapter } from "./invoke.ts";
import { readConverse } from "./read-request.ts";
import { renderConverse } from "./render.ts";
import { verifySignature } from "./verify-signature.ts";

const OPERATION = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream)$/;

/** `us.anthropic.standard-v1:0` is `standard` of the Claude family; names of other families, and bare ones, are not. */
function modelOf(id: string): { name: string; isClaude: boolean } {
  const name = id.replace(/^.*\./, "").replace(/-v\d+(?::\d+)?$/, "");
  return { name, isClaude: id.includes("anthropic.") };
}

/** Amazon Bedrock's runtime: Converse for every model, InvokeModel for Claude. */
export function bedrockHost(credentials: Credentials, secretAccessKey: string, nowMs: () => number): Host {
  function authenticate(exchange: Exchange): string {
    const bearer = bearerOf(exchange.headers);
    if (bearer !== undefined) {
      if (credentials.accepts(bearer)) return bearer;
      throw bedrockError(
        403,
        "AccessDeniedException",
        "Authentication failed: Please make sure your API Key is valid.",
      );
    }
    if (!exchange.headers.has("authorization")) {
      throw bedrockError(403, "MissingAuthenticationTokenException", "Missing Authentication Token");
    }
    const accessKeyId = verifySignature(exchange, secretAccessKey, nowMs());
    if (accessKeyId.includes("wrong")) {
      throw bedrockError(403, "UnrecognizedClientException", "The security token included in the request is invalid.");
    }
    return accessKeyId;
  }

  return {
    requestIdHeader: "x-amzn-requestid",
    async handle(exchange) {
      const key = authenticate(exchange);
      const operation = OPERATION.exec(exchange.path);
      if (operation === null || exchange.method !== "POST") {
        throw bedrockError(404, "UnknownOperationException", "The requested operation is not recognized.");
      }
      const { name, isClaude } = modelOf(decodeName(operation[1] ?? ""));
      const [, , verb = ""] = operation;
      if (exchange.body === undefined) throw bedrockError(400, "SerializationException", "The body is not valid JSON.");
      const service = verb === "invoke" ? invokeService(exchange, decodeName(operation[1] ?? "")) : undefined;
      if (service !== undefined) {
        exchange.ended("finished");
        return service;
      }
      if (verb.startsWith("invoke") && !isClaude)
        throw invalid("The simulator supports InvokeModel only for Claude models.");
      const call = incomingCall(exchange, exchange.body, key, name);
      const adapter = verb.startsWith("invoke")
        ? invokeAdapter(name, verb !== "invoke")
        : converseAdapter(isClaude, verb !== "converse");
      return answerCall(adapter, call, exchange.state, exchange.signal, exchange.ended);
    },
  };
}

/** Converse and ConverseStream. What Claude takes beyond other models, marks and signed thoughts, others refuse. */
function converseAdapter(isClaude: boolean, stream: boolean): TextAdapter {
  return {
    family: "bedrock",
    cachesMarkedOnly: true,
    read(call, model) {
      if (!isObject(call.body)) throw invalid("The body must be a JSON object.");
      const { prompt, wanted } = readConverse(call.body, model, isClaude);
      const options = { isClaude, omitThinking: prompt.thinking === "omitted", wanted };
      return { prompt, stream, render: (plan) => renderConverse(plan, model, options) };
    },
    readUnchecked: (_call, model) => ({
      prompt: emptyPrompt(),
      stream,
      render: (plan) => renderConverse(plan, model, { isClaude, omitThinking: false, wanted: [] }),
    }),
    notFound: () => modelNotFound(),
    tooLong: (tokens, limit) =>
      invalid(`The model returned the following errors: prompt is too long: ${tokens} tokens > ${limit} maximum`),
    failure: bedrockFailure,
  };
}
