/** The headers that scripts of other origins may read, in addition to those that browsers always show. */
const EXPOSED = [
  "x-trivium-request-id",
  "x-trivium-receipt",
  "x-trivium-dropped",
  "x-trivium-approximated",
  "x-trivium-cached",
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
].join(", ");

const METHODS = "GET, HEAD, POST, DELETE";
/** An allowed origin may send any header: vendors' SDKs have dozens, and new ones with each release. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]{1,100}(?:\s*,\s*[\w!#$%&'*+.^`|~-]{1,100}){0,99}$/;
const PREFLIGHT_SECONDS = "600";

/** Pages of the configured origins may call the gateway from a browser (`server.cors`); by default none may (S11). */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #any: boolean;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
    this.#any = this.#origins.has("*");
  }

  allows(origin: string): boolean {
    return this.#any || this.#origins.has(origin);
  }

  /** The response to a browser's preflight request. */
  preflight({ method, headers }: Request): Response | undefined {
    const origin = headers.get("origin");
    if (method !== "OPTIONS" || origin === null || !headers.has("access-control-request-method")) return undefined;
    if (!this.allows(origin)) return undefined;
    const wanted = headers.get("access-control-request-headers") ?? "";
    return new Response(null, {
      status: 204,
      headers: {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": METHODS,
        ...(HEADER_NAMES.test(wanted) ? { "access-control-allow-headers": wanted } : {}),
        "access-control-max-age": PREFLIGHT_SECONDS,
        vary: "Origin, Access-Control-Request-Headers",
      },
    });
  }

  /** Lets a page of an allowed origin read the response. */
  mark(response: Response, request: Request): Response {
    if (this.#origins.size === 0) return response;
    const origin = request.headers.get("origin");
    if (origin === null || !this.allows(origin)) return response;
    response.headers.set("access-control-allow-origin", origin);
    response.headers.set("access-control-expose-headers", EXPOSED);
    response.headers.append("vary", "Origin");
    return response;
  }
}
