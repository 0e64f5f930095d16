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
  summary: "Have a conversation compacted by its host, where the host does so",
  dialect: "responses",
  parameters: IMAGE_HEADERS,
  request: CompactionRequest,
  answers: [json(CompactionAnswer, "The items to go on with, one of them sealed by the host.")],
  handle: (routed, { gateway }) => relayCompactions(incomingRequest(routed), gateway),
};
