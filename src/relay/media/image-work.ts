import type { ImageReply } from "../../media/image-reply.ts";
import { ClientDisconnectedError, type ClientPresence, type DisconnectListener } from "../call.ts";
import { type Gateway, shuttingDown } from "../gateway.ts";
import { NOT_WATCHED, type Watched } from "../watchdog.ts";

/** Concurrent calls that may go on after their clients disconnected; each may hold a few images in memory. */
export const MAX_ORPHANED_IMAGES = 32;

/** What a provider is doing for one call. */
interface AtWork {
  /** How many images it was asked for. */
  images: number;
}

/** The results so far. */
export interface ImagesMade {
  reply: ImageReply;
  /** The provider has finished: no more results will come, and its usage is complete. */
  whole: boolean;
}

/**
 * The upstream work for a call for images. Once the provider has the request, work goes on after the client disconnects,
 * because it will be billed: the client pays for what is made (H26). It is aborted where too many such calls go on, and
 * when the gateway shuts down.
 */
export class ImageWork implements DisconnectListener, Watched {
  watchIndex = NOT_WATCHED;
  readonly #client: ClientPresence;
  readonly #gateway: Gateway;
  readonly #ending = new AbortController();
  #orphaned = false;
  #ended = false;
  #atWork: AtWork | undefined;
  #abandoned = false;
  /** The results so far. */
  made: ImagesMade | undefined;

  constructor(client: ClientPresence, gateway: Gateway) {
    this.#client = client;
    this.#gateway = gateway;
    gateway.watchdog.watch(this);
    client.tell(this);
  }

  check(): void {
    if (this.#gateway.closing) this.#end(shuttingDown());
  }

  /** Aborts everything that was started upstream. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Work that the gateway aborted after its client disconnected: its result will never be known. */
  get abandoned(): AtWork | undefined {
    return this.#abandoned ? this.#atWork : undefined;
  }

  /** The next attempt begins: nothing was asked for yet. */
  nextAttempt(): void {
    this.#atWork = { images: 0 };
  }

  /** A request for so many images is about to be sent. Nothing is started for a client that has disconnected. */
  begin(images: number): void {
    if (this.#client.disconnected) throw new ClientDisconnectedError();
    if (this.#atWork) this.#atWork.images += images;
  }

  /** The call is settled. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#gateway.watchdog.unwatch(this);
    this.#client.forget(this);
    if (this.#orphaned) this.#gateway.orphanedImages--;
  }

  clientDisconnected(): void {
    if (this.#ended || this.#orphaned) return;
    if (!this.#atWork?.images || this.#gateway.closing || this.#gateway.orphanedImages >= MAX_ORPHANED_IMAGES) {
      this.#end(new ClientDisconnectedError());
      return;
    }
    this.#orphaned = true;
    this.#gateway.orphanedImages++;
  }

  #end(reason: Error): void {
    this.#abandoned = this.#client.disconnected && (this.#atWork?.images ?? 0) > 0;
    this.#ending.abort(reason);
  }
}
