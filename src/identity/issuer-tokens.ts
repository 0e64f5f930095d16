import type { JWTPayload, JWTVerifyOptions, JWTVerifyResult } from "jose";
import type { TokenIssuerSettings, TokenTerms, TokenVerifier, VerifiedToken } from "../access/people/verified-token.ts";
import type { Clock } from "../base/clock.ts";
import { isPlainLine } from "../base/is-plain-line.ts";
import { GatewayError } from "../canon/error.ts";
import { ASYMMETRIC } from "../canon/settings/signature-algorithms.ts";
import { claimAt } from "./claim-at.ts";
import { Issuer, IssuerError, type IssuerFetch } from "./issuer.ts";

interface VerifierOptions {
  clock: Clock;
  fetch: IssuerFetch;
  /** Called when the keys of an issuer cannot be read. */
  onTrouble: (issuer: string, message: string) => void;
}

interface Accepted {
  settings: TokenIssuerSettings;
  issuer: Issuer;
}

export const LEEWAY_SECONDS = 30;
/** The latest time that a date can be. */
const LAST_SECOND = 8.64e12;
const MAX_SUBJECT_LENGTH = 1_024;
const MAX_NAME_LENGTH = 200;
/** Keys that are tried for a token that does not name one. */
const MAX_TRIED = 10;
/** Types of tokens that are made for something else, such as logout tokens, are refused. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, "JWT", "at+jwt", "application/at+jwt"]);

/** Checks clients' tokens offline, against the published keys of their issuers. */
export class IssuerTokens implements TokenVerifier {
  readonly #options: VerifierOptions;
  #accepted: ReadonlyMap<string, Accepted> = new Map();

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  get isConfigured(): boolean {
    return this.#accepted.size > 0;
  }

