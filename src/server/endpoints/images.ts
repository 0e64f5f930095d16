import { Type } from "../../base/type.ts";
import { ImageEditRequest, ImageGenerationRequest } from "../../media/images-api/schema.ts";
import { PredictRequest } from "../../media/predict/schema.ts";
import { EDITS, GENERATIONS, PREDICT } from "../../relay/media/image-protocols.ts";
import type { ImageProtocol, IncomingImages } from "../../relay/media/image-relay.ts";
import { relayImages } from "../../relay/media/images.ts";
import { relayEmbeddings } from "../../relay/service/embeddings.ts";
import { PREDICT_EMBEDDINGS } from "../../services/embeddings/protocols.ts";
import { incomingAtVerb, incomingRequest } from "../incoming-request.ts";
import { ImageEditEvent, ImageGenerationEvent, ImagesAnswer, PredictAnswer } from "../openapi/image-answers.ts";
import { events, json } from "../openapi/operation.ts";
import { IMAGE_HEADERS, MODEL_IN_PATH } from "../openapi/parameters.ts";
import type { RoutedRequest } from "../routed-request.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { chatPaths, verbEndpointPaths } from "./paths.ts";

const STREAMED =
  "With `stream`: events named by their type, with one completed event for each image and nothing after the last.";

const incomingImages = (routed: RoutedRequest, protocol: ImageProtocol): IncomingImages => ({
  ...incomingRequest(routed),
  protocol,
});

export const generateImages: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/images/generations"),
  id: "generateImages",
  summary: "Generate images",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: ImageGenerationRequest,
  answers: [json(ImagesAnswer, "The images."), events(ImageGenerationEvent, STREAMED)],
  handle: (routed, { gateway }) => relayImages(incomingImages(routed, GENERATIONS), gateway),
};

const ImageFile = Type.String({ contentMediaType: "application/octet-stream", description: "The image file." });
const ImageFiles = Type.Union([ImageFile, Type.Array(ImageFile)]);

/**
 * The fields of the JSON, with files instead of texts. Several images are parts with the same name, with or without
 * brackets.
 */
const ImageEditForm = Type.Object(
  {
    ...ImageEditRequest.properties,
    image: Type.Optional(ImageFiles),
    "image[]": Type.Optional(ImageFiles),
    images: Type.Optional(ImageFiles),
    mask: Type.Optional(ImageFile),
  },
  { title: "ImageEditForm" },
);

export const editImages: ClientEndpoint = {
  ...generateImages,
  paths: chatPaths("/images/edits"),
  id: "editImages",
  summary: "Edit images",
  request: ImageEditRequest,
  form: ImageEditForm,
  answers: [json(ImagesAnswer, "The images."), events(ImageEditEvent, STREAMED)],
  handle: (routed, { gateway }) => relayImages(incomingImages(routed, EDITS), gateway),
};

/** Generates images or embeddings, depending on the model. An unknown model is refused as for images. */
export const predictImages: ClientEndpoint = {
  method: "POST",
  paths: verbEndpointPaths("predict"),
  id: "predictImages",
  summary: "Generate or edit images",
  dialect: "genai",
  parameters: [...MODEL_IN_PATH, ...IMAGE_HEADERS],
  request: PredictRequest,
  answers: [json(PredictAnswer, "The images.")],
  handle: (routed, { gateway }) => {
    const incoming = incomingAtVerb(routed);
    const { modelInPath, naming } = incoming;
    const isEmbedding = gateway.snapshot.catalogue.kindOf(modelInPath, naming) === "embedding";
    return isEmbedding
      ? relayEmbeddings(incoming, gateway, PREDICT_EMBEDDINGS)
      : relayImages({ ...incoming, protocol: PREDICT }, gateway);
  },
};
