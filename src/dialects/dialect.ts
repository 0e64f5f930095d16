import type { ByteBuffer } from "../base/byte-buffer.ts";
import type { JsonObject } from "../base/json.ts";
import type { Billable } from "../canon/billable.ts";
import type { GatewayError } from "../canon/error.ts";
import type { ModelLists } from "../canon/listed-model.ts";
import type { MediaTokens } from "../canon/media-tokens.ts";
import type { Effort, ReasoningRequest } from "../canon/reasoning.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { Stop } from "../canon/stop.ts";
import type { ModelTraits } from "../canon/traits.ts";
import type { Usage } from "../canon/usage.ts";
import type { AnswerContext } from "./answer/answer-context.ts";
import type { SealedOrigins } from "./answer/sealed-origins.ts";
import type { StoredAnswers } from "./answer/stored-answers.ts";
import type { ClientCodec, UpstreamCodec } from "./codec.ts";
import type { Asks, Endpoint, EndpointCall, EndpointRequest, KeyHeader, PathParameters } from "./endpoint.ts";
import type { CheckContext, Door } from "./reading/check.ts";
import type { ObjectFields } from "./reading/object-fields.ts";
import type { PricedFields } from "./reading/priced-fields.ts";
import type { ReceivedRequest } from "./received-request.ts";
import type { ConversationFields } from "./request/conversation-of.ts";
import type { HostedImages } from "./request/hosted-images.ts";
import type { MediaQuirks } from "./request/media-quirks.ts";

interface RequestContext extends CheckContext {
  verb: "generate" | "count_tokens";
}

/** An error in the caller's protocol, before the first byte of an answer. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How far a stream to the client has come, for the dialects whose errors depend on it. */
export interface StreamState<Options = unknown> {
  options: Options;
  /** Something was written already. */
  begun: boolean;
  /** Where the stream stands, as the writer of it says. */
  position?: unknown;
  /** What was asked, for the dialects that repeat it. */
  call?: { model: string; request: JsonObject; atSeconds: number };
}

/** An error inside a stream: texts to write in order, each after a pause that some readers need. */
export interface StreamErrorWrite {
  text: string;
  pauseMs: number;
}

/** What the native lane needs to know to send a client's request on as it is. */
export interface NativeRequestContext<Quirks extends MediaQuirks = MediaQuirks> {
  upstreamModel: string;
  stream: boolean;
  door: Door;
  maxOutputTokens: number | undefined;
  /** Whether the model thinks. */
  reasons: boolean;
  quirks: Quirks;
  /** Its prompt is to be counted, and not answered. */
  counting?: boolean;
  /** The efforts that the model is known to take. */
  knownEfforts: readonly Effort[] | undefined;
}

/** What a host takes of its own dialect. */
export interface NativeHost<Quirks extends MediaQuirks = MediaQuirks> {
  quirks: Quirks;
  traits: ModelTraits;
  /** Whose opaque values are read there. */
  origin: string;
  /** Whether a word names the family of another host's opaque values. */
  isForeignOrigin: (origin: string) => boolean;
}

/** What one attempt sends to a provider, and what of the client's request it could not honour. */
export interface UpstreamRequest {
  payload: string | Buffer;
  notes: FieldNote[];
  /** On which terms other than the ordinary it asks to be served. */
  terms?: readonly string[];
}

/** A target, as far as it decides what becomes of a client's options. */
export interface OptionsTarget {
  /** The dialect in which it is called. */
  via: string;
  quirks: MediaQuirks;
  /** Its ordinary price covers a long context. */
  includesLongContext: boolean;
  /** The client's request. */
  body: JsonObject;
}

/** What of a client's options goes up, in addition to the body. */
export interface ForwardedOptions {
  /** For the provider's URL, headers and body; undefined where there are none. */
  options: unknown;
  /** On which terms other than the ordinary they ask to be served. */
  terms: readonly string[];
}

/** What the native lane needs to know in addition to hand an upstream's answer back as it is. */
export interface NativeAnswerContext<Quirks extends MediaQuirks = MediaQuirks, Options = unknown>
  extends AnswerContext<Options> {
  quirks: Quirks;
  /** Whose opaque values the host makes, and where it is remembered, for the dialects whose values do not say. */
  origin?: string;
  sealed?: SealedOrigins;
}

/** An answer as the client reads it, with what the receipt needs of it. */
export interface ClientAnswer {
  text: string;
  usage: Usage | undefined;
  stop: Stop | undefined;
}

/** How far a stream has come, as its tap sees it. */
export interface TapProgress {
  /** `open`: an end here is a break. `complete`: an end here is a proper end. `ended`: nothing more will come. */
  readonly state: "open" | "complete" | "ended";
  /** An error event of the upstream's, or one that cannot be read. What came before it stands. */
  readonly failure: GatewayError | undefined;
}

