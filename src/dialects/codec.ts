import type { JsonObject } from "../base/json.ts";
import type { CanonCall } from "../canon/call.ts";
import type { GatewayError } from "../canon/error.ts";
import type { CanonEvent } from "../canon/event.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { CanonReply } from "../canon/reply.ts";
import type { ServedOn } from "../canon/terms.ts";
import type { ModelTraits } from "../canon/traits.ts";
import type { Usage } from "../canon/usage.ts";
import type { VaryingPlaces } from "../wire/frame-template.ts";
import type { SseFrame } from "../wire/sse.ts";
import type { AnswerContext } from "./answer/answer-context.ts";
import type { DeltaEvent, DeltaForm } from "./answer/delta-form.ts";
import type { MediaQuirks } from "./request/media-quirks.ts";
import type { UpstreamFailure } from "./upstream-failure.ts";

/** What a request to a provider depends on besides the call. */
export interface EncodeRequestContext<Quirks extends MediaQuirks = MediaQuirks> {
  upstreamModel: string;
  stream: boolean;
  traits: ModelTraits;
  /** The host's quirks in this dialect. */
  quirks: Quirks;
  /** The family whose opaque values the target reads. */
  origin: string;
  /** The model binds its thinking to the conversation before it, and the gateway has changed a text of that. */
  mayUnbind?: boolean;
  /** The provider's name of a model that the client names, or undefined if it does not offer it. Absent: names are kept. */
  upstreamName?: (model: string) => string | undefined;
}

export interface EncodedRequest {
  body: JsonObject;
  notes: readonly FieldNote[];
  /** What the request changed and the decoder of the response must undo. */
  reading: AnswerReading;
  /** Options of the target's dialect that the request needs, such as headers. */
  options?: unknown;
  /** Headers that it needs besides those of its options. */
  headers?: Readonly<Record<string, string>>;
}

export interface AnswerReading {
  /** The tool whose arguments are the response text: it replaced a JSON Schema for the response. */
  structuredTool?: string;
  /** The response is a JSON object with only this member, whose value is the text for the client. */
  unwrapMember?: string;
  /** That value is a string, and the client wants it without JSON quotes. */
  unquoteMember?: boolean;
  /** The client's tool names, by the names that were sent instead. */
  toolNames?: Readonly<Record<string, string>>;
}

/** What decoding a response depends on. */
export interface DecodeAnswerContext<Quirks extends MediaQuirks = MediaQuirks> {
  origin: string;
  quirks: Quirks;
  reading: AnswerReading;
  /** Random letters and digits. */
  makeId: () => string;
  /** Receives the terms on which the host says it served the call. */
  served?: ServedOn;
  /** For the receipt: what clients of other protocols do not get of the response. */
  note?: (note: FieldNote) => void;
}

/** What encoding a response for a client depends on. */
export interface EncodeAnswerContext<Options = unknown> extends AnswerContext<Options> {
  /** Estimates the prompt tokens, for protocols that report them before the upstream does (H11). */
  estimateInputTokens: () => number;
  /** For the receipt: what the client does not get of the response. */
  note: (note: FieldNote) => void;
  /** Unsigned thoughts are to come back, because their host accepts them. */
  unsignedComesBack?: boolean;
}

/** Decodes the frames of one upstream stream into canonical events. An end without a proper finish yields an `error` event. */
export interface StreamDecoder {
  push(frame: SseFrame): CanonEvent[];
  /** The upstream has reported its stop reason: only minor data can be missing, and `end` returns a finish. */
  readonly complete: boolean;
  /** Something has started for which no event was emitted yet. Absent: never. */
  readonly holdsBack?: boolean;
  /** Every chunk updates the usage, so that it is valid for a broken stream too. */
  readonly usageRuns?: boolean;
  /** The usage so far, which an event reports only at the end. */
  readonly usage?: Usage | undefined;
  /** The upstream closed the stream. */
  end(): CanonEvent[];
  /**
   * Where its ordinary deltas have their text, and what else in them differs from one to the next. A run of them can be read as one
   * that says all of their text. Absent where it depends on the text what a delta means.
   */
  readonly deltaPlaces?: VaryingPlaces | undefined;
}

