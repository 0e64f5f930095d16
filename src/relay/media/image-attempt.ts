import type { GatewayError } from "../../canon/error.ts";
import type { AttemptCapture } from "../../capture/call-capture.ts";
import type { ImageCall } from "../../media/image-call.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import type { ImageRequest } from "../../media/image-request.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { WatchedAttempt } from "../attempt/watched-attempt.ts";
import { CallEndedError, ClientDisconnectedError, type ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { AdmittedCall } from "../settle/close-call.ts";
import type { IncomingImages } from "./image-relay.ts";

const LANE = { name: "translated" } as const;

/** The results so far. */
export interface ImagesMade {
  reply: ImageReply;
  /** The provider has finished. No more results will arrive, and its usage is complete. */
  whole: boolean;
}

/** One call for images. */
export interface ImageRelay extends AdmittedCall {
  attempt: ImageAttempt | undefined;
  incoming: Pick<IncomingImages, "request" | "requestId" | "connection" | "dialect" | "strict">;
  request: ImageRequest;
  client: ClientPresence;
  routing: CallRouting;
}

/** One attempt at one offer for images: several upstream requests, in sequence or concurrently. */
export class ImageAttempt extends WatchedAttempt<ImageRelay, ImageTarget> {
  readonly lane = LANE;
  readonly timed = "whole";
  /** The call as sent to the target: the options that it accepts, and its size. */
  sent: ImageCall | undefined;
  made: ImagesMade | undefined;
  capture: AttemptCapture | undefined;
  readonly #ending = new AbortController();
  /** How many images were requested from the provider. */
  #asked = 0;
  #abandoned = false;

  constructor(call: ImageRelay, gateway: Gateway, target: ImageTarget) {
    super(call, gateway, target);
    this.notes = [...call.request.notes];
    this.watch();
  }

  protected get orphans() {
    return "orphanedImages" as const;
  }

  protected get isAtWork(): boolean {
    return this.#asked > 0;
  }

  /** Aborts everything that was started upstream. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Images that were aborted because of the client. Whether they were generated will never be known. */
  get abandonedImages(): number {
    return this.#abandoned ? this.#asked : 0;
  }

  /** Called before a request for this many images is sent. Nothing is started for a client that has disconnected. */
  begin(images: number): void {
    if (this.call.client.disconnected) throw new ClientDisconnectedError();
    this.#asked += images;
    this.call.timer.to("provider");
  }

  protected end(reason: GatewayError): void {
    this.#abandoned = this.call.client.disconnected || reason instanceof CallEndedError;
    this.#ending.abort(reason);
  }

  close(): void {
    this.finish();
    this.#ending.abort();
  }
}

export const beginImages =
  (call: ImageRelay, gateway: Gateway) =>
  (target: ImageTarget): ImageAttempt =>
    new ImageAttempt(call, gateway, target);
