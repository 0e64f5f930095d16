import { StoredBatches } from "../simulator/batches/stored-batches.ts";
import type { Exchange } from "../simulator/exchange.ts";
import { HostError } from "../simulator/host-error.ts";
import { StoredCaches } from "../simulator/hosts/google/stored-caches.ts";
import type { Json, JsonObject } from "../simulator/json.ts";
import { isJson } from "../simulator/media/is-json.ts";
import { MediaJobs } from "../simulator/media/jobs.ts";
import { MediaLinks } from "../simulator/media/links.ts";
import type { MediaContext, MediaHost } from "../simulator/media/media-host.ts";
import { type VideoFacts, videoFacts } from "../simulator/media/video-facts.ts";
import { makeVideo } from "../simulator/media-maker/make-video.ts";
import { type ImageSize, sniffImage } from "../simulator/sniff-image.ts";
import { StoredFiles } from "../simulator/stored-files.ts";
import type { SimulatorState } from "../simulator/text/adapter.ts";
import { PrefixCache } from "../simulator/text/prefix-cache.ts";

const START_MS = Date.parse("2026-11-15T12:00:00Z");
const BASE_URL = "http://127.0.0.1:9";

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

export interface HostReply {
  status: number;
  text: string;
  body: JsonObject;
  headers: Headers;
}

interface Sending {
  method?: string;
  /** Those of a good bearer key unless given. */
  headers?: Record<string, string>;
  body?: Json | FormData;
  signal?: AbortSignal;
}

/** One media host without a server, on a clock that its test moves. */
export class MediaHostHarness {
  nowMs = START_MS;
  readonly takesMs: number;
  /** What the host waited for, in milliseconds; it lasts until the client leaves. */
  readonly waits: number[] = [];
  readonly context: MediaContext;
  readonly #host: MediaHost;
  readonly #state: SimulatorState;

  constructor(host: MediaHost, takesMs = 20) {
    this.#host = host;
    this.takesMs = takesMs;
    const nowMs = (): number => this.nowMs;
    this.context = {
      jobs: new MediaJobs(nowMs, takesMs),
      links: new MediaLinks(nowMs),
      baseUrl: BASE_URL,
      nowMs,
      makeVideo,
      acceptsKey: (key) => key !== "" && !key.includes("wrong"),
      acceptsToken: (token) => token.startsWith("ya29.simulated-"),
    };
    this.#state = {
      prefixes: new PrefixCache(nowMs),
      flaky: new Map(),
      caches: new StoredCaches(nowMs),
      files: new StoredFiles(nowMs),
      batches: new StoredBatches({ nowMs, delayMs: 0, answer: () => Promise.reject(new Error("no batches")) }),
      tokenDelayMs: 0,
      wait: (ms, signal) => {
        this.waits.push(ms);
        return ms === 0 || signal.aborted
          ? Promise.resolve()
          : new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    };
  }

  /** Answers a client's request. Undefined if the URL does not belong to the host. */
  async answer(request: Request, headers = request.headers, signal = request.signal): Promise<Response | undefined> {
    const url = new URL(request.url);
    const bodyBytes = await request.bytes();
    const bodyText = new TextDecoder().decode(bodyBytes);
    const exchange: Exchange = {
      url,
      path: url.pathname,
      method: request.method,
      headers,
      bodyText,
      bodyBytes,
      body: isJson(headers) && bodyText !== "" ? (JSON.parse(bodyText) as Json) : undefined,
      signal,
      state: this.#state,
      ended: () => undefined,
      countModel: () => undefined,
    };
    try {
      return await this.#host(exchange, this.context);
    } catch (error) {
      if (error instanceof HostError) return error.toResponse();
      throw error;
    }
  }

  /** As `answer`, for a request that the test describes. */
  answerTo(path: string, { method, headers, body, signal }: Sending = {}): Promise<Response | undefined> {
    const request = new Request(new URL(path, BASE_URL).href, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const contentType = body instanceof FormData ? request.headers.get("content-type") : "application/json";
    const typed = body === undefined || contentType === null ? {} : { "content-type": contentType };
    return this.answer(request, new Headers({ ...typed, ...(headers ?? bearer("any-key")) }), signal);
  }

  async ask(path: string, sending: Sending = {}): Promise<Response> {
    const response = await this.answerTo(path, sending);
    if (response === undefined) throw new Error(`${path} is not a URL of this host.`);
    return response;
  }

  async send(path: string, sending: Sending = {}): Promise<HostReply> {
    const response = await this.ask(path, sending);
    const text = await response.text();
    const body = isJson(response.headers) ? (JSON.parse(text) as JsonObject) : {};
    return { status: response.status, text, body, headers: response.headers };
  }

  /** Fetches a result by its URL, without credentials. */
  async fetchLink(url: unknown): Promise<{ status: number; mimeType: string | null; bytes: Uint8Array }> {
    const response = await this.context.links.send(new URL(String(url)).pathname, new Headers());
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, mimeType: response.headers.get("content-type"), bytes };
  }

  async sizeOfLink(url: unknown): Promise<ImageSize | undefined> {
    return sniffImage((await this.fetchLink(url)).bytes)?.size;
  }

  /** Facts from the boxes of a video. */
  async videoAt(url: unknown): Promise<VideoFacts> {
    return videoFacts((await this.fetchLink(url)).bytes);
  }
}
