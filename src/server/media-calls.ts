import { EDITS, GENERATIONS, PREDICT } from "../relay/media/image-protocols.ts";
import type { ImageProtocol, IncomingImages } from "../relay/media/image-relay.ts";
import { relayImages } from "../relay/media/images.ts";
import { pollVideo } from "../relay/media/poll.ts";
import { submitVideo } from "../relay/media/videos.ts";
import { incomingRequest } from "./incoming-request.ts";
import type { Handler, RoutedRequest } from "./routed-request.ts";

const images = (routed: RoutedRequest, protocol: ImageProtocol): IncomingImages => ({
  ...incomingRequest(routed),
  protocol,
});

/** `:predict` */
export const predictImages: Handler = (routed, { gateway }) =>
  relayImages({ ...images(routed, PREDICT), modelInPath: routed.dialect.http.readModel(routed.parameters) }, gateway);

/** `images/generations` */
export const generateImages: Handler = (routed, { gateway }) => relayImages(images(routed, GENERATIONS), gateway);

/** `images/edits` */
export const editImages: Handler = (routed, { gateway }) => relayImages(images(routed, EDITS), gateway);

/** `:predictLongRunning` */
export const submitVideos: Handler = (routed, { gateway, operations }) =>
  submitVideo(
    { ...incomingRequest(routed), modelInPath: routed.dialect.http.readModel(routed.parameters) },
    gateway,
    operations,
  );

/** `:fetchPredictOperation`. With `x-trivium-media: inline` the videos are in the answer. */
export const fetchOperation: Handler = async (routed, { gateway, operations }) => {
  const inline = routed.request.headers.get("x-trivium-media")?.toLowerCase() === "inline";
  return Response.json(await pollVideo({ ...incomingRequest(routed), inline }, gateway, operations));
};
