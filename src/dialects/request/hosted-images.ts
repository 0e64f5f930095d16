import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaQuirks } from "./media-quirks.ts";

/** The tool by which a request asks for images within its response. */
export interface HostedImagesTool {
  /** JSON path of the tool. */
  path: string;
  /** The image model, if the client names one. */
  model: string | undefined;
  /** How many previews of an image the client requests. */
  previews: number;
}

/** An image that the model requests. */
export interface AskedImage {
  /** The fields of an image request, except the model. */
  readonly request: JsonObject;
}

/** The result: the response of the images API, or the reason why there is none. */
export type ImageOutcome =
  | { readonly image: JsonObject; readonly format: string | undefined }
  | { readonly error: string };

/** One response assembled from several model responses with images in between. Strings are what a client reads from a stream. */
export interface HostedAnswer {
  /** The next request to the model. */
  readonly request: JsonObject;
  /** Images that the model requested in the last response and that are to be made, up to the limit. */
  readonly asked: readonly AskedImage[];
  /** Takes a complete response. */
  take(answer: JsonObject): void;
  /** Takes one event of a stream. */
  takeEvent(event: JsonObject): string;
  beginImage(asked: AskedImage): string;
  previewImage(asked: AskedImage, base64: string): string;
  endImage(asked: AskedImage, outcome: ImageOutcome): string;
  /** After the images: whether the model is to continue. */
  goOn(): boolean;
  /** An image was made. */
  readonly hasImages: boolean;
  /** What the model said in the last response. */
  readonly said: readonly JsonObject[];
  /** The whole response, and the event that ends a stream with it. `failure` ended it early. */
  finish(failure?: GatewayError): { answer: JsonObject; event: string };
  /** The position in the stream, for an error in it. */
  readonly position: unknown;
}

/** How many images one response may have, and after how many rounds with images the model must continue without. */
export interface ImageLimits {
  rounds: number;
  images: number;
}

/** The id of the response if it is stored, and what assembling it needs. */
export interface HostedContext {
  answerId: string | undefined;
  makeId: () => string;
  limits: ImageLimits;
}

/**
 * For protocols whose hosts make images within a response: lets the gateway do the same with other models. The model gets a
 * function instead of the tool, and its calls are shown as calls of the tool.
 */
export interface HostedImages {
  /** Undefined if the request has no such tool. */
  read(body: JsonObject): HostedImagesTool | undefined;
  /** Whether a host of the dialect `via` has the tool itself. */
  isNative(via: string, quirks: MediaQuirks): boolean;
  play(body: JsonObject, context: HostedContext): HostedAnswer;
}
