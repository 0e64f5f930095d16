import { isObject, type JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { CanonCall } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import { addNote } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { requireFewCalls } from "../../dialects/answer/answer-bounds.ts";
import { DeltaRunTap } from "../../dialects/answer/delta-run-tap.ts";
import { TranslatingTap } from "../../dialects/answer/translating-tap.ts";
import { unwrapReply } from "../../dialects/answer/unwrap-answer.ts";
import type {
  AnswerReading,
  DecodeAnswerContext,
  EncodeAnswerContext,
  TokenCounting,
  UpstreamCodec,
} from "../../dialects/codec.ts";
import type { ClientAnswer, Dialect, Tap, UpstreamRequest } from "../../dialects/dialect.ts";
import { askedTerms, namesOfTerms } from "../../dialects/reading/priced-fields.ts";
import type { UpstreamFailure } from "../../dialects/upstream-failure.ts";
import type { FetchedMedia } from "../../wire/media-fetch.ts";
import { bodyInOrder, parseInOrder, stringifyInOrder } from "../../wire/ordered-json.ts";
import { CallAnswerContext } from "../answer/answer-context.ts";
import type { ContinuingEncoder } from "../answer/continuing-encoder.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { PlacedFiles } from "../files/placed-files.ts";
import type { Gateway } from "../gateway.ts";
import { guardedTap } from "../guard/guarded-tap.ts";
import { HeldRequest } from "../request/held-request.ts";
import { resolveMedia } from "../request/resolve-media.ts";
import type { Lane } from "./lane.ts";
import { upstreamName } from "./upstream-name.ts";

/** The two sides speak different dialects: request and response are translated through the canon. */
export class TranslatedLane implements Lane {
  readonly name = "translated";
  readonly #call: Call;
  readonly #gateway: Gateway;
  readonly #attempt: LaneAttempt;
  readonly #upstream: UpstreamCodec;
  #reading: AnswerReading = {};
  /** Set if the response continues another. */
  readonly #continuation: ContinuingEncoder | undefined;

  constructor(call: Call, gateway: Gateway, attempt: LaneAttempt, continuation?: ContinuingEncoder) {
    this.#call = call;
    this.#gateway = gateway;
    this.#attempt = attempt;
    this.#upstream = attempt.target.codec;
    this.#continuation = continuation;
  }

  async prepareRequest(request: HeldRequest, files?: PlacedFiles): Promise<UpstreamRequest> {
    const { incoming, stream } = this.#call;
    const { offer, quirks, traits, origin } = this.#attempt.target;
    const outlined =
      files === undefined && this.#continuation === undefined
        ? outlinedCall(request, incoming.dialect, this.#gateway)
        : undefined;
    const canonical =
      outlined ??
      (files === undefined
        ? canonicalCall(request, incoming.dialect, this.#gateway)
        : files.inCall(canonicalWith(files, request, incoming.dialect, this.#gateway)));
    const asked = this.#continuation?.extend(canonical) ?? canonical;
    const call = await resolveMedia(asked, quirks, (url, { signal }) =>
      request.media(url, () => {
        // Its request was sent earlier.
        if (incoming.line?.native?.response !== undefined) return Promise.resolve(NO_MEDIA);
        const disconnected = incoming.request.signal;
        return this.#gateway.fetchMedia(url, { signal: AbortSignal.any([signal, disconnected]) });
      }),
    );
    const { body, notes, reading, options, headers } = this.#upstream.encodeRequest(call, {
      upstreamModel: offer.upstreamModel,
      stream,
      traits,
      quirks,
      origin,
      mayUnbind: traits.bindsThinking === true && this.#call.guards?.hasEdited === true,
      upstreamName: upstreamName(this.#call, this.#gateway, this.#attempt),
    });
    this.#reading = reading;
    // Fields that the target knows are passed on; those that change the price are billed.
    const terms = askedTerms(body, incoming.dialect.requests.pricedFields);
    const sent =
      incoming.verb === "count_tokens" ? this.#counting().encodeRequest(body, offer.upstreamModel, quirks) : body;
    const json = stringifyInOrder(sent);
    const payload = outlined === undefined ? json : (request.received.outline?.texts.fill(json) ?? json);
    return {
      payload,
      notes: [...notes],
      terms: namesOfTerms(terms),
      options,
      ...withoutAbsent({ headers }),
    };
  }

  readonly unreadTexts = undefined;

  readAnswer(text: string, body: JsonObject): ClientAnswer {
    const decoded = this.#upstream.decodeResponse(orBody(parseInOrder(text, body), body), this.#decodeContext());
    const reply = unwrapReply(decoded, this.#reading);
    requireFewCalls(reply.parts.filter(({ type }) => type === "tool-call").length);
    return {
      text: this.#call.incoming.dialect.codec.encodeResponse(reply, this.#encodeContext()),
      usage: reply.usage,
      stop: reply.stop,
    };
  }

  readCount(_text: string, body: JsonObject): ClientAnswer {
    const tokens = this.#counting().decodeAnswer(body);
    if (tokens === undefined) throw new GatewayError("upstream_failed", "The provider returned no token count.");
    return { text: this.#call.incoming.dialect.codec.encodeTokenCount(tokens), usage: undefined, stop: undefined };
  }

  #counting(): TokenCounting {
    const { counting } = this.#upstream;
    if (counting === undefined) throw new Error(`the ${this.#upstream.name} dialect has no token counter`);
    return counting;
  }

  createTap(): Tap {
    const decoder = this.#upstream.createStreamDecoder(this.#decodeContext());
    const encoder = this.#continuation ?? this.#call.incoming.dialect.codec.createStreamEncoder(this.#encodeContext());
    const Way = DeltaRunTap.suits(decoder, encoder, this.#reading) ? DeltaRunTap : TranslatingTap;
    return guardedTap(new Way(decoder, encoder, this.#reading), this.#call, this.#gateway, this.#attempt);
  }

  decodeError(failure: UpstreamFailure): GatewayError {
    return this.#upstream.decodeError(failure, this.#attempt.target.quirks);
  }

  #decodeContext(): DecodeAnswerContext {
    const { origin, quirks } = this.#attempt.target;
    return {
      origin,
      quirks,
      reading: this.#reading,
      makeId: this.#gateway.random.id,
      served: this.#attempt,
      note: (note) => addNote(this.#attempt.notes, note),
    };
  }

  #encodeContext(): EncodeAnswerContext {
    const { incoming } = this.#call;
    const { quirks } = this.#attempt.target;
    return Object.assign(new CallAnswerContext(this.#call, this.#gateway, this.#attempt), {
      estimateInputTokens: () => incoming.dialect.requests.estimateTokens(this.#call.body),
      note: (note: FieldNote) => addNote(this.#attempt.notes, note),
      unsignedComesBack: this.#upstream.reasoning.takesUnsigned?.(quirks) === true,
    });
  }
}

/** Decoded for this target alone if it contains files. */
function canonicalWith(files: PlacedFiles, request: HeldRequest, dialect: Dialect, gateway: Gateway): CanonCall {
  const received = files.withContent(request.received, dialect);
  return canonicalCall(received === request.received ? request : new HeldRequest(received), dialect, gateway);
}

const NO_MEDIA: FetchedMedia = { bytes: new Uint8Array(), mimeType: "image/png" };

/** The client's request in canonical form, decoded once. */
export const canonicalCall = (
  request: HeldRequest,
  { codec, markSealed }: Dialect,
  { sealed }: Pick<Gateway, "sealed">,
): CanonCall =>
  request.canonical((received) => {
    const ordered = orBody(bodyInOrder(received, received.body), received.body);
    return codec.decodeRequest(markSealed?.(ordered, sealed) ?? ordered);
  });

/**
 * The same from the request's outline, whose keys and numbers lose nothing. Undefined if it has none, or if the target may have no
 * other way to ask for JSON than in words: encoders then search the texts for such words.
 */
function outlinedCall(
  request: HeldRequest,
  { codec, markSealed }: Dialect,
  { sealed }: Pick<Gateway, "sealed">,
): CanonCall | undefined {
  const call = request.outlined((body) => codec.decodeRequest(markSealed?.(body, sealed) ?? body));
  return call?.format === undefined ? call : undefined;
}

/** The body that was parsed already, except for the rare text whose keys lose their order in it, or numbers digits (H05). */
const orBody = (ordered: unknown, body: JsonObject): JsonObject => (isObject(ordered) ? ordered : body);
