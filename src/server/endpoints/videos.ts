import { PollRequest, VideoRequestBody } from "../../media/predict-long-running/schema.ts";
import { pollVideo } from "../../relay/media/poll.ts";
import { submitVideo } from "../../relay/media/videos.ts";
import { incomingAtVerb, incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { JOB_HEADERS, MODEL_IN_PATH } from "../openapi/parameters.ts";
import { OperationName, VideoOperation } from "../openapi/video-answers.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { verbEndpointPaths } from "./paths.ts";

export const submitVideos: ClientEndpoint = {
  method: "POST",
  paths: verbEndpointPaths("predictLongRunning"),
  id: "submitVideos",
  summary: "Submit a video generation",
  dialect: "genai",
  parameters: [...MODEL_IN_PATH, ...JOB_HEADERS, "idempotency-key"],
  request: VideoRequestBody,
  answers: [json(OperationName, "The operation's name, for polling.")],
  handle: (routed, { gateway, operations }) => submitVideo(incomingAtVerb(routed), gateway, operations),
};

export const fetchVideoOperation: ClientEndpoint = {
  ...submitVideos,
  paths: verbEndpointPaths("fetchPredictOperation"),
  id: "fetchVideoOperation",
  summary: "Poll a video operation",
  parameters: [...MODEL_IN_PATH, "x-trivium-media"],
  request: PollRequest,
  answers: [json(VideoOperation, "The state of the operation.")],
  handle: async (routed, { gateway, operations }) => {
    const inline = routed.request.headers.get("x-trivium-media")?.toLowerCase() === "inline";
    return Response.json(await pollVideo({ ...incomingRequest(routed), inline }, gateway, operations));
  },
};
