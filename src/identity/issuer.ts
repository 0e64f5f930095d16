import type { JWTVerifyGetKey } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import { isLoopbackUrl } from "../base/address-class.ts";
import type { Clock } from "../base/clock.ts";
import { deadline } from "../base/deadline.ts";
import { isObject } from "../base/json.ts";
import { isIssuerUrl } from "./issuer-url.ts";
import { KeptCopy } from "./kept-copy.ts";

export interface IssuerRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: URLSearchParams | undefined;
  signal: AbortSignal;
}

/** Sends a request to an issuer, and reads its whole response, which is of a bounded size. Redirects are not followed. */
export type IssuerFetch = (url: string, request: IssuerRequest) => Promise<Response>;

interface IssuerOptions {
  clock: Clock;
  fetch: IssuerFetch;
  /** As it is in tokens. */
  url: string;
  /** Where its keys are; absent: where its discovery document says. */
  jwksUrl?: string | undefined;
}

/** How long one request to an issuer may take. */
const REQUEST_MS = 5_000;
const MINUTE_MS = 60_000;
const METADATA_FRESH_MS = 60 * MINUTE_MS;
/** A key that the issuer has withdrawn is refused after this long. */
const KEYS_FRESH_MS = 10 * MINUTE_MS;
/** While the issuer is unavailable, its keys are used for this long. */
const KEPT_MS = 24 * 60 * MINUTE_MS;
/** Unknown keys must not make a stranger's requests into requests to the issuer. */
const REST_MS = 5_000;
/** Issuers have a handful. */
const MAX_KEYS = 100;

/** The issuer is unavailable, or its response cannot be used. The message is for operators and for the login page. */
export class IssuerError extends Error {}

/** An issuer of tokens: its discovery document and its keys, which it may change at any time. */
export class Issuer {
  readonly url: string;
  readonly #options: IssuerOptions;
  readonly #metadata: KeptCopy<AuthorizationServer>;
  readonly #keys: KeptCopy<JWTVerifyGetKey>;

  constructor(options: IssuerOptions) {
    this.url = options.url;
    this.#options = options;
    const { clock } = options;
    const keeping = { clock, keptMs: KEPT_MS, restMs: REST_MS };
    this.#metadata = new KeptCopy({ ...keeping, freshMs: METADATA_FRESH_MS, load: () => this.#discover() });
    this.#keys = new KeptCopy({ ...keeping, freshMs: KEYS_FRESH_MS, load: () => this.#loadKeys() });
  }

  metadata(): Promise<AuthorizationServer> {
    return this.#metadata.get();
  }

  /** The key that a token names. An unknown one may be new, so the keys are read again, but not often. */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const known = await this.#keys.get();
    try {
      return await known(header, token);
    } catch (thrown) {
      const { errors } = await import("jose");
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      const renewed = await this.#keys.renewed();
      if (renewed === known) throw thrown;
      return renewed(header, token);
    }
  };

  /** Why it cannot be used at this moment; undefined if the last requests succeeded. */
  get failure(): string | undefined {
    const failure = this.#metadata.failure ?? this.#keys.failure;
    if (failure === undefined) return undefined;
    return failure.cause instanceof IssuerError ? failure.cause.message : "The issuer cannot be used.";
  }

  /** Sends a request to one of its URLs, in the form that its library uses. */
  readonly fetch = async (url: string, request: Partial<IssuerRequest> = {}): Promise<Response> => {
    if (!isIssuerUrl(url) || (isLoopbackUrl(url) && !isLoopbackUrl(this.url)))
      throw new IssuerError(`The issuer names ${JSON.stringify(url.slice(0, 200))}, which is not an https URL.`);
    const { clock, fetch } = this.#options;
    const late = deadline(clock, REQUEST_MS);
    try {
      return await fetch(url, { ...request, signal: late.signal });
    } catch (cause) {
      const why = late.signal.aborted ? `did not respond within ${REQUEST_MS / 1000} seconds` : "cannot be reached";
      throw new IssuerError(`The issuer ${hostOf(url)} ${why}.`, { cause });
    } finally {
      late.cancel();
    }
  };

  async #discover(): Promise<AuthorizationServer> {
    const oauth = await import("oauth4webapi");
    const url = new URL(this.url);
    try {
      const response = await oauth.discoveryRequest(url, {
        [oauth.customFetch]: this.fetch,
        [oauth.allowInsecureRequests]: isLoopbackUrl(this.url),
      });
      return await oauth.processDiscoveryResponse(url, response);
    } catch (cause) {
      if (cause instanceof IssuerError) throw cause;
      throw new IssuerError(`The discovery document of the issuer ${hostOf(this.url)} cannot be used: ${told(cause)}`, {
        cause,
      });
    }
  }

  async #loadKeys(): Promise<JWTVerifyGetKey> {
    const { createLocalJWKSet } = await import("jose");
    const url = this.#options.jwksUrl ?? (await this.metadata()).jwks_uri;
    if (typeof url !== "string")
      throw new IssuerError(`The issuer ${hostOf(this.url)} does not say where its keys are.`);
    const response = await this.fetch(url, { headers: { accept: "application/json" } });
    const unusable = (why: string, cause?: unknown) =>
      new IssuerError(`The keys of the issuer ${hostOf(url)} cannot be used: ${why}`, { cause });
    if (response.status !== 200) throw unusable(`it returned HTTP status ${response.status}.`);
    try {
      const set: unknown = await response.json();
      const keys = isObject(set) ? set["keys"] : undefined;
      if (!Array.isArray(keys)) throw new Error("the response has no list of keys.");
      if (keys.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys.`);
      return createLocalJWKSet({ keys });
    } catch (cause) {
      throw unusable(told(cause), cause);
    }
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url.slice(0, 100));

const told = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 200);
