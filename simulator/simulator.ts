import { AccessTokens } from "./access-tokens.ts";
import { StoredBatches } from "./batches/stored-batches.ts";
import { Credentials } from "./credentials.ts";
import type { Exchange, Host } from "./exchange.ts";
import { HostError } from "./host-error.ts";
import { anthropicHost } from "./hosts/anthropic/text/host.ts";
import { bedrockHost } from "./hosts/bedrock/text/host.ts";
import { compatibleHosts } from "./hosts/compatible/text/host.ts";
import { StoredCaches } from "./hosts/google/stored-caches.ts";
import { googleHost } from "./hosts/google/text/host.ts";
import { ClientSecrets } from "./hosts/openai/realtime/client-secrets.ts";
import { subprotocols } from "./hosts/openai/realtime/subprotocols.ts";
import { openaiHost } from "./hosts/openai/text/host.ts";
import type { Json } from "./json.ts";
import { liveHosts } from "./live/hosts.ts";
import type { LiveSession, LiveWire } from "./live/live-host.ts";
import { mediaHostOf } from "./media/hosts.ts";
import { MediaJobs } from "./media/jobs.ts";
import { MediaLinks } from "./media/links.ts";
import type { MediaContext } from "./media/media-host.ts";
import { StreamedAnswer } from "./media/streamed-answer.ts";
import { makeVideo } from "./media-maker/make-video.ts";
import type { MakeVideo } from "./media-maker/video-options.ts";
import { type Ending, giveWay, pause, type Wait } from "./play.ts";
import { serviceHostOf } from "./services/hosts.ts";
import { StoredFiles } from "./stored-files.ts";
import type { SimulatorState } from "./text/adapter.ts";
import { PrefixCache } from "./text/prefix-cache.ts";

interface SimulatorOptions {
  /** 127.0.0.1 unless given. */
  host?: string;
  /** Any free port unless given. */
  port?: number;
  /** When given, exactly this key is demanded; otherwise any key that does not contain the word `wrong`. */
  apiKey?: string;
  /** Nothing is answered but calls that carry the API key in a header; hosts' other ways to sign are shut. */
  closed?: boolean;
  /** The secret of every access key, with which signed requests are verified. */
  secretAccessKey?: string;
  /** The pause between streamed chunks, 15 unless given. */
  tokenDelayMs?: number;
  /** PEM; when given, the signatures of service-account assertions are verified with it. */
  tokenPublicKey?: string;
  /** Compatible hosts also refuse by rules that are not verified. */
  strictHosts?: boolean;
  nowMs?: () => number;
  /** Waits in real time unless given. */
  wait?: Wait;
  /** How long an image or video that is waited for takes, 300 unless given. */
  mediaJobMs?: number;
  /** How long a batch waits before it runs, 300 unless given. */
  batchDelayMs?: number;
  /** Makes the videos; encoded ones that move unless given. */
  makeVideo?: MakeVideo;
  /** Called with every request as soon as it has arrived. */
  onRequest?: (request: ReceivedRequest) => void;
  /** Called with every message on a live connection. */
  onLiveMessage?: (message: Json) => void;
}

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Parsed where it was JSON, else the text. */
  body: Json;
}

interface SimulatorStats {
  requests: number;
  /** Requests whose answer has not left yet. */
  openRequests: number;
  /** Requests whose client left before the answer did. */
  aborted: number;
  /** Jobs for images and videos that were taken: what a real host would bill. */
  mediaJobs: number;
  byModel: Record<string, number>;
  last?: ReceivedRequest;
}

export interface Simulator {
  url: string;
  port: number;
  stats(): SimulatorStats;
  stop(): Promise<void>;
}

export const DEFAULT_SECRET_ACCESS_KEY = "simulated-secret-access-key";

const MAX_BODY_BYTES = 128 * 1024 * 1024;
const decoder = new TextDecoder();
const MAX_COUNTED_MODELS = 1_000;
/** The longest frame of a live connection. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** The live counters. */
class Counters {
  requests = 0;
  open = 0;
  aborted = 0;
  last: ReceivedRequest | undefined;
  readonly #byModel = new Map<string, number>();

  /** Counts a request in, and gives the function that counts it out, once. */
  begin(): (how: Ending) => void {
    this.requests += 1;
    this.open += 1;
    let counted = false;
    return (how) => {
      if (counted) return;
      counted = true;
      this.open -= 1;
      if (how === "client gone") this.aborted += 1;
    };
  }

