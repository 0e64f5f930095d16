import type { Secret } from "../../base/secret.ts";
import type { Sharing } from "../../canon/ownership.ts";
import type { Limits } from "../limits.ts";

/** What the subjects of one issuer may do. */
export interface TokenTerms {
  /** Unique among the configured issuers. */
  readonly issuer: string;
  /** Globs over model ids. */
  readonly models: readonly string[];
  /** Of each subject. */
  readonly limits: Limits;
  /** Who may see what a subject stores; absent: the subject alone. */
  readonly objects?: Sharing;
}

/** An issuer whose tokens clients may send in place of a key. */
export interface TokenIssuerSettings extends TokenTerms {
  readonly audience: string;
  /** The project of all tokens; absent: the claim names it. */
  readonly project?: string;
  readonly projectClaim?: string;
  /** The claim that names the end user. */
  readonly userClaim?: string;
  /** Absent: all that sign with a key of which the issuer publishes one half. */
  readonly algorithms?: readonly string[];
  /** The key of HMAC algorithms, which must be named. */
  readonly secret?: Secret;
  /** Where the issuer's keys are; absent: where its discovery document says. */
  readonly jwksUrl?: string;
}

/** A client's token whose signature and claims are right. */
export interface VerifiedToken {
  readonly subject: string;
  readonly project: string;
  /** For people: the user claim, or else the subject. */
  readonly name: string;
  /** The end user that the token names. */
  readonly user: string | undefined;
  /** Undefined if the token does not say. */
  readonly issuedAtMs: number | undefined;
  /** With the leeway. */
  readonly expiresAtMs: number;
  readonly terms: TokenTerms;
}

/** Checks tokens against the keys of their issuers. */
export interface TokenVerifier {
  /** False if no issuer is configured: then no credential is a token. */
  readonly isConfigured: boolean;
  /** The terms of a configured issuer. */
  termsOf(issuer: string): TokenTerms | undefined;
  readonly issuers: readonly string[];
  /** Replaces all issuers. */
  reconfigure(issuers: readonly TokenIssuerSettings[]): void;
  /** Throws a GatewayError that does not contain the token. */
  verify(token: string): Promise<VerifiedToken>;
}
