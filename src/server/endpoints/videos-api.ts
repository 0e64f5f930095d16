import { checkProtocol } from "../../access/scopes.ts";
import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Operation, VideoDerivation } from "../../canon/operation.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { encodeDeleted, encodeVideo, encodeVideoPage } from "../../media/videos-api/encode-video.ts";
import {
  VideoCreateRequest,
  VideoEditRequest,
  VideoExtendRequest,
  VideoRemixRequest,
} from "../../media/videos-api/schema.ts";
import { operationIdIn } from "../../media/videos-api/video-id.ts";
import { CREATE_VIDEO, derivedVideo, videoNotFound } from "../../relay/media/video-protocols.ts";
import type { VideoProtocol } from "../../relay/media/video-relay.ts";
import { submitVideo } from "../../relay/media/videos.ts";
import { countedCaller } from "../counted-caller.ts";
import { incomingRequest } from "../incoming-request.ts";
import { json } from "../openapi/operation.ts";
import { JOB_HEADERS } from "../openapi/parameters.ts";
import { DeletedVideo, VideoList, VideoObject } from "../openapi/videos-api-answers.ts";
import type { Handler, RoutedRequest, ServerContext } from "../routed-request.ts";
import { sendFile } from "../send-file.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { FILE_ANSWERS } from "./files.ts";
import { dropInChatPaths } from "./paths.ts";

const submit =
  (protocol: VideoProtocol): Handler =>
  (routed, { gateway, operations }) =>
    submitVideo({ ...incomingRequest(routed), protocol, videoInPath: routed.parameters["id"] }, gateway, operations);

const FrameFile = Type.String({ contentMediaType: "application/octet-stream", description: "The image file." });

export const createVideo: ClientEndpoint = {
  method: "POST",
  paths: dropInChatPaths("/videos"),
  id: "createVideo",
  summary: "Create a video",
  dialect: "chat",
  parameters: [...JOB_HEADERS, "idempotency-key"],
  request: VideoCreateRequest,
  form: Type.Object(
    { ...VideoCreateRequest.properties, input_reference: Type.Optional(FrameFile) },
    { title: "VideoCreateForm" },
  ),
  answers: [json(VideoObject, "The job, to be polled with `GET /v1/videos/{id}`.")],
  handle: submit(CREATE_VIDEO),
};

const derived = (kind: VideoDerivation): ClientEndpoint => ({ ...createVideo, handle: submit(derivedVideo(kind)) });

export const remixVideo: ClientEndpoint = {
  ...derived("remix"),
  paths: dropInChatPaths("/videos/{id}/remix"),
  id: "remixVideo",
  summary: "Make a video from a completed one with another prompt",
  parameters: ["video-id", ...JOB_HEADERS, "idempotency-key"],
  request: VideoRemixRequest,
  form: VideoRemixRequest,
};

export const editVideo: ClientEndpoint = {
  ...derived("edit"),
  paths: dropInChatPaths("/videos/edits"),
  id: "editVideo",
  summary: "Edit a completed video",
  request: VideoEditRequest,
  form: VideoEditRequest,
};

export const extendVideo: ClientEndpoint = {
  ...derived("extend"),
  paths: dropInChatPaths("/videos/extensions"),
  id: "extendVideo",
  summary: "Extend a completed video",
  request: VideoExtendRequest,
  form: VideoExtendRequest,
};

/** Until the gateway polls the provider again, a client learns nothing new. */
const MAX_POLL_AFTER_MS = 15_000;
const MIN_POLL_AFTER_MS = 250;

export const getVideo: ClientEndpoint = {
  method: "GET",
  paths: dropInChatPaths("/videos/{id}"),
  id: "getVideo",
  summary: "Show a video job",
  dialect: "chat",
  parameters: ["video-id"],
  answers: [json(VideoObject, "The state of the job.")],
  handle: async (routed, context) => {
    const { operations, gateway } = context;
    const operation = await find(routed, context);
    if (!operation.claimed) await operations.claim(operation.id);
    const headers = new Headers({ "content-type": "application/json" });
    if (operation.state === "running") {
      const dueInMs = Math.ceil(operation.dueAtMs - gateway.clock.nowMs());
      // The name that the vendor's SDK reads.
      headers.set(
        "openai-poll-after-ms",
        String(Math.max(MIN_POLL_AFTER_MS, Math.min(MAX_POLL_AFTER_MS, dueInMs + MIN_POLL_AFTER_MS))),
      );
    }
    return new Response(JSON.stringify(encodeVideo(operation)), { headers });
  },
};

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

