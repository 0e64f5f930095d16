import { HostError } from "../host-error.ts";
import type { Json, JsonObject } from "../json.ts";
import { PrefixCache } from "../prefix-cache.ts";
import { type ImageSize, sniffImage } from "../sniff-image.ts";
import { type FilmFacts, filmFacts } from "./film-facts.ts";
import type { MediaHost, MediaStudio } from "./host.ts";
import { MediaJobs } from "./jobs.ts";
import { MediaLinks } from "./links.ts";

const START_MS = Date.parse("2026-11-15T12:00:00Z");
const BASE_URL = "http://127.0.0.1:9";

export interface Heard {
  status: number;
  text: string;
  body: JsonObject;
  headers: Headers;
}

interface Sending {
  method?: string;
  headers?: Record<string, string>;
  body?: Json;
}

/** One media host without a server, on a clock that its test moves. */
export class Rehearsal {
  nowMs = START_MS;
  readonly takesMs: number;
  readonly studio: MediaStudio;
  readonly models: string[] = [];
  readonly #host: MediaHost;

  constructor(host: MediaHost, takesMs = 20) {
    this.#host = host;
    this.takesMs = takesMs;
    const nowMs = (): number => this.nowMs;
    this.studio = {
      jobs: new MediaJobs(nowMs, takesMs),
      links: new MediaLinks(nowMs),
      baseUrl: BASE_URL,
      nowMs,
      acceptsKey: (key) => key !== "" && !key.includes("wrong"),
    };
  }

  /** Undefined where the host says that the address is none of its own. */
  async answerTo(path: string, { method, headers, body }: Sending): Promise<Response | undefined> {
    const bodyText = body === undefined ? "" : JSON.stringify(body);
    const exchange = {
      url: new URL(path, BASE_URL),
      path,
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: new Headers({ ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers }),
      bodyText,
      bodyBytes: new TextEncoder().encode(bodyText),
      body,
      signal: new AbortController().signal,
      state: { prefixes: new PrefixCache(() => this.nowMs), flaky: new Map(), tokenDelayMs: 0 },
      ended: () => undefined,
      countModel: (name: string) => this.models.push(name),
    };
    try {
      return await this.#host(exchange, this.studio);
    } catch (error) {
      if (error instanceof HostError) return error.toResponse();
      throw error;
    }
  }

  async send(path: string, sending: Sending): Promise<Heard> {
    const response = await this.answerTo(path, sending);
    if (response === undefined) throw new Error(`${path} is not an address of this host.`);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const body = isJson ? (JSON.parse(text) as JsonObject) : {};
    return { status: response.status, text, body, headers: response.headers };
  }

  /** Fetches a result as a stranger would: by its address alone. */
  async fetchLink(url: unknown): Promise<{ status: number; mimeType: string | null; bytes: Uint8Array }> {
    const response = await this.studio.links.send(new URL(String(url)).pathname, new Headers());
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, mimeType: response.headers.get("content-type"), bytes };
  }

  async sizeOfLink(url: unknown): Promise<ImageSize | undefined> {
    return sniffImage((await this.fetchLink(url)).bytes)?.size;
  }

  /** What the boxes of a film say. */
  async filmAt(url: unknown): Promise<FilmFacts> {
    return filmFacts((await this.fetchLink(url)).bytes);
  }
}
