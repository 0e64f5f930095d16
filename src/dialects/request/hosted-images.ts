import type { JsonObject } from "../../base/json.ts";
import type { MediaQuirks } from "./media-quirks.ts";

/** What a request says of images that are to be made in the middle of its answer. */
export interface HostedImagesTool {
  /** JSON path of the tool. */
  path: string;
  /** The model that is to make them, where the client names one. */
  model: string | undefined;
  /** How many previews of an image the client wants to see. */
  previews: number;
}

/** An image that the model asks for. */
export interface AskedImage {
  /** The fields of a request for images, but for the model. */
  readonly request: JsonObject;
}

/** What became of it: the answer of the images API, or why there is none. */
export type ImageOutcome =
  | { readonly image: JsonObject; readonly format: string | undefined }
  | { readonly error: string };

/** One answer out of several of the model's, with the images in between. Texts are what a client reads of a stream. */
export interface HostedAnswer {
  /** What the model is asked next. */
  readonly request: JsonObject;
  /** Images that the model asked for in the answer that was taken last, and is to have: those beyond a limit are not among them. */
  readonly asked: readonly AskedImage[];
  /** Takes an answer in one piece. */
  take(answer: JsonObject): void;
  /** Takes one event of a stream. */
  takeEvent(event: JsonObject): string;
  beginImage(asked: AskedImage): string;
  previewImage(asked: AskedImage, base64: string): string;
  endImage(asked: AskedImage, outcome: ImageOutcome): string;
  /** After the images: whether the model is to go on. */
  goOn(): boolean;
  /** The whole answer, and the event that ends a stream with it. */
  finish(): { answer: JsonObject; event: string };
  /** Where the stream stands, for an error in it. */
  readonly position: unknown;
}

/** How many images one answer may have, and after how many rounds with images the model must go on without. */
export interface ImageLimits {
  rounds: number;
  images: number;
}

/** Who is answered, and how the answer is named where it is kept. */
export interface HostedContext {
  answerId: string | undefined;
  makeId: () => string;
  limits: ImageLimits;
}

/**
 * For protocols whose hosts make images in the middle of an answer: how the gateway has other models do the same. The model is
 * given a function in the tool's place, and what it calls is shown as the tool's own.
 */
export interface HostedImages {
  /** Undefined where the request does not ask for such a tool. */
  read(body: JsonObject): HostedImagesTool | undefined;
  /** Whether a host of the dialect `via` has the tool itself. */
  isNative(via: string, quirks: MediaQuirks): boolean;
  play(body: JsonObject, context: HostedContext): HostedAnswer;
}
