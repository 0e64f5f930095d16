import type { CanonCall } from "../../canon/call.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { FetchedMedia } from "../../wire/media-fetch.ts";

/** The client's request, held until a response begins, with what all attempts derive from it once. */
export class HeldRequest {
  readonly received: ReceivedRequest;
  #canonical: CanonCall | undefined;
  #media: Map<string, FetchedMedia> | undefined;

  constructor(received: ReceivedRequest) {
    this.received = received;
  }

  /** The request in canonical form, decoded once however many targets are tried. */
  canonical(decode: (received: ReceivedRequest) => CanonCall): CanonCall {
    this.#canonical ??= decode(this.received);
    return this.#canonical;
  }

  /** Media that the request names by URL, fetched once however many targets need them. A failure is not kept. */
  async media(url: string, fetch: () => Promise<FetchedMedia>): Promise<FetchedMedia> {
    const known = this.#media?.get(url);
    if (known !== undefined) return known;
    const media = await fetch();
    this.#media ??= new Map();
    this.#media.set(url, media);
    return media;
  }

  /** A target has accepted the request. Fetched media may be large and are hardly needed again. */
  dropMedia(): void {
    this.#media = undefined;
  }
}