  get issuers(): readonly string[] {
    return [...this.#accepted.keys()];
  }

  termsOf(issuer: string): TokenTerms | undefined {
    return this.#accepted.get(issuer)?.settings;
  }

  /** Replaces all issuers. The keys of those that stay are kept. */
  reconfigure(all: readonly TokenIssuerSettings[]): void {
    this.#accepted = new Map(
      all.map((settings) => {
        const known = this.#accepted.get(settings.issuer);
        const { issuer: url, jwksUrl } = settings;
        const issuer = known?.settings.jwksUrl === jwksUrl ? known?.issuer : undefined;
        return [url, { settings, issuer: issuer ?? new Issuer({ ...this.#options, url, jwksUrl }) }];
      }),
    );
  }

  async verify(token: string): Promise<VerifiedToken> {
    const { decodeJwt } = await import("jose");
    let named: unknown;
    try {
      named = decodeJwt(token).iss;
    } catch (cause) {
      throw invalid("it is malformed", cause);
    }
    const accepted = typeof named === "string" ? this.#accepted.get(named) : undefined;
    if (accepted === undefined) throw invalid("its issuer (`iss`) is not one whose tokens this gateway accepts");
    const { payload, protectedHeader } = await this.#checked(token, accepted);
    if (!TYPES.has(protectedHeader.typ)) throw invalid("its type (`typ`) is not that of an access token");
    return this.#read(payload, accepted.settings);
  }

  async #checked(token: string, { settings, issuer }: Accepted): Promise<JWTVerifyResult> {
    const { jwtVerify, errors } = await import("jose");
    const { audience, secret, algorithms = ASYMMETRIC } = settings;
    const options: JWTVerifyOptions = {
      issuer: settings.issuer,
      audience,
      algorithms: [...algorithms],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(this.#options.clock.wallMs()),
      requiredClaims: ["sub", "exp"],
    };
    try {
      if (secret !== undefined) return await jwtVerify(token, new TextEncoder().encode(secret.reveal()), options);
      try {
        return await jwtVerify(token, issuer.keyOf, options);
      } catch (thrown) {
        if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown;
        return await tryKeys(token, thrown, options);
      }
    } catch (thrown) {
      throw this.#refusal(thrown, settings);
    }
  }

  #refusal(thrown: unknown, { issuer, audience }: TokenIssuerSettings): GatewayError {
    if (thrown instanceof IssuerError) {
      this.#options.onTrouble(issuer, thrown.message);
      const message =
        "This token cannot be checked, because the keys of its issuer cannot be read. Try again in a moment.";
      const details = { code: "issuer_unavailable", retryAfterSeconds: 5, cause: thrown };
      return new GatewayError("overloaded", message, details);
    }
    const { code, claim, reason } = thrown as { code?: string; claim?: string; reason?: string };
    if (code === "ERR_JWT_EXPIRED") return invalid("it has expired", thrown);
    if (code === "ERR_JWT_CLAIM_VALIDATION_FAILED") {
      if (reason === "missing") return invalid(`it has no \`${claim}\` claim`, thrown);
      if (claim === "aud") return invalid(`its audience (\`aud\`) must be ${JSON.stringify(audience)}`, thrown);
      if (claim === "nbf") return invalid("it is not valid yet (`nbf`)", thrown);
      return invalid(`its \`${claim}\` claim is wrong`, thrown);
    }
    return invalid(WHY[code ?? ""] ?? "it cannot be verified", thrown);
  }

  #read(payload: JWTPayload, settings: TokenIssuerSettings): VerifiedToken {
    const { sub: subject, exp, iat } = payload;
    if (typeof subject !== "string" || subject === "" || subject.length > MAX_SUBJECT_LENGTH || !subject.isWellFormed())
      throw invalid(`its subject (\`sub\`) must be a text of 1 to ${MAX_SUBJECT_LENGTH} characters`);
    if (subject.includes("\0")) throw invalid("its subject (`sub`) contains a null character");
    if (typeof exp !== "number" || !(Math.abs(exp) < LAST_SECOND)) throw invalid("its `exp` claim is not a time");
    const nowSeconds = this.#options.clock.wallMs() / 1000;
    if (iat !== undefined && !(iat <= nowSeconds + LEEWAY_SECONDS))
      throw invalid("it was issued in the future (`iat`)");
    // A token that is bound to a key of its client is worthless without a proof, which is not checked here.
    if (payload["cnf"] !== undefined) throw invalid("it is bound to a key (`cnf`), which is not supported");
    const { userClaim } = settings;
    const user = userClaim === undefined ? undefined : nameAt(payload, userClaim);
    return {
      subject,
      project: projectOf(payload, settings),
      name: user ?? plain(subject),
      user,
      issuedAtMs: iat === undefined ? undefined : iat * 1000,
      expiresAtMs: (exp + LEEWAY_SECONDS) * 1000,
      terms: settings,
    };
  }
}

/** A token without a `kid` may be signed with any of the keys. */
async function tryKeys(token: string, keys: AsyncIterable<CryptoKey>, options: JWTVerifyOptions) {
  const { jwtVerify, errors } = await import("jose");
  let tried = 0;
  for await (const key of keys) {
    if (++tried > MAX_TRIED) break;
    try {
      return await jwtVerify(token, key, options);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWSSignatureVerificationFailed)) throw thrown;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

const WHY: Readonly<Record<string, string>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm (`alg`) is not allowed",
  ERR_JOSE_NOT_SUPPORTED: "it uses something that is not supported",
  ERR_JWKS_NO_MATCHING_KEY: "its issuer has no key for it (`kid`)",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is wrong",
  ERR_JWS_INVALID: "it is malformed",
  ERR_JWT_INVALID: "it is malformed",
};

const invalid = (why: string, cause?: unknown): GatewayError =>
  new GatewayError("unauthenticated", `This token is not valid: ${why}.`, { code: "invalid_token", cause });

function projectOf(payload: JWTPayload, { project, projectClaim = "" }: TokenIssuerSettings): string {
  if (project !== undefined) return project;
  const named = claimAt(payload, projectClaim);
  if (typeof named === "string" && named !== "" && named.length <= MAX_NAME_LENGTH && isPlainLine(named)) return named;
  throw new GatewayError(
    "forbidden",
    `This token names no project: its claim \`${projectClaim}\` must be a project's id.`,
    {
      code: "project_not_found",
    },
  );
}

function nameAt(payload: JWTPayload, claim: string): string | undefined {
  const value = claimAt(payload, claim);
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "") return undefined;
  if (text.length <= MAX_NAME_LENGTH && isPlainLine(text)) return text;
  throw invalid(`its claim \`${claim}\` must be one line of at most ${MAX_NAME_LENGTH} characters`);
}

/** For people: it is shown in errors, logs and the console. */
const plain = (subject: string): string => {
  const shown = subject.length > MAX_NAME_LENGTH ? `${[...subject].slice(0, 100).join("")}…` : subject;
  return isPlainLine(shown) ? shown : encodeURIComponent(shown).slice(0, MAX_NAME_LENGTH);
};
