import type { Clock } from "../src/base/clock.ts";
import type { FetchMedia } from "../src/relay/request/resolve-media.ts";
import { MediaFetchError, type StreamMedia } from "../src/wire/media-fetch.ts";

interface WebFile {
  bytes: Uint8Array;
  mimeType: string;
  /** How long its host takes. */
  ms?: number;
}

/** Foreign hosts in memory: files by their URLs. */
export class MemoryWeb {
  readonly files = new Map<string, WebFile>();
  /** The requests, in order. */
  readonly asked: string[] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly fetchMedia: FetchMedia = (url) => this.#find(url);

  readonly streamMedia: StreamMedia = async (url) => {
    const { bytes, mimeType } = await this.#find(url);
    return { mimeType, stream: new Blob([Uint8Array.from(bytes)]).stream() };
  };

  async #find(url: string): Promise<WebFile> {
    this.asked.push(url);
    const file = this.files.get(url);
    if (file?.ms !== undefined) await this.#clock.sleep(file.ms);
    if (file === undefined) throw new MediaFetchError("its host returned HTTP status 404");
    return file;
  }
}