  countModel(name: string): void {
    const before = this.#byModel.get(name);
    if (before !== undefined || this.#byModel.size < MAX_COUNTED_MODELS) this.#byModel.set(name, (before ?? 0) + 1);
  }

  snapshot(): Omit<SimulatorStats, "mediaJobs"> {
    return {
      requests: this.requests,
      openRequests: this.open,
      aborted: this.aborted,
      byModel: Object.fromEntries(this.#byModel),
      ...(this.last === undefined ? {} : { last: this.last }),
    };
  }
}

function parseBody(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // What is not JSON is refused later, in the words of the host that was called.
    return undefined;
  }
}

/** The service-account endpoint is next to the Vertex host and takes a form. */
function tokenHost(tokens: AccessTokens): Host {
  return {
    async handle(exchange) {
      const token = tokens.grant(new URLSearchParams(exchange.bodyText));
      exchange.ended("finished");
      return Response.json(token);
    },
  };
}

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[?::1\]?)(:\d+)?$/i;

/** On loopback any page in a browser could reach the port, under a rebound name or its own: neither is a program's call (S11, S19). */
function foreignTo(listeningHost: string): (request: Request) => boolean {
  if (!LOOPBACK.test(listeningHost)) return () => false;
  return ({ headers }) => headers.has("origin") || !LOOPBACK.test(headers.get("host") ?? "");
}

const isUpgrade = (headers: Headers): boolean => headers.get("upgrade")?.toLowerCase() === "websocket";

const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];

/** Results are fetched by their URL, which cannot be guessed. Of live connections the key may be where no header can be set. */
function carriesKey({ headers, url }: Request, key: string): boolean {
  const { pathname, searchParams } = new URL(url);
  if (pathname.startsWith("/results/")) return true;
  if (isUpgrade(headers) && (searchParams.get("key") === key || subprotocols(headers).key === key)) return true;
  return KEY_HEADERS.some((name) => headers.get(name)?.replace(/^\w+ /, "") === key);
}

/** A live connection as the server keeps it. */
interface ServedSession {
  session: LiveSession;
  ended: (how: Ending) => void;
}

class ServedWire implements LiveWire {
  readonly #socket: Bun.ServerWebSocket<ServedSession>;

  constructor(socket: Bun.ServerWebSocket<ServedSession>) {
    this.#socket = socket;
  }

  send(frame: string | Uint8Array): void {
    if (typeof frame === "string") this.#socket.sendText(frame);
    else this.#socket.sendBinary(frame);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  drop(): void {
    this.#socket.terminate();
  }
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const nowMs = options.nowMs ?? Date.now;
  const credentials = new Credentials(options.apiKey);
  const tokens = new AccessTokens(nowMs, options.tokenPublicKey);
  const counters = new Counters();
  const state: SimulatorState = {
    prefixes: new PrefixCache(nowMs),
    flaky: new Map(),
    caches: new StoredCaches(nowMs),
    files: new StoredFiles(nowMs),
    batches: new StoredBatches({
      nowMs,
      delayMs: options.batchDelayMs ?? 300,
      answer: ({ path, body }, headers, signal) => answerLine(path, body, headers, signal),
    }),
    tokenDelayMs: options.tokenDelayMs ?? 15,
    wait: options.wait ?? pause,
  };
  const mediaJobs = new MediaJobs(nowMs, options.mediaJobMs ?? 300);
  const links = new MediaLinks(nowMs);
  const secrets = new ClientSecrets(nowMs);
  let sessions = 0;
  const liveHostOf = liveHosts(secrets, {
    credentials,
    acceptsToken: (token) => tokens.accepts(token),
    nowMs,
    wait: (ms, signal) => (ms === 0 ? giveWay() : state.wait(ms, signal)),
    partDelayMs: state.tokenDelayMs,
    countModel: (name) => counters.countModel(name),
    nextSession: () => ++sessions,
    onMessage: options.onLiveMessage,
  });
  const hosts: Readonly<Record<string, Host>> = {
    "/openai": openaiHost(credentials, nowMs, secrets),
    "/anthropic": anthropicHost(credentials),
    "/gemini": googleHost("gemini", credentials, tokens, nowMs, state.caches),
    "/vertex": googleHost("vertex", credentials, tokens, nowMs, state.caches),
    "/vertex/token": tokenHost(tokens),
    "/bedrock": bedrockHost(credentials, options.secretAccessKey ?? DEFAULT_SECRET_ACCESS_KEY, nowMs),
    "/hosts": compatibleHosts(credentials, nowMs, options.strictHosts ?? false),
  };

  async function respond(host: Host, exchange: Exchange, requestId: string): Promise<Response> {
    try {
      const { pathname } = exchange.url;
      const service = await serviceHostOf(pathname)?.(exchange, context());
      const media = service ?? (await mediaHostOf(pathname)?.(exchange, context()));
      if (media !== undefined) {
        if (!(media instanceof StreamedAnswer)) exchange.ended("finished");
        return media;
      }
      return await host.handle(exchange);
    } catch (error) {
      exchange.ended(exchange.signal.aborted ? "client gone" : "finished");
      if (!(error instanceof HostError)) throw error;
      return new HostError(error.status, error.body.replace("req_simulated", requestId), error.headers).toResponse();
    }
  }

  function hostOf(pathname: string): { host: Host | undefined; path: string } {
    const segment = /^\/\w+/.exec(pathname)?.[0] ?? "";
    return { host: hosts[pathname] ?? hosts[segment], path: pathname.slice(segment.length) };
  }

