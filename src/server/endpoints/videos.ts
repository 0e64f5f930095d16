import { PollRequest, VideoRequestBody } from "../../media/predict-long-running/schema.ts";
import { pollVideo, showVideo } from "../../relay/media/poll.ts";
import { PREDICT_LONG_RUNNING } from "../../relay/media/video-protocols.ts";
import { submitVideo } from "../../relay/media/videos.ts";
import { incomingAtVerb, incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { JOB_HEADERS, MODEL_IN_PATH } from "../openapi/parameters.ts";
import { OperationName, VideoOperation, VideoSamples } from "../openapi/video-answers.ts";
import type { RoutedRequest } from "../routed-request.ts";
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
  handle: (routed, { gateway, operations }) =>
    submitVideo({ ...incomingAtVerb(routed), protocol: PREDICT_LONG_RUNNING }, gateway, operations),
};

export const fetchVideoOperation: ClientEndpoint = {
  ...submitVideos,
  paths: verbEndpointPaths("fetchPredictOperation"),
  id: "fetchVideoOperation",
  summary: "Poll a video operation",
  parameters: [...MODEL_IN_PATH, "x-trivium-media"],
  request: PollRequest,
  answers: [json(VideoOperation, "The state of the operation.")],
  handle: async (routed, { gateway, operations }) =>
    Response.json(await pollVideo(incomingPoll(routed), gateway, operations)),
};

/** The name of an operation below its model, which may be written in any form. */
const OPERATION =
  /^\/(?:v1|v1alpha|v1beta|v1beta1)\/(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?models\/(?:[^/]+\/)?[^/]+\/operations\/(?<operation>[\w-]{1,128})$/;

/** The poll of clients that use the vendor's public API instead of its cloud. */
export const getVideoOperation: ClientEndpoint = {
  method: "GET",
  dialect: "genai",
  paths: [
    {
      door: "dropin",
      path: OPERATION,
      documented: [{ path: "/v1beta/publishers/{provider}/models/{model}/operations/{operation}", suffix: "" }],
    },
  ],
  id: "getVideoOperation",
  summary: "Show a video operation",
  parameters: [...MODEL_IN_PATH, "operation-id", "x-trivium-media"],
  answers: [json(VideoSamples, "The state of the operation.")],
  handle: async (routed, { gateway, operations }) => {
    const id = routed.parameters["operation"] ?? "";
    return Response.json(await showVideo(incomingPoll(routed), id, gateway, operations));
  },
};

function incomingPoll(routed: RoutedRequest) {
  const inline = routed.request.headers.get("x-trivium-media")?.toLowerCase() === "inline";
  return { ...incomingRequest(routed), inline };
}
