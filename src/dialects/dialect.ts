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
import type { TextPlaces } from "../wire/long-texts.ts";
import type { AnswerContext } from "./answer/answer-context.ts";
import type { AnswerTexts } from "./answer/answer-texts.ts";
import type { CachedAnswers } from "./answer/cached-answers.ts";
import type { ListedAnswers } from "./answer/listed-answers.ts";
import type { SealedOrigins } from "./answer/sealed-origins.ts";
import type { StoredAnswers } from "./answer/stored-answers.ts";
import type { ClientCodec, UpstreamCodec } from "./codec.ts";
import type { Asks, DialectEndpoint, EndpointCall, EndpointRequest, KeyHeader, PathParameters } from "./endpoint.ts";
import type { CheckContext, Door } from "./reading/check.ts";
import type { ObjectFields } from "./reading/object-fields.ts";
import type { PricedFields } from "./reading/priced-fields.ts";
import type { ReceivedRequest } from "./received-request.ts";
import type { ConversationFields } from "./request/conversation-of.ts";
import type { FileParts } from "./request/file-parts.ts";
import type { HostedImages } from "./request/hosted-images.ts";
import type { MediaQuirks } from "./request/media-quirks.ts";
import type { ModelFallbacks } from "./request/model-fallbacks.ts";

interface RequestContext extends CheckContext {
  verb: "generate" | "count_tokens";
  /** What the URL and the headers say. */
  options?: unknown;
}

/** An error in the caller's protocol, before the first byte of a response. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** How far a stream to the client has progressed, for dialects whose errors depend on it. */
export interface StreamState<Options = unknown> {
  options: Options;
  /** Something was already written. */
  begun: boolean;
  /** The position in the stream, as reported by its writer. */
  position?: unknown;
  /** The request, for dialects that repeat it. */
  call?: { model: string; request: JsonObject; atSeconds: number };
}

/** An error inside a stream: texts to write in order, each after a pause that some readers need. */
export interface StreamErrorWrite {
  text: string;
  pauseMs: number;
}

/** What the native lane needs to forward a client's request. */
export interface NativeRequestContext<Quirks extends MediaQuirks = MediaQuirks> {
  upstreamModel: string;
  stream: boolean;
  door: Door;
  maxOutputTokens: number | undefined;
  /** Whether the model thinks. */
  reasons: boolean;
  quirks: Quirks;
  /** The prompt is to be counted rather than answered. */
  counting?: boolean;
  /** The efforts that the model is known to accept. */
  knownEfforts: readonly Effort[] | undefined;
  /** The model binds its thinking to the conversation before it, and the gateway has changed a text of that. */
  mayUnbind?: boolean;
  /** The provider's name of a model that the client names; undefined if the provider does not offer it. */
  upstreamName?: (model: string) => string | undefined;
}

/** What a host accepts of its own dialect. */
export interface NativeHost<Quirks extends MediaQuirks = MediaQuirks> {
  quirks: Quirks;
  traits: ModelTraits;
  /** The family whose opaque values the host reads. */
  origin: string;
  /** Whether an origin is that of another family's opaque values. */
  isForeignOrigin: (origin: string) => boolean;
}

/** What one attempt sends to a provider, and what it could not use of the client's request. */
export interface UpstreamRequest {
  payload: string | Buffer;
  notes: FieldNote[];
  /** The special terms on which it asks to be served. */
  terms?: readonly string[];
  /** Options of the target's dialect that it needs; those of the client take their place. */
  options?: unknown;
  /** Headers that it needs besides those of its options. */
  headers?: Readonly<Record<string, string>>;
}

/** What determines how a client's options apply to a target. */
export interface OptionsTarget {
  /** The dialect used to call it. */
  via: string;
  quirks: MediaQuirks;
  /** Its ordinary price covers a long context. */
  includesLongContext: boolean;
  /** The client's request. */
  body: JsonObject;
}

/** The client's options that are sent to the provider, in addition to the body. */
export interface ForwardedOptions {
  /** For the provider's URL, headers and body; undefined if there are none. */
  options: unknown;
  /** The special terms that they request. */
  terms: readonly string[];
}