/** Encodes canonical events as text for one client. `encodeStreamError` writes `error` events. */
export interface StreamEncoder {
  push(event: CanonEvent): string;
  /** Everything is held until it is known whether it can be written. If not, nothing was written. */
  readonly undecided?: boolean;
  /** The position in the stream, for dialects whose errors depend on it. */
  readonly position?: unknown;
  /** The client received this frame, whoever wrote it, and its events were pushed: the encoder continues from there. */
  follow?(frame: SseFrame): void;
  /** Whether output can continue after the last followed frame. Absent: always. */
  readonly inStep?: boolean;
  /** Names of events that only end something. Absent: there are none. */
  readonly closingEvents?: ReadonlySet<string>;
  /** How it writes deltas such as this one, which it has just written; undefined where it cannot be told from it alone. */
  formOf?(event: DeltaEvent): DeltaForm | undefined;
  /** Takes note of a delta that stands for a run of them which was written in their form. Absent where `push` does, and writes. */
  absorb?(event: DeltaEvent): void;
}

/** How a dialect asks a provider to count the tokens of a prompt. */
export interface TokenCounting {
  /** The fields of an encoded request that the counter accepts. */
  encodeRequest(body: JsonObject, upstreamModel: string, quirks: MediaQuirks): JsonObject;
  decodeAnswer(body: JsonObject): number | undefined;
}

/** The headers in which hosts report how much of a limit is left. */
export interface LimitHeaders {
  readonly remaining: string;
  /** When the limit resets: a duration, seconds, or a time. */
  readonly reset: string;
}

/** The part of a dialect that faces providers. */
export interface UpstreamCodec {
  readonly name: string;
  encodeRequest(call: CanonCall, context: EncodeRequestContext): EncodedRequest;
  /** Throws a GatewayError if the body is an error with a status of success. */
  decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply;
  createStreamDecoder(context: DecodeAnswerContext): StreamDecoder;
  decodeError(failure: UpstreamFailure, quirks?: MediaQuirks): GatewayError;
  /**
   * One family of hosts uses the dialect and reads the opaque values of all its hosts; otherwise each kind of provider reads its
   * own.
   */
  readonly oneFamily: boolean;
  readonly reasoning: {
    /** Hosts return complete thoughts, or perhaps a summary. */
    shown: "whole" | "summary";
    /** Reasoning models think without being asked. */
    unasked: boolean;
    /** Whether a host accepts unsigned thoughts. Absent: no host does. */
    takesUnsigned?(quirks: MediaQuirks): boolean;
  };
  /** A lower output limit is raised to this one. Absent: limits are not raised. */
  readonly leastOutputLimit?: number;
  /** Whether a host counts reasoning against the output limit. Absent: every host does. */
  limitsReasoning?(quirks: MediaQuirks): boolean;
  /** Absent if hosts of the dialect are not known to report their limits. */
  readonly limitHeaders?: readonly LimitHeaders[];
  /** Absent if the dialect cannot count tokens. */
  readonly counting?: TokenCounting;
  /** Whether responses do not count the uses of a tool, which then counts once per response. Absent: all tools are counted. */
  isUncounted?(tool: string): boolean;
  /**
   * Whether responses count a tool only at their end: one that is cut off after its first content has used it once. Absent: none.
   */
  isCountedLast?(tool: string): boolean;
  /** Whether a tool of the host's own dialect is sent to it, by type. Absent: every tool is. */
  takesTool?(type: string, quirks: MediaQuirks): boolean;
  /** Whether the web search of another dialect is sent to a host. Absent: to every host. */
  takesSearch?(quirks: MediaQuirks): boolean;
  /** Whether another hosted tool of another dialect is sent to a host, by the name under which it crosses. Absent: none is. */
  takesHosted?(crossing: string, quirks: MediaQuirks): boolean;
  /** Whether a host continues a final assistant message if this is not known of the model. Absent: no host does. */
  goesOn?(quirks: MediaQuirks): boolean;
}

/** The part of a dialect that faces clients. */
export interface ClientCodec {
  /** The request has passed the dialect's check and is in its normal form. */
  decodeRequest(body: JsonObject): CanonCall;
  /** JSON text. */
  encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string;
  createStreamEncoder(context: EncodeAnswerContext): StreamEncoder;
  encodeTokenCount(tokens: number): string;
  /** Responses can contain images. Otherwise images are stored, and the text links to them. */
  readonly showsImages: boolean;
}
