import type { JsonObject } from "../../base/json.ts";
import type { AdapterContext, MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { Transcript, TranscriptEvent } from "./transcript.ts";
import type { FittedTranscription, HostFormat } from "./transcription-call.ts";

/** What a model takes at its host. */
export interface TranscriptionCapabilities {
  formats: readonly [HostFormat, ...HostFormat[]];
  /** It answers in events where it is asked to. */
  streams: boolean;
}

export interface TranscriptionAdapter extends ServiceAdapter {
  capabilities: (model: string) => TranscriptionCapabilities;
  submit: (call: FittedTranscription, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError where a 2xx holds no transcript. */
  read: (answer: MediaAnswer) => Transcript;
  /** One server-sent event's data, parsed. Throws a GatewayError where it is an error event. */
  readEvent: (event: JsonObject) => TranscriptEvent | undefined;
}
