import type { Exchange } from "../../../exchange.ts";
import { HostError } from "../../../host-error.ts";
import type { Json, JsonObject } from "../../../json.ts";
import { PrefixCache } from "../../../prefix-cache.ts";
import type { MediaHost, MediaStudio } from "../../host.ts";
import { MediaJobs } from "../../jobs.ts";
import { MediaLinks } from "../../links.ts";

export interface Asked {
  method?: string;
  body?: JsonObject | FormData;
  /** `any-key` unless given; null sends none. */
  key?: string | null;
  signal?: AbortSignal;
}

export interface Rehearsal {
  ask(path: string, asked?: Asked): Promise<Response>;
  /** Any request, such as a client's own. */
  send(request: Request): Promise<Response>;
  /** The status and the parsed body of an answer. */
  tell(path: string, asked?: Asked): Promise<{ status: number; body: JsonObject }>;
  /** What a link leads to, fetched as a stranger would. */
  fetchLink(url: string): Promise<Response>;
  passMs(ms: number): void;
  studio: MediaStudio;
}

/** How long a job takes: it waits in line for a quarter of it. */
export const JOB_MS = 1_000;
const BEGIN_MS = 1_800_000_000_000;

/** One media host alone in front of its tests, with a clock that they move. An address that is not its own is a 404 without a body. */
export function rehearse(host: MediaHost): Rehearsal {
  let now = BEGIN_MS;
  const nowMs = (): number => now;
  const studio: MediaStudio = {
    jobs: new MediaJobs(nowMs, JOB_MS),
    links: new MediaLinks(nowMs),
    baseUrl: "http://127.0.0.1:1",
    nowMs,
    acceptsKey: (key) => !key.includes("wrong"),
  };
  const state = { prefixes: new PrefixCache(nowMs), flaky: new Map<string, number>(), tokenDelayMs: 0 };

  async function send(request: Request, signal = request.signal): Promise<Response> {
    const bodyBytes = await request.bytes();
    const bodyText = new TextDecoder().decode(bodyBytes);
    const isJson = request.headers.get("content-type")?.startsWith("application/json") ?? false;
    const exchange: Exchange = {
      url: new URL(request.url),
      path: new URL(request.url).pathname,
      method: request.method,
      headers: request.headers,
      bodyText,
      bodyBytes,
      body: isJson ? (JSON.parse(bodyText) as Json) : undefined,
      signal,
      state,
      ended: () => undefined,
      countModel: () => undefined,
    };
    try {
      return (await host(exchange, studio)) ?? new Response(null, { status: 404 });
    } catch (error) {
      if (error instanceof HostError) return error.toResponse();
      throw error;
    }
  }

  function ask(path: string, asked: Asked = {}): Promise<Response> {
    const { body, key = "any-key" } = asked;
    const form = body instanceof FormData;
    const request = new Request(`http://127.0.0.1:1${path}`, {
      method: asked.method ?? (body === undefined ? "GET" : "POST"),
      ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
    });
    if (!form && body !== undefined) request.headers.set("content-type", "application/json");
    if (key !== null) request.headers.set("authorization", `Bearer ${key}`);
    return send(request, asked.signal);
  }

  return {
    ask,
    send,
    async tell(path, asked) {
      const response = await ask(path, asked);
      return { status: response.status, body: (await response.json()) as JsonObject };
    },
    fetchLink: (url) => studio.links.send(new URL(url).pathname, new Headers()),
    passMs: (ms) => {
      now += ms;
    },
    studio,
  };
}