/** Reads a stream as it passes, and renders what the client gets of it. Its progress is itself: a chunk allocates nothing. */
export interface Tap extends TapProgress {
  /** Bytes of whole events. */
  push(events: Uint8Array, output: ByteBuffer): TapProgress;
  /**
   * Nothing more comes: the upstream has closed, or its answer is whole. `rest` was left without its blank line: an event
   * whose end was forgotten, or half of one. Where the state stays `open`, the upstream broke off. Called once.
   */
  end(rest: string, output: ByteBuffer): TapProgress;
  readonly contentSeen: boolean;
  readonly usage: Usage | undefined;
  /** Every chunk brings the usage up to date, so that it holds for a broken stream too. */
  readonly usageRuns: boolean;
  readonly stop: Stop | undefined;
  /** The weight of the generated text so far, about: for an estimate where the upstream never said its usage. */
  readonly generatedCharacters: number;
  /** The same of images and sound; undefined where none came. */
  readonly generatedMedia: MediaTokens | undefined;
  /** Thoughts were shown: those that are not are at most their rest. */
  readonly reasoningSeen: boolean;
  /** Where the stream stands, for the dialects whose errors depend on it. */
  readonly position?: unknown;
}

/** What a client's request says, read from its body as it came. */
interface RequestReader {
  /** Throws for the first thing that the contract does not allow; gives the request back in its normal form. */
  check(request: ReceivedRequest, context: RequestContext): ReceivedRequest;
  /** Rough count of the prompt's tokens, for where no upstream can be asked; quicker where the surplus of bytes is known. */
  estimateTokens(body: JsonObject, surplusBytes?: number): number;
  /** The most tokens that the request lets the model generate, where it says so. */
  outputLimit(body: JsonObject): number | undefined;
  /** How many answers the request asks for, each of which may come to the limit. */
  answerCount(body: JsonObject): number;
  /** How much the request wants the model to think, where it says so. */
  reasoning(body: JsonObject): ReasoningRequest | undefined;
  /** Where requests can name what providers keep; absent where the protocol has no such fields. */
  readonly objects?: ObjectFields;
  /** The fields by which a request asks for other terms than the ordinary. */
  readonly pricedFields: PricedFields;
  /** What of a request, and of its URL and headers, can cost money besides ordinary tokens. */
  billables(body: JsonObject, options: unknown): readonly Billable[];
  /** Where requests of one conversation begin alike. */
  readonly conversation: ConversationFields;
}

/** The native lane: what has to change in requests and answers that otherwise pass as they came. */
interface NativePatches {
  /**
   * Whether a host of the same dialect needs the canon nonetheless: the history holds what it does not take, such as an
   * opaque value of another family (H01), or its answers hide what the protocol has a field for.
   */
  needsCanon(body: JsonObject, host: NativeHost, sealed?: SealedOrigins): boolean;
  prepareRequest(request: ReceivedRequest, context: NativeRequestContext): UpstreamRequest;
  patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): ClientAnswer;
  createTap(context: NativeAnswerContext): Tap;
}

/** Errors in the words of the protocol. */
interface ErrorEncoder {
  /** Before the first byte of an answer. */
  encode(error: GatewayError, requestId: string): ErrorAnswer;
  encodeInStream(error: GatewayError, requestId: string, state: StreamState): StreamErrorWrite[];
  /** Whether clients that asked for a stream act on this error only inside one, though nothing was sent before it. */
  belongsInStream?(error: GatewayError): boolean;
}

/** What clients of a dialect send and expect around the bodies. */
interface ClientHttp {
  readonly endpoints: readonly Endpoint[];
  /** What the URL and the headers of a call say. Throws where the protocol does not allow it. */
  readCall(asks: Asks, request: EndpointRequest): EndpointCall;
  /** The model that a path names. */
  readModel(parameters: PathParameters): string;
  /** What requests for endpoints that do not exist look like when they come from clients of this dialect. */
  readonly pathHint?: RegExp;
  /** Headers that only clients of this dialect send: they also tell them apart at an endpoint that several dialects share. */
  readonly headerHints?: readonly string[];
  /** Where a request carries several keys, the first of these counts: the contract's header, then its vendor's (choices 2). */
  readonly keyHeaders: readonly KeyHeader[];
  /** The publisher that clients leave out, or put before names that have none. */
  readonly impliedPublisher?: string;
  /** The header under which clients look for the id of a request. */
  readonly requestIdHeader: string | undefined;
  readonly models: ModelLists;
  /** A line that keeps the connection alive and that every client ignores; none where there is none. */
  readonly keepAlive: string | undefined;
  /** The content type of a streamed answer. */
  streamType(options: unknown): string;
  /** What of the client's options a target takes; the rest is noted. Absent where the dialect has no options that go up. */
  forwardOptions?(options: unknown, target: OptionsTarget, notes: FieldNote[]): ForwardedOptions;
}

/** One wire language, as clients and providers speak it. */
export interface Dialect {
  readonly name: string;
  /** Through the canon, for clients whose model speaks another dialect. */
  readonly codec: ClientCodec & UpstreamCodec;
  readonly native: NativePatches;
  readonly requests: RequestReader;
  readonly errors: ErrorEncoder;
  readonly http: ClientHttp;
  /** Answers that later requests build on; absent where every request says all. */
  readonly stored?: StoredAnswers;
  /** The request with marks on opaque values of other hosts than the vendor's, where they came without; before the canon reads it. */
  readonly markSealed?: (body: JsonObject, sealed: SealedOrigins) => JsonObject;
  /** Images in the middle of an answer; absent where no host of the protocol makes them. */
  readonly hostedImages?: HostedImages;
}
