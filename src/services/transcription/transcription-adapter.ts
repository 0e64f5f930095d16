import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { Transcript, TranscriptEvent } from "./transcript.ts";
import type { FittedTranscription, HostFormat } from "./transcription-call.ts";

/** What a model accepts at its host. */
export interface TranscriptionCapabilities {
  formats: readonly [HostFormat, ...HostFormat[]];
  /** It can stream events. */
  streams: boolean;
}

export interface TranscriptionAdapter extends ServiceAdapter {
  capabilities: (model: string) => TranscriptionCapabilities;
  submit: (call: FittedTranscription, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a 2xx contains no transcript. */
  read: (answer: MediaAnswer) => Transcript;
  /** One server-sent event's data, parsed. Throws a GatewayError if it is an error event. */
  readEvent: (event: JsonObject) => TranscriptEvent | undefined;
}
