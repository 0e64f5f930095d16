interface Link {
  make: () => Promise<Uint8Array>;
  mimeType: string;
  expiresAtMs: number;
}

const MAX_LINKS = 10_000;

/** Results at URLs that expire, as storage hosts make them: anyone with the URL can fetch, without a key. */
export class MediaLinks {
  readonly #nowMs: () => number;
  readonly #links = new Map<string, Link>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The URL of what `make` will make when it is fetched, below the simulator's own. */
  publish(baseUrl: string, make: () => Promise<Uint8Array>, mimeType: string, keptMs: number): string {
    const token = crypto.randomUUID();
    this.#links.set(token, { make, mimeType, expiresAtMs: this.#nowMs() + keptMs });
    for (const key of this.#links.keys()) {
      if (this.#links.size <= MAX_LINKS) break;
      this.#links.delete(key);
    }
    const ending = mimeType === "video/mp4" ? "mp4" : mimeType.replace("image/", "");
    return `${baseUrl}/results/${token}.${ending}`;
  }

  /** Answers a GET of such a URL. A credential is an error of the caller: it was sent to a third party. */
  async send(path: string, headers: Headers): Promise<Response> {
    if (headers.has("authorization") || headers.has("x-key") || headers.has("x-goog-api-key")) {
      return new Response("A credential does not belong here.", { status: 400 });
    }
    const link = this.#links.get(/^\/results\/([\w-]+)\./.exec(path)?.[1] ?? "");
    if (link === undefined || this.#nowMs() >= link.expiresAtMs) {
      return new Response("<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>", {
        status: 403,
        headers: { "content-type": "application/xml" },
      });
    }
    return new Response(await link.make(), { headers: { "content-type": link.mimeType } });
  }
}
