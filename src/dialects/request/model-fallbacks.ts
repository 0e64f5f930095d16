import type { JsonObject } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { SseFrame } from "../../wire/sse.ts";

/** A model that a request names to answer if those before it decline. */
export interface FallbackModelEntry {
  readonly model: string;
  /** JSON path of the model's name. */
  readonly path: string;
  /** The client's request for this model. */
  request(text: string): string;
}

/** The models that a request names, in order. */
export interface FallbackChain {
  readonly entries: readonly FallbackModelEntry[];
  /** Settings of entries that are not applied. */
  readonly notes: readonly FieldNote[];
  /** Begins the response that the client gets. `model` is the requested one, as the client wrote it. */
  begin(model: string): FallbackAnswer;
}

/** One response made of the responses of models that declined and of the one that answered. Strings are what a client reads. */
export interface FallbackAnswer {
  /** The last response ended with a refusal that the client has not received yet. */
  readonly declined: boolean;
  /** The last model could not be called, or declined before it answered with anything. Nothing of it was written. */
  readonly failed: boolean;
  /** Another model is called. `last`: no other can follow it, so that its refusal is final. */
  next(last: boolean): void;
  /** The first model declined with an error instead of a response. */
  block(): void;
  /** Takes a complete response. */
  take(answer: JsonObject): void;
  /** Takes one event of a stream, and the frame in which it came. */
  takeEvent(event: JsonObject, frame: SseFrame): string;
  /** The whole response. `unreached` is a model that could not be called, which the client may call itself. */
  finish(unreached: string | undefined): JsonObject;
  /** Ends a stream whose refusal was held back. */
  finishStream(unreached: string | undefined): string;
}

/** For protocols whose requests name models to answer if the requested one declines. The gateway calls them itself. */
export interface ModelFallbacks {
  /** The field that names them. */
  readonly field: string;
  /** Undefined if the request names none. `usual` is the one that its key or the operator names. Throws if the field is wrong. */
  read(body: JsonObject, usual?: string): FallbackChain | undefined;
}
