import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import type { FittedImageCall } from "./image-call.ts";
import type { ImageCapabilities } from "./image-capabilities.ts";
import type { ImageEvent, UpstreamImageReply } from "./image-reply.ts";
import type { FittedVideoCall, VideoCapabilities } from "./video-call.ts";
import type { VideoReply } from "./video-reply.ts";

/** One part of a multipart form. */
export type FormPart =
  | { name: string; value: string }
  | { name: string; fileName: string; mimeType: string; base64: string };

/** One request to a provider's media API. The credential is added where it leaves, and only for the provider's own hosts. */
export interface MediaRequest {
  method: "GET" | "POST";
  /** Begins with a slash and stands below the provider's address; or whole, where an answer named it. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** The credential is left out, although the host is the provider's own: an address that was signed by itself. */
  anonymous?: boolean;
  body?: { json: JsonObject } | { form: readonly FormPart[] };
}

/** An answer with a status of 2xx, or any other where `error` reads it. */
export interface MediaAnswer {
  status: number;
  /** Undefined where the text is not a JSON object. */
  body: JsonObject | undefined;
  text: string;
  retryAfterSeconds: number | undefined;
}

/** What names a job at its provider. It is stored, so it is plain JSON, and holds no secret. */
export type JobHandle = JsonObject;

/** Where a job of the provider's stands. */
export type JobState<Reply> =
  | {
      state: "waiting";
      job: JobHandle /** Not before that; the adapter's `pollIntervalMs` where absent. */;
      afterMs?: number /** 0..100 */;
      progress?: number;
    }
  | { state: "done"; reply: Reply }
  /** The job itself failed: asking again changes nothing. */
  | { state: "failed"; error: GatewayError };

export interface AdapterContext {
  /** The model's name there. */
  model: string;
  /** The provider's own settings that addresses are made of. */
  settings: { project?: string; location?: string; region?: string };
  /** A name for the job that is the gateway's own, for hosts that keep one with it. */
  jobName: string;
}

interface Jobs<Call, Reply> {
  /** The models, by their names there, that this adapter serves. */
  serves: (model: string) => boolean;
  submit: (call: Call, context: AdapterContext) => MediaRequest;
  /** The answer to `submit`. Throws a GatewayError where a 2xx holds a refusal. */
  readSubmit: (answer: MediaAnswer, call: Call, context: AdapterContext) => JobState<Reply>;
  poll?: (job: JobHandle, context: AdapterContext) => MediaRequest;
  /** The answer to `poll`. Throws where the asking failed rather than the job: it is then asked again later. */
  readPoll?: (answer: MediaAnswer, job: JobHandle, context: AdapterContext) => JobState<Reply>;
  /** What an answer that is no 2xx means. */
  error: (answer: MediaAnswer) => GatewayError;
  /** Between two questions about a job, unless its state says otherwise; 2 seconds for images, 10 for videos where absent. */
  pollIntervalMs?: number;
}

export interface ImageAdapter extends Jobs<FittedImageCall, UpstreamImageReply> {
  capabilities: (model: string) => ImageCapabilities;
  /** For models with `partialImages`, or whose batch arrives image by image. */
  stream?: {
    serves: (model: string) => boolean;
    submit: (call: FittedImageCall & { partialImages?: number }, context: AdapterContext) => MediaRequest;
    /** One server-sent event's data, parsed. Throws a GatewayError where it is an error event. */
    read: (event: JsonObject) => ImageEvent | undefined;
  };
}

export interface VideoAdapter extends Jobs<FittedVideoCall, VideoReply> {
  capabilities: (model: string) => VideoCapabilities;
}

/** A provider's media API. */
export interface MediaAdapters {
  /** The address that the adapters' paths stand below, made of the provider's own; the same where absent. */
  base?: (baseUrl: string) => string;
  /** Hosts beside that of the address which may see the credential, such as regional ones that answers name. */
  ownHosts?: RegExp;
  /** Several where models differ; the first that serves a model is used. */
  images?: readonly ImageAdapter[];
  videos?: readonly VideoAdapter[];
}
