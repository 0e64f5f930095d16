import type { Clock } from "../../src/base/clock.ts";
import type { Reply } from "../memory-exchange.ts";
import type { Script } from "../memory-network.ts";
import { plainAnswer } from "../plain-answer.ts";

/** A cache at the host. */
export interface HostCache {
  name: string;
  /** The API key that created it. */
  key: string;
  body: Record<string, unknown>;
  createdAtMs: number;
  expiresAtMs: number;
}

/** An in-memory host with caches, in the form of the Gemini API. Tests script its next answers. */
export class MemoryCacheHost {
  readonly caches: HostCache[] = [];
  /** What every cache counts as; undefined if the host does not report it. */
  tokens: number | undefined = 100_000;
  /** Every request so far, as `POST /v1beta/cachedContents`. */
  readonly asked: string[] = [];
  /** The results of the next requests about caches, in order; later ones succeed. */
  readonly next: Script[] = [];
  /** The bodies of calls that generate content, and the keys that they came with. */
  readonly calls: { key: string; body: Record<string, unknown> }[] = [];
  readonly #clock: Clock;
  #made = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly script: Script = async (reply, request) => {
    const { pathname } = new URL(request.url);
    const { method = "POST" } = request;
    this.asked.push(`${method} ${pathname}`);
    const key = request.headers["x-goog-api-key"] ?? "";
    const body = request.body === "" ? {} : (JSON.parse(request.body) as Record<string, unknown>);
    if (!pathname.includes("/cachedContents")) {
      this.calls.push({ key, body });
      this.#generate(reply, key, body);
      return;
    }
    const scripted = this.next.shift();
    if (scripted !== undefined) return await scripted(reply, request);
    const { status, value } = this.#answer({ method, key, body, name: pathname.replace("/v1beta/", "") });
    send(reply, value, status);
  };

  /** Creates the cache, and lets the answer be lost. */
  readonly loseAnswer: Script = (reply, { body, headers }) => {
    this.#add(headers["x-goog-api-key"] ?? "", JSON.parse(body) as Record<string, unknown>);
    reply.fail("broken");
  };

  #generate(reply: Reply, key: string, { cachedContent }: Record<string, unknown>): void {
    if (typeof cachedContent === "string" && this.#find(cachedContent, key) === undefined) {
      send(reply, notFound(cachedContent), 403);
      return;
    }
    const cached = cachedContent === undefined ? 0 : (this.tokens ?? 0);
    const usage = {
      promptTokenCount: cached + 10,
      candidatesTokenCount: 5,
      totalTokenCount: cached + 15,
      ...(cached > 0 && { cachedContentTokenCount: cached }),
    };
    send(reply, plainAnswer("genai", { text: "Hello.", usage }));
  }

  #answer({ method, key, body, name }: { method: string; key: string; body: Record<string, unknown>; name: string }): {
    status?: number;
    value: object;
  } {
    if (method === "POST") return { value: this.#view(this.#add(key, body)) };
    if (name === "cachedContents") {
      const own = this.caches.filter((cache) => cache.key === key && this.#lives(cache));
      return { value: { cachedContents: own.map((cache) => this.#view(cache)) } };
    }
    const cache = this.#find(name, key);
    if (cache === undefined) return { status: 403, value: notFound(name) };
    if (method === "DELETE") {
      this.caches.splice(this.caches.indexOf(cache), 1);
      return { value: {} };
    }
    if (method === "PATCH") cache.expiresAtMs = this.#expiry(body);
    return { value: this.#view(cache) };
  }

  #add(key: string, body: Record<string, unknown>): HostCache {
    const cache = {
      name: `cachedContents/host-${++this.#made}`,
      key,
      body,
      createdAtMs: this.#clock.wallMs(),
      expiresAtMs: this.#expiry(body),
    };
    this.caches.push(cache);
    return cache;
  }

  #expiry({ ttl }: Record<string, unknown>): number {
    return this.#clock.wallMs() + Number.parseFloat(String(ttl ?? "3600s")) * 1000;
  }

  #lives({ expiresAtMs }: HostCache): boolean {
    return expiresAtMs > this.#clock.wallMs();
  }

  #find(name: string, key: string): HostCache | undefined {
    return this.caches.find((cache) => cache.name === name && cache.key === key && this.#lives(cache));
  }

  #view({ name, body, createdAtMs, expiresAtMs }: HostCache): object {
    return {
      name,
      model: body["model"],
      displayName: body["displayName"],
      createTime: new Date(createdAtMs).toISOString(),
      updateTime: new Date(createdAtMs).toISOString(),
      expireTime: new Date(expiresAtMs).toISOString(),
      ...(this.tokens !== undefined && { usageMetadata: { totalTokenCount: this.tokens } }),
    };
  }
}

const notFound = (name: string): object => ({
  error: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: `CachedContent not found (or permission denied): ${name}`,
  },
});

function send(reply: Reply, value: object, status = 200): void {
  reply.head(status);
  void reply.write(JSON.stringify(value));
  reply.end();
}
