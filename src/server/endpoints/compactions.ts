import { relayCompactions } from "../../relay/service/compactions.ts";
import { CompactionRequest } from "../../services/compaction/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { CompactionAnswer } from "../openapi/speech-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

export const compactResponse: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/responses/compact"),
  id: "compactResponse",
  summary: "Compact a conversation, if the provider supports it",
  dialect: "responses",
  parameters: IMAGE_HEADERS,
  request: CompactionRequest,
  answers: [json(CompactionAnswer, "The items to continue with, one of them encrypted by the provider.")],
  handle: (routed, { gateway }) => relayCompactions(incomingRequest(routed), gateway),
};
