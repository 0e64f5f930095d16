import { relayModerations } from "../../relay/service/moderations.ts";
import { ModerationRequest } from "../../services/moderation/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { ModerationAnswer } from "../openapi/speech-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

export const createModeration: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/moderations"),
  id: "createModeration",
  summary: "Classify whether texts or images are harmful",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: ModerationRequest,
  answers: [json(ModerationAnswer, "One result for each input, in the provider's format.")],
  handle: (routed, { gateway }) => relayModerations(incomingRequest(routed), gateway),
};
