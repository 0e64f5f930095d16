import type { ImageReply } from "../../media/image-reply.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { ClientGoneError, type ClientPresence } from "../call.ts";
import { type Gateway, shuttingDown } from "../gateway.ts";

/** So many calls may go on at once whose clients have left; each may hold a few images in memory. */
export const MAX_LEFT_IMAGES = 32;

/** What a provider does for one call. */
export interface AtWork {
  target: ImageTarget;
  /** How many images it was asked for. */
  images: number;
}

/** What came of it. */
export interface ImagesMade {
  target: ImageTarget;
  reply: ImageReply;
  /** The provider has ended: nothing more will come, and its figures are whole. */
  whole: boolean;
}

/**
 * What is being done upstream for a call for images. Once the provider was asked it goes on without the client, because it
 * will be paid for: the bill follows what it makes (H26). It is ended before its time where too many such calls go on, and
 * when the gateway shuts down.
 */
export class ImageWork {
  readonly #client: ClientPresence;
  readonly #gateway: Gateway;
  readonly #ending = new AbortController();
  readonly #unwatch: () => void;
  #left = false;
  #ended = false;
  #atWork: AtWork | undefined;
  #abandoned = false;
  /** What has come of it so far. */
  made: ImagesMade | undefined;

  constructor(client: ClientPresence, gateway: Gateway) {
    this.#client = client;
    this.#gateway = gateway;
    this.#unwatch = gateway.watchdog.watch(() => {
      if (gateway.closing) this.#end(shuttingDown());
    });
    client.stopWhenGone(() => this.#leave());
  }

  /** Ends everything that was begun upstream. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** What the client left behind and the gateway ended: nobody will hear what it came to. */
  get abandoned(): AtWork | undefined {
    return this.#abandoned ? this.#atWork : undefined;
  }

  /** The next offer takes its turn. */
  turnTo(target: ImageTarget): void {
    this.#atWork = { target, images: 0 };
  }

  /** A request for so many images is about to be sent. Nothing more is begun for a client that has left. */
  begin(images: number): void {
    if (this.#client.gone) throw new ClientGoneError();
    if (this.#atWork) this.#atWork.images += images;
  }

  /** The call is settled. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    if (this.#left) this.#gateway.leftImages--;
  }

  #leave(): void {
    if (this.#ended || this.#left) return;
    if (!this.#atWork?.images || this.#gateway.closing || this.#gateway.leftImages >= MAX_LEFT_IMAGES) {
      this.#end(new ClientGoneError());
      return;
    }
    this.#left = true;
    this.#gateway.leftImages++;
  }

  #end(reason: Error): void {
    this.#abandoned = this.#client.gone && (this.#atWork?.images ?? 0) > 0;
    this.#ending.abort(reason);
  }
}