export const listVideos: ClientEndpoint = {
  method: "GET",
  paths: dropInChatPaths("/videos"),
  id: "listVideos",
  summary: "List the videos of the project",
  dialect: "chat",
  parameters: ["limit", "after-video", "video-order"],
  answers: [json(VideoList, "The newest first, unless `order` is `asc`.")],
  handle: async (routed, { gateway, operations }) => {
    const principal = await callerOf(routed, gateway);
    const { limit, order, afterId } = readPage(routed.query);
    const after = afterId === undefined ? undefined : await operations.find(principal, operationIdIn(afterId) ?? "");
    if (afterId !== undefined && after === undefined) refuse("after", "is not the id of a video of this project");
    const found = await operations.list(principal, { limit: limit + 1, after, order });
    return Response.json(encodeVideoPage(found.slice(0, limit), found.length > limit));
  },
};

export const deleteVideo: ClientEndpoint = {
  ...getVideo,
  method: "DELETE",
  paths: dropInChatPaths("/videos/{id}"),
  id: "deleteVideo",
  summary: "Delete a completed or failed video",
  answers: [json(DeletedVideo, "The video and its file are deleted.")],
  handle: async (routed, context) => {
    const { gateway, operations } = context;
    const { id, project, parts } = await find(routed, context);
    if (!(await operations.forget(id))) {
      const message = 'This video is still in progress. Delete it when its status is "completed" or "failed".';
      throw new GatewayError("invalid_request", message, { path: "video_id", code: "video_in_progress" });
    }
    const files = parts.flatMap((part) => part.videos.map(({ file }) => file));
    await gateway.files.remove(project, files);
    return Response.json(encodeDeleted(id));
  },
};

export const getVideoContent: ClientEndpoint = {
  ...getVideo,
  paths: dropInChatPaths("/videos/{id}/content"),
  id: "getVideoContent",
  summary: "Download a video",
  parameters: ["video-id", "video-variant", "range"],
  answers: FILE_ANSWERS,
  handle: async (routed, context) => {
    const { files, clock } = context.gateway;
    const variant = routed.query.get("variant") ?? "video";
    const { state, project, parts } = await find(routed, context);
    if (variant !== "video") refuse("variant", 'must be "video"; the gateway stores no thumbnails and spritesheets');
    const [video] = parts.flatMap((part) => part.videos);
    if (state !== "done" || video === undefined) {
      const message = 'This video has no content: GET /v1/videos/{id} shows its status. Wait until it is "completed".';
      throw new GatewayError("invalid_request", message, { path: "video_id", code: "video_not_ready" });
    }
    return sendFile(await files.read(video.file, [project], clock.nowMs()), routed, context.gateway);
  },
};

async function callerOf(routed: RoutedRequest, gateway: ServerContext["gateway"]) {
  const principal = await countedCaller(routed, gateway);
  checkProtocol(principal, routed.dialect.name);
  return principal;
}

async function find(routed: RoutedRequest, { gateway, operations }: ServerContext): Promise<Operation> {
  const principal = await callerOf(routed, gateway);
  const id = routed.parameters["id"] ?? "";
  const found = await operations.find(principal, operationIdIn(id) ?? "");
  if (found === undefined) throw videoNotFound(id);
  return found;
}

function readPage(query: URLSearchParams) {
  const written = query.get("limit") ?? String(DEFAULT_PAGE);
  const limit = /^\d{1,4}$/.test(written) ? Number(written) : Number.NaN;
  if (!(limit <= MAX_PAGE)) refuse("limit", `must be a number from 0 to ${MAX_PAGE}`);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") refuse("order", 'must be "asc" or "desc"');
  return {
    limit,
    order: order === "asc" ? ("asc" as const) : ("desc" as const),
    afterId: query.get("after") ?? undefined,
  };
}
