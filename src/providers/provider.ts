import type { DialectName } from "../canon/dialect-name.ts";
import type { Secret } from "../canon/secret.ts";
import type { ProviderSettings } from "../config/config.ts";
import { DEFAULT_QUIRKS, type Quirks } from "../dialects/quirks.ts";

export type Verb = "generate" | "count_tokens";

/** What a call wants from an upstream, as far as its address depends on it. */
export interface UpstreamCall {
  dialect: DialectName;
  verb: Verb;
  model: string;
  stream: boolean;
  /** messages: beta names that the client asked for. */
  betas: readonly string[];
}

export interface UpstreamAddress {
  url: string;
  headers: Record<string, string>;
}

/** Headers that prove who the gateway is. A promise only where a token has to be fetched first. */
export type Authenticator = () => Record<string, string> | Promise<Record<string, string>>;

/** How one dialect is reached at a provider. */
export interface Wire {
  generate: (call: UpstreamCall, settings: ProviderSettings) => string;
  /** Absent where the provider has no token counter: the gateway then estimates. */
  countTokens?: (call: UpstreamCall, settings: ProviderSettings) => string;
  headers?: (call: UpstreamCall) => Record<string, string>;
}

/** A provider is a declaration: where, how to authenticate, which dialects, its quirks. */
export interface ProviderDeclaration {
  kind: string;
  /** Publisher prefixes of the catalogue whose models this kind serves. */
  publishers: readonly string[];
  /** The usual environment variables: when all are set, the provider is there without any configuration. */
  variables?: Readonly<Record<string, string>>;
  fields: { required: readonly string[]; optional: readonly string[] };
  baseUrl: (settings: ProviderSettings) => string;
  authenticate: (settings: ProviderSettings) => Authenticator;
  wires: Partial<Record<DialectName, Wire>>;
  quirks?: Partial<Quirks>;
}

export const DEFAULT_TIMEOUTS_MS = { firstByte: 60_000, idle: 120_000 };

/** A configured provider. Its destination and credential come from the configuration alone; no call can change either (S07). */
export class Provider {
  readonly name: string;
  readonly publishers: readonly string[];
  readonly dialects: readonly DialectName[];
  readonly quirks: Quirks;
  readonly timeoutMs: { firstByte: number; idle: number };
  readonly #declaration: ProviderDeclaration;
  readonly #settings: ProviderSettings;
  readonly #baseUrl: string;
  readonly #authenticate: Authenticator;
  readonly #kept = new Map<DialectName, { credential: Record<string, string>; headers: Record<string, string> }>();

  constructor(declaration: ProviderDeclaration, settings: ProviderSettings) {
    this.name = settings.name;
    this.publishers = declaration.publishers;
    const spoken = Object.keys(declaration.wires) as DialectName[];
    this.dialects = settings.dialects ?? spoken;
    this.quirks = { ...DEFAULT_QUIRKS, ...declaration.quirks };
    this.timeoutMs = { ...DEFAULT_TIMEOUTS_MS, ...settings.timeoutMs };
    this.#declaration = declaration;
    this.#settings = settings;
    this.#baseUrl = (settings.baseUrl ?? declaration.baseUrl(settings)).replace(/\/+$/, "");
    this.#authenticate = declaration.authenticate(settings);
  }

  speaks(dialect: DialectName): boolean {
    return this.dialects.includes(dialect);
  }

  countsTokens(dialect: DialectName): boolean {
    return this.speaks(dialect) && this.#declaration.wires[dialect]?.countTokens !== undefined;
  }

  /** Synchronous but for providers whose token must be fetched. */
  address(call: UpstreamCall): UpstreamAddress | Promise<UpstreamAddress> {
    const wire = this.#declaration.wires[call.dialect];
    if (!wire) throw new Error(`provider ${this.name} has no wire for ${call.dialect}`);
    const path = (call.verb === "count_tokens" && wire.countTokens) || wire.generate;
    const url = this.#baseUrl + path(call, this.#settings);
    const proof = this.#authenticate();
    return proof instanceof Promise
      ? proof.then((credential) => ({ url, headers: this.#headers(call, wire, credential) }))
      : { url, headers: this.#headers(call, wire, proof) };
  }

  /** The same for every call of a dialect, but for betas and a credential that was renewed: made once and kept. */
  #headers(call: UpstreamCall, wire: Wire, credential: Record<string, string>): Record<string, string> {
    const kept = this.#kept.get(call.dialect);
    if (kept?.credential === credential && call.betas.length === 0) return kept.headers;
    const headers = {
      "content-type": "application/json",
      // The tap reads the bytes: a compressed answer would only be unpacked here.
      "accept-encoding": "identity",
      ...wire.headers?.(call),
      ...credential,
    };
    if (call.betas.length === 0) this.#kept.set(call.dialect, { credential, headers });
    return headers;
  }

  /** Takes the gateway's own credentials out of a text that is on its way to a client (S10). */
  redact(text: string): string {
    let result = text;
    for (const value of Object.values(this.#settings) as unknown[]) {
      const secret = isSecret(value) ? value.reveal() : "";
      if (secret.length >= 8 && result.includes(secret)) result = result.replaceAll(secret, "[secret]");
    }
    return result;
  }
}

function isSecret(value: unknown): value is Secret {
  return typeof value === "object" && value !== null && "reveal" in value;
}
