import type { Random } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { ProviderSettings } from "../config/config.ts";
import type { AdapterContext, ApiHosts, MediaRequest } from "../media/adapter.ts";
import type { StreamedBody } from "../wire/http/http-exchange.ts";
import { streamedMultipart } from "../wire/streamed-multipart.ts";
import { writeMultipart } from "../wire/write-multipart.ts";
import { credentialDigest } from "./credential-digest.ts";
import type { Authenticator, Signer } from "./credentials.ts";

/** A request to a provider's API as it is sent. */
interface OutgoingMediaRequest {
  method: MediaRequest["method"];
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | StreamedBody;
}

/** The connection settings of every API of a configured provider. */
export interface ApiAccess {
  settings: ProviderSettings;
  baseUrl: string;
  authenticate: Authenticator;
  sign: Signer | undefined;
  random: Random;
}

/** An API of a configured provider that is not a dialect. It adds the credential to requests. */
export class ProviderApi {
  /** A digest of the provider's base URL and credential, to which an operation is bound (H24). */
  readonly credential: string;
  readonly #hosts: ApiHosts;
  readonly #access: ApiAccess;
  readonly #baseUrl: string;

  constructor(hosts: ApiHosts, access: ApiAccess) {
    const { settings, baseUrl } = access;
    this.#hosts = hosts;
    this.#access = access;
    this.#baseUrl = (hosts.base?.(baseUrl) ?? baseUrl).replace(/\/+$/, "");
    this.credential = credentialDigest(settings, this.#baseUrl);
  }

  context(model: string, jobName: string): AdapterContext {
    const { project, location, region } = this.#access.settings;
    const settings = {
      ...withoutAbsent({ project, location, region }),
    };
    return { model, settings, jobName };
  }

  /** Whether a URL is the provider's own: on its configured host, or on one that its declaration names. */
  owns(url: string): boolean {
    const { origin, hostname, protocol } = new URL(url);
    if (origin === new URL(this.#baseUrl).origin) return true;
    return protocol === "https:" && (this.#hosts.ownHosts?.test(hostname) ?? false);
  }

  /** The credential is only sent to the provider's own hosts (S07). */
  async outgoing(request: MediaRequest): Promise<OutgoingMediaRequest> {
    const { authenticate, sign, random } = this.#access;
    const url = request.url.startsWith("/") ? this.#baseUrl + request.url : request.url;
    const proof = this.owns(url) && !request.anonymous ? await authenticate() : {};
    const headers: Record<string, string> = { accept: "application/json", ...request.headers, ...proof };
    const { method, body } = request;
    if (body === undefined) return { method, url, headers };
    if ("form" in body) {
      const form = writeMultipart(body.form, `trivium-${random.id()}`);
      headers["content-type"] = form.contentType;
      return { method, url, headers, body: form.body };
    }
    if ("streamed" in body || "streamedForm" in body) {
      const streamed =
        "streamed" in body ? body.streamed : streamedMultipart(body.streamedForm, `trivium-${random.id()}`);
      headers["content-type"] = streamed.contentType;
      return { method, url, headers, body: streamed };
    }
    const text = "text" in body ? body.text : JSON.stringify(body.json);
    headers["content-type"] ??= "application/json";
    const signed = sign && this.owns(url) ? sign({ url, headers, body: text }) : {};
    return { method, url, headers: { ...headers, ...signed }, body: text };
  }
}
