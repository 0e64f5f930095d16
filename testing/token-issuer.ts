import { exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import type { IssuerFetch } from "../src/identity/issuer.ts";

interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  jwk: JWK;
}

/** Changes of claims; undefined removes one. */
export type ClaimChanges = Readonly<Record<string, unknown>>;

interface SignedWith {
  key?: SigningKey;
  header?: Record<string, unknown>;
}

/** An issuer of tokens without sockets, whose answers a test decides. */
export class TokenIssuer {
  readonly url: string;
  /** The URLs that were asked, in order. */
  readonly asked: string[] = [];
  /** What it publishes. */
  published: JWK[] = [];
  /** Changes the answer to a request; undefined for the usual one. */
  answer: (url: string) => Response | Promise<Response> | undefined = () => undefined;
  readonly #keys: SigningKey[] = [];
  readonly #wallMs: () => number;

  private constructor(url: string, wallMs: () => number) {
    this.url = url;
    this.#wallMs = wallMs;
  }

  static async start(
    wallMs: () => number,
    url = "https://issuer.test",
    kid = "k1",
    alg = "ES256",
  ): Promise<TokenIssuer> {
    const issuer = new TokenIssuer(url, wallMs);
    await issuer.rotate(kid, alg);
    return issuer;
  }

  get key(): SigningKey {
    const key = this.#keys.at(-1);
    if (key === undefined) throw new Error("the issuer has no key");
    return key;
  }

  /** Signs with another key from now on, and publishes it in place of all others. */
  async rotate(kid: string, alg = "ES256", { publishes = true } = {}): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
    this.#keys.push({ kid, alg, privateKey, publicKey, jwk });
    if (publishes) this.published = [jwk];
  }

  /** Its public key as a text, which is no secret. */
  publicPem(): Promise<string> {
    return exportSPKI(this.key.publicKey);
  }

  /** Claims that a gateway accepts, changed by these. */
  claims(changes: ClaimChanges = {}): JWTPayload {
    const nowSeconds = Math.floor(this.#wallMs() / 1000);
    const usual = { iss: this.url, aud: "trivium", sub: "alice", iat: nowSeconds, exp: nowSeconds + 3600 };
    return Object.fromEntries(Object.entries({ ...usual, ...changes }).filter(([, value]) => value !== undefined));
  }

  sign(changes: ClaimChanges = {}, { key = this.key, header = {} }: SignedWith = {}): Promise<string> {
    return new SignJWT(this.claims(changes))
      .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
      .sign(key.privateKey);
  }

  readonly fetch: IssuerFetch = async (url, { signal }) => {
    this.asked.push(url);
    const changed = await Promise.race([this.answer(url), aborted(signal)]);
    if (changed !== undefined) return changed;
    if (url === `${this.url}/.well-known/openid-configuration`)
      return Response.json({ issuer: this.url, jwks_uri: `${this.url}/keys` });
    if (url === `${this.url}/keys`) return Response.json({ keys: this.published });
    throw new Error(`nothing is at ${url}`);
  };
}

/** Asks the issuer to which a URL belongs. */
export const fetchFrom =
  (...issuers: TokenIssuer[]): IssuerFetch =>
  (url, request) => {
    const issuer = issuers.find((one) => url.startsWith(`${one.url}/`));
    return issuer === undefined ? Promise.reject(new Error(`nothing is at ${url}`)) : issuer.fetch(url, request);
  };

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
