import { relayCompletions } from "../../relay/service/completions.ts";
import { CompletionRequest } from "../../services/completion/schema.ts";
import { incomingRequest } from "../incoming-request.ts";
import { events, json } from "../openapi/operation.ts";
import { IMAGE_HEADERS } from "../openapi/parameters.ts";
import { CompletionAnswer } from "../openapi/speech-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths } from "./paths.ts";

export const createCompletion: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/completions"),
  id: "createCompletion",
  summary: "Complete a prompt with the legacy completions API",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: CompletionRequest,
  answers: [
    json(CompletionAnswer, "The completion, in the provider's format."),
    events(CompletionAnswer, "With `stream`: chunks in the same format, then `[DONE]`."),
  ],
  handle: (routed, { gateway }) => relayCompletions(incomingRequest(routed), gateway),
};
