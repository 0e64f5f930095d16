import type { JsonObject } from "../base/json.ts";
import type { GatewayError } from "../canon/error.ts";
import type { HttpHeaders, HttpMethod, StreamedBody } from "../wire/http/http-exchange.ts";
import type { StreamedForm } from "../wire/streamed-multipart.ts";
import type { FittedImageCall } from "./image-call.ts";
import type { ImageCapabilities } from "./image-capabilities.ts";
import type { ImageEvent, UpstreamImageReply } from "./image-reply.ts";
import type { FittedVideoCall, VideoCapabilities } from "./video-call.ts";
import type { VideoReply } from "./video-reply.ts";

/** One part of a multipart form. */
export type FormPart =
  | { name: string; value: string }
  | { name: string; fileName: string; mimeType: string; base64: string }
  | { name: string; fileName: string; mimeType: string; bytes: Uint8Array };

/** One request to a provider's media API. The credential is added when it is sent, and only for the provider's own hosts. */
export interface MediaRequest {
  method: HttpMethod;
  /** A path below the provider's base URL, with its slash; or a complete URL from a response. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Leaves out the credential although the host is the provider's own: the URL is signed. */
  anonymous?: boolean;
  body?:
    | { json: JsonObject }
    | { form: readonly FormPart[] }
    | { text: string | Uint8Array<ArrayBuffer> }
    | { streamed: StreamedBody & { contentType: string } }
    | { streamedForm: StreamedForm };
}

/** A response with a 2xx status, or any other that `error` reads. */
export interface MediaAnswer {
  status: number;
  /** Undefined if the text is not a JSON object. */
  body: JsonObject | undefined;
  text: string;
  /** For hosts that say in them what their body does not; absent in tests. */
  headers?: HttpHeaders;
  retryAfterSeconds: number | undefined;
}

/** Identifies a job at its provider. It is stored: plain JSON that contains no secret. */
export type JobHandle = JsonObject;

/** The state of a provider's job. */
export type JobState<Reply> =
  | {
      state: "waiting";
      job: JobHandle /** When to poll next; the adapter's `pollIntervalMs` where absent. */;
      afterMs?: number /** 0..100 */;
      progress?: number;
    }
  | { state: "done"; reply: Reply }
  /** The job itself failed: polling again changes nothing. */
  | { state: "failed"; error: GatewayError };

export interface AdapterContext {
  /** The provider's name of the model. */
  model: string;
  /** The provider's settings that URLs depend on. */
  settings: { project?: string; location?: string; region?: string };
  /** The gateway's own name for the job, for hosts that store one with it. */
  jobName: string;
}

interface Jobs<Call, Reply> {
  /** Whether this adapter serves a model, by the provider's name of it. */
  serves: (model: string) => boolean;
  submit: (call: Call, context: AdapterContext) => MediaRequest;
  /** Reads the response to `submit`. Throws a GatewayError if a 2xx contains an error. */
  readSubmit: (answer: MediaAnswer, call: Call, context: AdapterContext) => JobState<Reply>;
  poll?: (job: JobHandle, context: AdapterContext) => MediaRequest;
  /** Reads the response to `poll`. Throws if the poll failed, not the job: it is then polled again later. */
  readPoll?: (answer: MediaAnswer, job: JobHandle, context: AdapterContext) => JobState<Reply>;
  /** The error in a response whose status is not 2xx. */
  error: (answer: MediaAnswer) => GatewayError;
  /** The time between two polls of a job, unless its state sets another. Defaults to 2 seconds for images and 10 for videos. */
  pollIntervalMs?: number;
}

export interface ImageAdapter extends Jobs<FittedImageCall, UpstreamImageReply> {
  capabilities: (model: string) => ImageCapabilities;
  /** For models with `partialImages`, or whose batch arrives image by image. */
  stream?: {
    serves: (model: string) => boolean;
    submit: (call: FittedImageCall & { partialImages?: number }, context: AdapterContext) => MediaRequest;
    /** One server-sent event's data, parsed. Throws a GatewayError if it is an error event. */
    read: (event: JsonObject) => ImageEvent | undefined;
  };
}

export interface VideoAdapter extends Jobs<FittedVideoCall, VideoReply> {
  capabilities: (model: string) => VideoCapabilities;
}

/** The hosts of a provider's API, and which of them receive the credential. */
export interface ApiHosts {
  /** The base URL of the adapters' paths, derived from the provider's; the same if absent. */
  base?: (baseUrl: string) => string;
  /** Further hosts that may receive the credential, such as regional ones that responses name. */
  ownHosts?: RegExp;
}

/** A provider's media API. */
export interface MediaAdapters extends ApiHosts {
  /** Several where models differ; the first that serves a model is used. */
  images?: readonly ImageAdapter[];
  videos?: readonly VideoAdapter[];
}