  /** Answers a request of a batch as one that arrives alone. */
  async function answerLine(
    pathname: string,
    bodyText: string,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<Response> {
    const { host, path } = hostOf(pathname);
    if (host === undefined) throw new Error(`no host serves ${pathname}`);
    const exchange: Exchange = {
      url: new URL(`http://${server.hostname}:${server.port}${pathname}`),
      path,
      method: "POST",
      headers,
      bodyText,
      bodyBytes: Buffer.from(bodyText),
      body: parseBody(bodyText),
      signal,
      state,
      ended: () => {},
      countModel: (name) => counters.countModel(name),
    };
    return respond(host, exchange, "req_simulated");
  }

  /** Opens a WebSocket. Undefined once it is open. */
  function upgrade(request: Request): Response | undefined {
    const url = new URL(request.url);
    counters.last = {
      method: "GET",
      path: `${url.pathname}${url.search}`,
      headers: Object.fromEntries(request.headers),
      body: "",
    };
    options.onRequest?.(counters.last);
    const requestId = `req_sim${(counters.requests + 1).toString().padStart(8, "0")}`;
    const headers = { server: "trivium-simulator", "x-request-id": requestId };
    try {
      const accepted = liveHostOf({ url, headers: request.headers });
      if (accepted === undefined) return Response.json({ error: "No host has a WebSocket here." }, { status: 404 });
      const { session, protocol } = accepted;
      if (protocol !== undefined) Object.assign(headers, { "sec-websocket-protocol": protocol });
      const data: ServedSession = { session, ended: counters.begin() };
      if (server.upgrade(request, { data, headers })) return undefined;
      data.ended("client gone");
      return Response.json({ error: "The handshake of the WebSocket is incomplete." }, { status: 400 });
    } catch (error) {
      counters.begin()("finished");
      if (!(error instanceof HostError)) throw error;
      return error.toResponse();
    }
  }

  const context = (): MediaContext => ({
    jobs: mediaJobs,
    links,
    baseUrl: `http://${server.hostname}:${server.port}`,
    nowMs,
    makeVideo: options.makeVideo ?? makeVideo,
    acceptsKey: (key) => credentials.accepts(key),
    acceptsToken: (token) => tokens.accepts(token),
  });

  const isForeign = foreignTo(options.host ?? "127.0.0.1");
  const server = Bun.serve<ServedSession>({
    hostname: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    // Silence is one of the things that are simulated.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    websocket: {
      idleTimeout: 0,
      maxPayloadLength: MAX_FRAME_BYTES,
      open: (ws) => ws.data.session.opened(new ServedWire(ws)),
      message: (ws, frame) => ws.data.session.message(frame),
      close: (ws) => {
        ws.data.session.closed();
        ws.data.ended("finished");
      },
    },
    async fetch(request) {
      if (isForeign(request))
        return new Response("This is Trivium's simulator; pages may not call it.\n", { status: 403 });
      if (options.closed && !carriesKey(request, options.apiKey ?? "")) return new Response(null, { status: 401 });
      if (isUpgrade(request.headers)) return upgrade(request);
      const ended = counters.begin();
      const requestId = `req_sim${counters.requests.toString().padStart(8, "0")}`;
      const url = new URL(request.url);
      const bytes = await request.bytes().catch(() => undefined);
      if (bytes === undefined) {
        // The client disconnected while it was still sending; this answer is not read.
        ended("client gone");
        return new Response(null, { status: 400 });
      }
      const text = decoder.decode(bytes);
      const body = parseBody(text);
      const headers = Object.fromEntries(request.headers);
      counters.last = { method: request.method, path: `${url.pathname}${url.search}`, headers, body: body ?? text };
      options.onRequest?.(counters.last);
      if (url.pathname.startsWith("/results/")) {
        ended("finished");
        return links.send(url.pathname, request.headers);
      }
      const { host, path } = hostOf(url.pathname);
      if (host === undefined) {
        ended("finished");
        return Response.json(
          { error: "This is Trivium's simulator. See its README for the endpoints." },
          { status: 404 },
        );
      }
      const exchange: Exchange = {
        url,
        path,
        method: request.method,
        headers: request.headers,
        bodyText: text,
        bodyBytes: bytes,
        body,
        signal: request.signal,
        state,
        ended,
        countModel: (name) => counters.countModel(name),
      };
      const response = await respond(host, exchange, requestId);
      response.headers.set("server", "trivium-simulator");
      if (host.requestIdHeader !== undefined) response.headers.set(host.requestIdHeader, requestId);
      return response;
    },
  });

  return {
    url: `http://${server.hostname}:${server.port}`,
    port: server.port ?? 0,
    stats: () => ({ ...counters.snapshot(), mediaJobs: mediaJobs.made }),
    stop: () => {
      state.batches.stop();
      return server.stop(true);
    },
  };
}
