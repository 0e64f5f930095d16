import type { Random } from "../../base/sources.ts";
import type { ProviderSettings } from "../../config/config.ts";
import type { AdapterContext, ImageAdapter, MediaAdapters, MediaRequest, VideoAdapter } from "../../media/adapter.ts";
import { writeMultipart } from "../../wire/write-multipart.ts";
import { credentialDigest } from "../credential-digest.ts";
import type { Authenticator, Signer } from "../credentials.ts";

/** A request to a media API as it is sent. */
interface OutgoingMediaRequest {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** The media side of a configured provider: it finds the adapter of a model, and adds the credential to requests. */
export class ProviderMedia {
  /** A digest of the provider's base URL and credential, to which an operation is bound (H24). */
  readonly credential: string;
  readonly #adapters: MediaAdapters;
  readonly #settings: ProviderSettings;
  readonly #baseUrl: string;
  readonly #authenticate: Authenticator;
  readonly #sign: Signer | undefined;
  readonly #random: Random;

  constructor(
    adapters: MediaAdapters,
    settings: ProviderSettings,
    baseUrl: string,
    authenticate: Authenticator,
    sign: Signer | undefined,
    random: Random,
  ) {
    this.#adapters = adapters;
    this.#settings = settings;
    this.#baseUrl = (adapters.base?.(baseUrl) ?? baseUrl).replace(/\/+$/, "");
    this.#authenticate = authenticate;
    this.#sign = sign;
    this.#random = random;
    this.credential = credentialDigest(settings, this.#baseUrl);
  }

  images(model: string): ImageAdapter | undefined {
    return this.#adapters.images?.find((adapter) => adapter.serves(model));
  }

  videos(model: string): VideoAdapter | undefined {
    return this.#adapters.videos?.find((adapter) => adapter.serves(model));
  }

  context(model: string, jobName: string): AdapterContext {
    const { project, location, region } = this.#settings;
    const settings = {
      ...(project === undefined ? {} : { project }),
      ...(location === undefined ? {} : { location }),
      ...(region === undefined ? {} : { region }),
    };
    return { model, settings, jobName };
  }

  /** Whether a URL is the provider's own: on its configured host, or on one that its declaration names. */
  owns(url: string): boolean {
    const { origin, hostname, protocol } = new URL(url);
    if (origin === new URL(this.#baseUrl).origin) return true;
    return protocol === "https:" && (this.#adapters.ownHosts?.test(hostname) ?? false);
  }

  /** The credential goes to the provider's own hosts and nowhere else (S07). */
  async outgoing(request: MediaRequest): Promise<OutgoingMediaRequest> {
    const url = request.url.startsWith("/") ? this.#baseUrl + request.url : request.url;
    const proof = this.owns(url) && !request.anonymous ? await this.#authenticate() : {};
    const headers: Record<string, string> = { accept: "application/json", ...request.headers, ...proof };
    const { method, body } = request;
    if (body === undefined) return { method, url, headers };
    if ("form" in body) {
      const form = writeMultipart(body.form, `trivium-${this.#random.id()}`);
      headers["content-type"] = form.contentType;
      return { method, url, headers, body: form.body };
    }
    const text = JSON.stringify(body.json);
    headers["content-type"] ??= "application/json";
    const signed = this.#sign && this.owns(url) ? this.#sign({ url, headers, body: text }) : {};
    return { method, url, headers: { ...headers, ...signed }, body: text };
  }
}
