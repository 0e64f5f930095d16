import type { JsonObject } from "../../base/json.ts";
import type { CanonCall } from "../../canon/call.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { FileToSend, NamedFile } from "../../dialects/request/file-parts.ts";
import type { FetchedMedia } from "../../wire/media-fetch.ts";
import { readFile } from "../files/read-file.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldMemory } from "./memory-budget.ts";

/** The client's request, held until a response begins, with what all attempts derive from it once. */
export class HeldRequest {
  readonly received: ReceivedRequest;
  #canonical: CanonCall | undefined;
  #outlined: CanonCall | undefined;
  #media: Map<string, FetchedMedia> | undefined;
  #files: Map<string, FileToSend> | undefined;

  constructor(received: ReceivedRequest) {
    this.received = received;
  }

  /** The request in canonical form, decoded once however many targets are tried. */
  canonical(decode: (received: ReceivedRequest) => CanonCall): CanonCall {
    this.#canonical ??= decode(this.received);
    return this.#canonical;
  }

  /** The same from its outline, with stubs for long texts; undefined if it has no outline. */
  outlined(decode: (outline: JsonObject) => CanonCall): CanonCall | undefined {
    const { outline } = this.received;
    if (outline !== undefined) this.#outlined ??= decode(outline.body);
    return this.#outlined;
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

  /** The content of a file that the request names, read once however many targets get it inline. */
  async file(id: string, file: NamedFile, memory: HeldMemory, uploads: Gateway["uploads"]): Promise<FileToSend> {
    const known = this.#files?.get(id);
    if (known !== undefined) return known;
    // As base64, and once more in the request.
    memory.add(Math.ceil(file.size / 3) * 4 * (1 + file.parts));
    const content = await readFile(file, file.path, uploads);
    this.#files ??= new Map();
    this.#files.set(id, content);
    return content;
  }

  /** A target has accepted the request. Fetched media may be large and are hardly needed again. */
  dropMedia(): void {
    this.#media = undefined;
    this.#files = undefined;
  }
}
