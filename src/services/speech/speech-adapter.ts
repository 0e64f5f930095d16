import type { Usage } from "../../canon/usage.ts";
import type { AdapterContext, MediaRequest } from "../../media/adapter.ts";
import type { ServiceAdapter } from "../service-adapter.ts";
import type { FittedSpeechCall, SpeechCall, SpeechField, SpeechFormat } from "./speech-call.ts";

/** What a model takes at its host. */
export interface SpeechCapabilities {
  /** The first is the one for clients that name none. */
  formats: readonly [SpeechFormat, ...SpeechFormat[]];
  takes: readonly SpeechField[];
  /** The host's voice for one that it does not have, and why; undefined where it has it. */
  otherVoice?: (voice: SpeechCall["voice"]) => { voice: string; reason: string } | undefined;
  /** The instructions become part of the text. */
  speaksInstructions?: true;
  /** The sound comes when all of it is made. */
  answersWhole?: true;
}

/** What a part of an answer holds. */
export interface SpeechPart {
  sound: Uint8Array;
  usage?: Usage;
}

/** Reads the body of an answer as it comes. */
export interface SpeechReader {
  /** Throws a GatewayError where the host reports one. */
  read: (chunk: Uint8Array) => SpeechPart;
  /** The body has come to its end; throws where the answer has not. */
  end: () => SpeechPart;
}

export interface SpeechAdapter extends ServiceAdapter {
  /** The dialect in which its models answer conversations too, with sound; absent where they answer none. */
  dialect?: string;
  capabilities: (model: string) => SpeechCapabilities;
  submit: (call: FittedSpeechCall, context: AdapterContext) => MediaRequest;
  /** Throws a GatewayError where an answer of that type cannot be sound. */
  createReader: (call: FittedSpeechCall, context: AdapterContext, contentType: string | undefined) => SpeechReader;
}
