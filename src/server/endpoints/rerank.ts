import { parseObject } from "../../base/json.ts";
import { BUILT_IN_DIALECTS } from "../../dialects/index.ts";
import { relayRerank } from "../../relay/service/rerank.ts";
import { RerankRequest } from "../../services/rerank/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { RerankAnswer } from "../openapi/service-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

/** Errors in that protocol's form, `{ id, message }`, and in the form of the neighbouring endpoints, in one body. */
const errors: ClientEndpoint["errors"] = {
  encode: (error, requestId) => {
    const answer = BUILT_IN_DIALECTS.get("chat").errors.encode(error, requestId);
    const body = JSON.stringify({ id: requestId, message: error.messageWithPath, ...parseObject(answer.body) });
    return { ...answer, body };
  },
};

export const rerankDocuments: ClientEndpoint = {
  method: "POST",
  paths: [
    ...chatPaths("/rerank"),
    // Where clients of that API's later version send it.
    { door: "dropin", path: "/v2/rerank", documented: [{ path: "/v2/rerank", suffix: "DropInV2" }] },
  ],
  id: "rerankDocuments",
  summary: "Rank documents by their relevance to a query",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: RerankRequest,
  answers: [json(RerankAnswer, "The documents, most relevant first.")],
  errors,
  handle: (routed, { gateway }) => relayRerank(incomingRequest(routed), gateway),
};
