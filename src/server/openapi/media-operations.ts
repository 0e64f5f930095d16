import { Type } from "../../base/type.ts";
import { ImageEditRequest, ImageGenerationRequest } from "../../media/images-api/schema.ts";
import { PredictRequest } from "../../media/predict/schema.ts";
import { PollRequest, VideoRequestBody } from "../../media/predict-long-running/schema.ts";
import { ImageEditEvent, ImageGenerationEvent, ImagesAnswer, PredictAnswer } from "./image-answers.ts";
import { events, file, json, type Operation } from "./operation.ts";
import { IMAGE_HEADERS, JOB_HEADERS } from "./parameters.ts";
import { OperationName, VideoOperation } from "./video-answers.ts";

const IN_PATH = ["provider", "model"];
const STREAMED =
  "With `stream`: events named by their type; one completed event for each image, and none after the last.";

export const predictImages: Operation = {
  method: "post",
  id: "predictImages",
  summary: "Generate or edit images",
  dialect: "genai",
  parameters: [...IN_PATH, ...IMAGE_HEADERS],
  request: PredictRequest,
  answers: [json(PredictAnswer, "The images.")],
};

export const submitVideos: Operation = {
  ...predictImages,
  id: "submitVideos",
  summary: "Submit a video generation",
  parameters: [...IN_PATH, ...JOB_HEADERS, "idempotency-key"],
  request: VideoRequestBody,
  answers: [json(OperationName, "The operation's name, to poll with.")],
};

export const fetchVideoOperation: Operation = {
  ...predictImages,
  id: "fetchVideoOperation",
  summary: "Poll a video operation",
  parameters: [...IN_PATH, "x-trivium-media"],
  request: PollRequest,
  answers: [json(VideoOperation, "The state of the operation.")],
};

export const generateImages: Operation = {
  method: "post",
  id: "generateImages",
  summary: "Generate images",
  dialect: "chat",
  parameters: IMAGE_HEADERS,
  request: ImageGenerationRequest,
  answers: [json(ImagesAnswer, "The images."), events(ImageGenerationEvent, STREAMED)],
};

const ImageFile = Type.String({ contentMediaType: "application/octet-stream", description: "An image's file." });
const ImageFiles = Type.Union([ImageFile, Type.Array(ImageFile)]);

/** The fields of the JSON, with files instead of texts. Several images are parts with the same name, either of the two. */
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

export const editImages: Operation = {
  ...generateImages,
  id: "editImages",
  summary: "Edit images",
  request: ImageEditRequest,
  form: ImageEditForm,
  answers: [json(ImagesAnswer, "The images."), events(ImageEditEvent, STREAMED)],
};

const served = "The file, as long as it is kept.";

export const getFile: Operation = {
  method: "get",
  id: "getFile",
  summary: "Fetch a generated file",
  dialect: "chat",
  access: "signed",
  parameters: ["file-id", "expires", "signature", "range"],
  answers: [
    file(200, served),
    file(206, "The part that `range` asked for."),
    { status: 304, description: "It is the version that `if-none-match` names." },
    { status: 416, description: "The file is shorter than the part that was asked for." },
  ],
  failures: ["404"],
};

export const headFile: Operation = {
  ...getFile,
  method: "head",
  id: "headFile",
  summary: "Ask about a generated file",
  parameters: ["file-id", "expires", "signature"],
  answers: [{ status: 200, description: "It is there; the headers say its type and length." }],
};