/** What the native lane needs in addition to forward an upstream's response. */
export interface NativeAnswerContext<Quirks extends MediaQuirks = MediaQuirks, Options = unknown>
  extends AnswerContext<Options> {
  quirks: Quirks;
  /** The family of the host's opaque values, and where it is remembered, for dialects whose values do not show it. */
  origin?: string;
  sealed?: SealedOrigins;
}

/** A response for the client, with what the receipt needs. */
export interface ClientAnswer {
  text: string;
  usage: Usage | undefined;
  stop: Stop | undefined;
}

/** How far a stream has progressed, as its tap sees it. */
export interface TapProgress {
  /** `open`: an end here is a break. `complete`: an end here is a proper end. `ended`: nothing more will come. */
  readonly state: "open" | "complete" | "ended";
  /** An error event from the upstream, or an unreadable one. Everything before it is kept. */
  readonly failure: GatewayError | undefined;
}

/** Reads a stream as it passes, and renders the client's version. It is its own progress object, so a chunk allocates nothing. */
export interface Tap extends TapProgress {
  /** Takes the bytes of complete events. */
  push(events: Uint8Array, output: ByteBuffer): TapProgress;
  /**
   * Nothing more will come: the upstream has closed, or its response is complete. `rest` is what was left without a blank line:
   * an event without its end, or half of one. If the state stays `open`, the upstream broke off. Called once.
   */
  end(rest: string, output: ByteBuffer): TapProgress;
  readonly contentSeen: boolean;
  readonly usage: Usage | undefined;
  /** Every chunk updates the usage, so that it is valid for a broken stream too. */
  readonly usageRuns: boolean;
  readonly stop: Stop | undefined;
  /** The approximate weight of the generated text so far, for an estimate if the upstream never reports usage. */
  readonly generatedCharacters: number;
  /** The same for images and audio; undefined if there were none. */
  readonly generatedMedia: MediaTokens | undefined;
  /** Thoughts were shown, so hidden ones are at most the rest. */
  readonly reasoningSeen: boolean;
  /** The position in the stream, for dialects whose errors depend on it. */
  readonly position?: unknown;
  /** What it waits for: it takes nothing until this has resolved, and is then pushed no events. */
  readonly pending?: Promise<unknown> | undefined;
}

/** Another model that a request names. */
export interface NamedModel {
  model: string;
  path: string;
  /** The place of the tool that names it. */
  index: number;
}

/** Reads a client's request from its body. */
interface RequestReader {
  /** Throws for the first thing that the contract does not allow. Returns the request in its normal form. */
  check(request: ReceivedRequest, context: RequestContext): ReceivedRequest;
  /** A rough token count of the prompt, for use when no upstream can count. It is faster if the surplus of bytes is known. */
  estimateTokens(body: JsonObject, surplusBytes?: number): number;
  /** The output limit of the request, if it has one. */
  outputLimit(body: JsonObject): number | undefined;
  /** How many choices the request asks for, each of which may reach the limit. */
  answerCount(body: JsonObject): number;
  /** How much reasoning the request asks for, if it says so. */
  reasoning(body: JsonObject): ReasoningRequest | undefined;
  /** Where requests can name objects that providers store; absent if the protocol has no such fields. */
  readonly objects?: ObjectFields;
  /** How requests name uploaded files in their messages. */
  readonly fileParts?: FileParts;
  /** The fields in which a request asks for special terms. */
  readonly pricedFields: PricedFields;
  /** Where the texts are that a translation only moves, of whatever length. Absent if it may look into any of them. */
  readonly texts?: TextPlaces;
  /** Everything in a request, its URL and its headers that can cost money besides ordinary tokens. */
  billables(body: JsonObject, options: unknown): readonly Billable[];
  /** Other models that a host calls for the request. They must be allowed like the requested one. Absent: there are none. */
  namedModels?(body: JsonObject): readonly NamedModel[];
  /** The start that all requests of a conversation share. */
  readonly conversation: ConversationFields;
}

