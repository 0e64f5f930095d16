import type { Billable } from "../canon/billable.ts";
import type { GatewayError } from "../canon/error.ts";
import type { LiveAudioFormat, LiveClientCodec, LiveUpstreamCodec } from "../canon/live.ts";
import type { ModelTraits } from "../canon/traits.ts";
import type { LiveQuirks } from "./live/quirks.ts";

/** Protocols of live connections. */
export type LiveDialectName = "realtime" | "live";

export interface LiveClientContext {
  /** The session's id. It is in the first event. */
  sessionId: string;
  /** The public id of the model, as the client sees it. */
  model: string;
  /** When the session ends, in Unix seconds. */
  expiresAtSeconds: number;
  /** Random letters and digits. */
  makeId: () => string;
  /** The client uses the field names of the protocol's beta. */
  beta?: boolean;
}

export interface LiveUpstreamContext {
  /** The provider's name of the model, as its protocol writes it. */
  upstreamModel: string;
  traits: ModelTraits;
  quirks: LiveQuirks;
  makeId: () => string;
  /** Milliseconds of a clock that never goes back: how much of the audio the user has heard. */
  nowMs: () => number;
  /** The dialect of the client. The same as the host's in a native session. */
  clientDialect: LiveDialectName;
}

/** What the gateway adds to the frames of a native session. */
export interface LiveMarks {
  /** On the first event. */
  sessionId?: string;
  /** The receipt of the turn in progress. */
  receipt?: string;
  /** The client's name of the model, in place of the provider's. */
  model?: string;
}

/** What a client's frame asks for that must be checked before it is sent. */
export interface LiveFrameCheck {
  /** The model that it names. */
  model?: string;
  /** What can cost money besides the tokens of the session's model: hosted tools, models that transcribe. */
  billables: readonly Billable[];
}

/** A code and a reason of at most 123 bytes. */
export interface LiveClose {
  code: number;
  reason: string;
}

/** What the gateway knows about one protocol of live connections. */
export interface LiveDialect {
  readonly name: LiveDialectName;
  client(context: LiveClientContext): LiveClientCodec;
  upstream(context: LiveUpstreamContext): LiveUpstreamCodec;
  /** The bytes of audio in a client's frame, if it has only audio. Nothing is parsed. */
  audioBytesIn(frame: string | Uint8Array): number | undefined;
  /** The same for a host's frame. */
  audioBytesOut(frame: string | Uint8Array): number | undefined;
  /** What must be checked in a client's frame that is not audio. Undefined: nothing. */
  check(frame: string): LiveFrameCheck | undefined;
  /** A client's frame with the provider's name of the model. The same text if it names none. */
  nativeCommand(frame: string, upstreamModel: string): string;
  /** A host's frame with the gateway's marks. The same text if it has no place for them. */
  nativeEvent(frame: string, marks: LiveMarks): string;
  /** How the connection is closed after an error that ends it. */
  close(error: GatewayError): LiveClose;
  /** The audio of a session that does not say otherwise. */
  readonly audio: { readonly input: LiveAudioFormat; readonly output: LiveAudioFormat };
}
