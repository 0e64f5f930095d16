import { createPublicKey, verify } from "node:crypto";
import { HostError } from "./host-error.ts";
import { decodeBase64 } from "./inspect-media.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { Seed } from "./seed.ts";

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const LIFETIME_SECONDS = 3_600;
/** Clocks of caller and host may differ by so much. */
const LEEWAY_SECONDS = 60;
const MAX_TOKENS = 1_000;

function refused(error: string, description: string): HostError {
  return new HostError(400, JSON.stringify({ error, error_description: description }));
}

function decodeSegment(segment: string | undefined): JsonObject {
  const bytes = segment === undefined || segment === "" ? undefined : decodeBase64(segment);
  try {
    const value = JSON.parse(Buffer.from(bytes ?? []).toString()) as Json;
    if (isObject(value)) return value;
  } catch {
    // Falls through to the refusal: a segment that is not JSON is refused like one that is not an object.
  }
  throw refused(
    "invalid_grant",
    "Invalid JWT: the assertion must be three base64url segments of JSON and a signature.",
  );
}

/** Google's OAuth endpoint for service accounts, and the tokens that it has given out. */
export class AccessTokens {
  readonly #expiryByToken = new Map<string, number>();
  readonly #nowMs: () => number;
  readonly #publicKey: string | undefined;

  /** With a public key (PEM) the assertions' signatures are verified. */
  constructor(nowMs: () => number, publicKey: string | undefined) {
    this.#nowMs = nowMs;
    this.#publicKey = publicKey;
  }

  accepts(token: string): boolean {
    return (this.#expiryByToken.get(token) ?? 0) > this.#nowMs();
  }

  /** Answers the form of a JWT-bearer grant with a token, or throws the refusal. */
  grant(form: URLSearchParams): JsonObject {
    if (form.get("grant_type") !== GRANT_TYPE) {
      throw refused("unsupported_grant_type", `Invalid grant_type: expected ${GRANT_TYPE}`);
    }
    const assertion = form.get("assertion") ?? "";
    const segments = assertion.split(".");
    if (segments.length !== 3) throw refused("invalid_grant", "Invalid JWT: three segments are expected.");
    const header = decodeSegment(segments[0]);
    if (header.alg !== "RS256") throw refused("invalid_grant", "Invalid JWT: the algorithm must be RS256.");
    this.#checkClaims(decodeSegment(segments[1]));
    this.#checkSignature(segments);
    const token = `ya29.simulated-${new Seed(`${assertion} ${this.#nowMs()} ${this.#expiryByToken.size}`).token("token", 32)}`;
    this.#expiryByToken.set(token, this.#nowMs() + LIFETIME_SECONDS * 1_000);
    for (const oldest of this.#expiryByToken.keys()) {
      if (this.#expiryByToken.size <= MAX_TOKENS) break;
      this.#expiryByToken.delete(oldest);
    }
    return { access_token: token, expires_in: LIFETIME_SECONDS - 1, token_type: "Bearer" };
  }

  #checkClaims(claims: JsonObject): void {
    for (const name of ["iss", "aud"]) {
      if (typeof claims[name] !== "string" || claims[name] === "") {
        throw refused("invalid_grant", `Invalid JWT: the claim ${name} is missing.`);
      }
    }
    if (typeof claims.scope !== "string" || claims.scope === "") {
      throw refused("invalid_scope", "Invalid OAuth scope or ID token audience provided.");
    }
    if (!String(claims.aud).endsWith("/token"))
      throw refused("invalid_grant", "Invalid JWT: aud is not this endpoint.");
    const now = this.#nowMs() / 1_000;
    const { iat, exp } = claims;
    const isSound =
      typeof iat === "number" &&
      typeof exp === "number" &&
      iat <= now + LEEWAY_SECONDS &&
      exp > now - LEEWAY_SECONDS &&
      exp - iat <= LIFETIME_SECONDS;
    if (!isSound) {
      throw refused("invalid_grant", "Invalid JWT: iat and exp must be a short-lived window (60 minutes) around now.");
    }
  }

  #checkSignature(segments: string[]): void {
    if (this.#publicKey === undefined) return;
    const signed = Buffer.from(`${segments[0]}.${segments[1]}`);
    const signature = decodeBase64(segments[2] ?? "") ?? new Uint8Array();
    if (!verify("RSA-SHA256", signed, createPublicKey(this.#publicKey), signature)) {
      throw refused("invalid_grant", "Invalid JWT Signature.");
    }
  }
}
