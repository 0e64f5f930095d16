import type { Usage } from "../../canon/usage.ts";
import type { AdapterContext, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { FittedSpeechCall, SpeechCall, SpeechField, SpeechFormat } from "./speech-call.ts";

/** What a model accepts at its host. */
export interface SpeechCapabilities {
  /** The first is the default. */
  formats: readonly [SpeechFormat, ...SpeechFormat[]];
  takes: readonly SpeechField[];
  /** The host's replacement for a voice that it does not have, and why; undefined if it has it. */
  otherVoice?: (voice: SpeechCall["voice"]) => { voice: string; reason: string } | undefined;
  /** The instructions become part of the text. */
  speaksInstructions?: true;
  /** The audio arrives only when all of it is generated. */
  answersWhole?: true;
}

/** The content of a part of a response. */
export interface SpeechPart {
  sound: Uint8Array;
  usage?: Usage;
}

/** Reads the body of a response as it arrives. */
export interface SpeechReader {
  /** Throws a GatewayError if the host reports one. */
  read: (chunk: Uint8Array) => SpeechPart;
  /** The body has ended; throws if the response is incomplete. */
  end: () => SpeechPart;
}

export interface SpeechAdapter extends ServiceAdapter {
  /** The dialect in which its models also answer conversations with audio; absent if they do not. */
  dialect?: string;
  capabilities: (model: string) => SpeechCapabilities;
  submit: (call: FittedSpeechCall, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError if a response of that type cannot be audio. */
  createReader: (call: FittedSpeechCall, context: AdapterContext, contentType: string | undefined) => SpeechReader;
}
