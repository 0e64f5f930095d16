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

/** What a request to a provider depends on in addition to the call itself. */
export interface EncodeRequestContext<Quirks extends MediaQuirks = MediaQuirks> {
  upstreamModel: string;
  stream: boolean;
  traits: ModelTraits;
  /** The host's, in this dialect. */
  quirks: Quirks;
  /** Whose opaque values the target reads. */
  origin: string;
}

export interface EncodedRequest {
  body: JsonObject;
  notes: readonly FieldNote[];
  /** What the request made different, and the answer's decoder must make undone. */
  reading: AnswerReading;
}

export interface AnswerReading {
  /** The tool whose arguments are the answer's text: it stood in for a JSON Schema of the answer. */
  structuredTool?: string;
  /** The answer is a JSON value with this one member, whose value is the text that the client wants. */
  unwrapMember?: string;
  /** That value is a word, and the client wants it without the quotes that it would have in JSON. */
  unquoteMember?: boolean;
  /** The client's names of tools, by those that the target was given instead. */
  toolNames?: Readonly<Record<string, string>>;
}

/** What the reading of an upstream's answer depends on. */
export interface DecodeAnswerContext<Quirks extends MediaQuirks = MediaQuirks> {
  origin: string;
  quirks: Quirks;
  reading: AnswerReading;
  /** Letters and digits, new each time. */
  makeId: () => string;
  /** Takes the terms on which the host says that it has served the call. */
  served?: ServedOn;
  /** For the receipt: what of the answer no client of another protocol can be given. */
  note?: (note: FieldNote) => void;
}

/** What the writing of an answer for a client depends on. */
export interface EncodeAnswerContext<Options = unknown> extends AnswerContext<Options> {
  /** About how many tokens the prompt has, for the protocols that tell it before the upstream does (H11). */
  estimateInputTokens: () => number;
  /** For the receipt: what of the answer the client could not be given. */
  note: (note: FieldNote) => void;
  /** Thoughts without a signature are to come back, because their host takes them. */
  unsignedComesBack?: boolean;
}

/** Frames of one upstream stream into canonical events; an end without a proper finish yields an `error` event. */
export interface StreamDecoder {
  push(frame: SseFrame): CanonEvent[];
  /** The upstream has said why it stopped: only trimmings can be missing, and `end` gives a finish. */
  readonly complete: boolean;
  /** Something has begun of which no event tells yet. Absent: never. */
  readonly holdsBack?: boolean;
  /** Every chunk brings the usage up to date, so that it holds for a broken stream too. */
  readonly usageRuns?: boolean;
  /** That usage so far, which an event tells only at the end. */
  readonly usage?: Usage | undefined;
  /** The upstream closed. */
  end(): CanonEvent[];
  /**
   * Where its ordinary deltas have their text, and what else in them differs from one to the next. A run of them can be read as one
   * that says all of their text. Absent where it depends on the text what a delta means.
   */
  readonly deltaPlaces?: VaryingPlaces | undefined;
}

/** Canonical events into text for one client; `error` events are spoken by `encodeStreamError`. */
export interface StreamEncoder {
  push(event: CanonEvent): string;
  /** It holds everything until it knows whether it can write what comes; where it cannot, nothing of it was written. */
  readonly undecided?: boolean;
  /** Where the stream stands, for the dialects whose errors depend on it. */
  readonly position?: unknown;
  /** The client was sent this frame, whoever has written it, and its events were pushed: what comes next goes on from there. */
  follow?(frame: SseFrame): void;
  /** What comes next can stand behind the frame that was followed last. Absent: always. */
  readonly inStep?: boolean;
  /** The names of events that only say that what was said is over. Absent: there are none. */
  readonly closingEvents?: ReadonlySet<string>;
  /** How it writes deltas such as this one, which it has just written; undefined where it cannot be told from it alone. */
  formOf?(event: DeltaEvent): DeltaForm | undefined;
  /** Takes note of a delta that stands for a run of them which was written in their form. Absent where `push` does, and writes. */
  absorb?(event: DeltaEvent): void;
}

/** How a dialect asks a provider to count a prompt's tokens. */
export interface TokenCounting {
  /** What of an encoded request the counter takes. */
  encodeRequest(body: JsonObject, upstreamModel: string, quirks: MediaQuirks): JsonObject;
  decodeAnswer(body: JsonObject): number | undefined;
}

/** The headers in which hosts tell how much of a limit is left. */
export interface LimitHeaders {
  readonly remaining: string;
  /** When the limit is full again: a duration, seconds, or a moment. */
  readonly reset: string;
}

/** The half of a dialect that faces providers. */
export interface UpstreamCodec {
  readonly name: string;
  encodeRequest(call: CanonCall, context: EncodeRequestContext): EncodedRequest;
  /** Throws a GatewayError where the answer is an error under a status of success. */
  decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply;
  createStreamDecoder(context: DecodeAnswerContext): StreamDecoder;
  decodeError(failure: UpstreamFailure, quirks?: MediaQuirks): GatewayError;
  /** One family of hosts speaks it and reads the opaque values of all of them; else each kind of provider reads its own. */
  readonly oneFamily: boolean;
  readonly reasoning: {
    /** Hosts show thoughts as they are, or perhaps a summary of them. */
    shown: "whole" | "summary";
    /** Models that think do so without being asked. */
    unasked: boolean;
    /** Whether a host takes back thoughts that nobody has signed. Absent: none does. */
    takesUnsigned?(quirks: MediaQuirks): boolean;
  };
  /** A lower output limit is raised to this one. Absent: none is. */
  readonly leastOutputLimit?: number;
  /** Whether a host counts reasoning against the output limit. Absent: every host does. */
  limitsReasoning?(quirks: MediaQuirks): boolean;
  /** Absent where hosts of the dialect are not known to tell their limits. */
  readonly limitHeaders?: readonly LimitHeaders[];
  /** Absent where the dialect knows no counting. */
  readonly counting?: TokenCounting;
  /** Whether answers of this dialect do not count the uses of a tool: it is taken to be used once by every answer. Absent: all count. */
  isUncounted?(tool: string): boolean;
  /** Whether answers count a tool with their end alone: one that breaks off after its first content has used it once. Absent: none. */
  isCountedLast?(tool: string): boolean;
  /** Whether a host is sent a tool that a client of its own dialect lists, by its type. Absent: every tool is sent. */
  takesTool?(type: string, quirks: MediaQuirks): boolean;
  /** Whether a host is sent the web search of a client of another dialect. Absent: every host is. */
  takesSearch?(quirks: MediaQuirks): boolean;
  /** Whether a host goes on from a last message of the assistant's, of whose model that is not known. Absent: none does. */
  goesOn?(quirks: MediaQuirks): boolean;
}

/** The half of a dialect that faces clients. */
export interface ClientCodec {
  /** The request has passed the dialect's check and stands in its normal form. */
  decodeRequest(body: JsonObject): CanonCall;
  /** JSON text. */
  encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string;
  createStreamEncoder(context: EncodeAnswerContext): StreamEncoder;
  encodeTokenCount(tokens: number): string;
  /** An answer can hold images; where it cannot, they are kept, and its text says where. */
  readonly showsImages: boolean;
}