/** Texts of a response that `patchAnswer` forwards without reading, so that it may be given marks in their place (wire/unread-texts.ts). */
export interface UnreadTexts {
  /** The names of the members that hold them. */
  readonly members: ReadonlySet<string>;
  /** Whether the response reports everything that would otherwise be estimated from its texts. */
  isCounted(body: JsonObject): boolean;
}

/** The native lane: what must change in requests and responses that are otherwise forwarded unchanged. */
interface NativePatches {
  /**
   * Whether a host of the same dialect needs the canon anyway: the history contains something that it does not accept, such as an
   * opaque value of another family (H01), or its responses hide something that the protocol has a field for.
   */
  needsCanon(body: JsonObject, host: NativeHost, sealed?: SealedOrigins): boolean;
  prepareRequest(request: ReceivedRequest, context: NativeRequestContext): UpstreamRequest;
  patchAnswer(text: string, body: JsonObject, context: NativeAnswerContext): ClientAnswer;
  /** Absent if it reads all texts. */
  readonly unreadTexts?: UnreadTexts;
  createTap(context: NativeAnswerContext): Tap;
}

/** Errors in the format of the protocol. */
interface ErrorEncoder {
  /** Before the first byte of a response. */
  encode(error: GatewayError, requestId: string): ErrorAnswer;
  encodeInStream(error: GatewayError, requestId: string, state: StreamState): StreamErrorWrite[];
  /** Whether clients that requested a stream handle this error only inside one, even if nothing was sent before. */
  belongsInStream?(error: GatewayError): boolean;
}

/** What clients of a dialect send and expect around the bodies. */
interface ClientHttp {
  readonly endpoints: readonly DialectEndpoint[];
  /** What the URL and the headers of a call say. Throws if the protocol does not allow it. */
  readCall(asks: Asks, request: EndpointRequest): EndpointCall;
  /** The model that a path names. */
  readModel(parameters: PathParameters): string;
  /** Matches paths of nonexistent endpoints that clients of this dialect request. */
  readonly pathHint?: RegExp;
  /** Headers that only clients of this dialect send. They also distinguish them at an endpoint that several dialects share. */
  readonly headerHints?: readonly string[];
  /** If a request has several keys, the first of these counts: the contract's header, then the vendor's (choices 2). */
  readonly keyHeaders: readonly KeyHeader[];
  /** The publisher that clients omit, or put before names without one. */
  readonly impliedPublisher?: string;
  /** The header in which clients expect the request id. */
  readonly requestIdHeader: string | undefined;
  readonly models: ModelLists;
  /** A line that keeps the connection alive and that every client ignores; undefined if there is none. */
  readonly keepAlive: string | undefined;
  /** The content type of a streamed response. */
  streamType(options: unknown): string;
  /** The client's options that a target accepts; the others are noted. Absent if the dialect has no options to forward. */
  forwardOptions?(options: unknown, target: OptionsTarget, notes: FieldNote[]): ForwardedOptions;
}

/** One wire protocol, as clients and providers use it. */
export interface Dialect {
  readonly name: string;
  /** Through the canon, for clients whose model uses another dialect. */
  readonly codec: ClientCodec & UpstreamCodec;
  readonly native: NativePatches;
  readonly requests: RequestReader;
  readonly errors: ErrorEncoder;
  readonly http: ClientHttp;
  /** Where the texts of its streamed responses are, for guards. */
  readonly texts: AnswerTexts;
  /** How stored responses answer equal requests; absent if they cannot. */
  readonly cached?: CachedAnswers;
  /** Stored responses that later requests continue; absent if every request is complete. */
  readonly stored?: StoredAnswers;
  /** Stored responses that are only listed and shown; absent if the protocol has none. */
  readonly listed?: ListedAnswers;
  /** Marks opaque values of hosts other than the vendor's that arrived unmarked, before the canon reads the request. */
  readonly markSealed?: (body: JsonObject, sealed: SealedOrigins) => JsonObject;
  /** Images within a response; absent if no host of the protocol makes them. */
  readonly hostedImages?: HostedImages;
  /** Models that answer if the requested one declines; absent if requests of the protocol cannot name any. */
  readonly fallbacks?: ModelFallbacks;
}
