import type { DialectName } from "../canon/dialect-name.ts";
import type { KeyLimits } from "./key-limits.ts";

/** Who is calling, and what it may do. */
export interface Principal {
  keyId: string;
  keyName: string;
  project: string;
  /** Globs of model ids; `*` stands for any run of characters. */
  models: readonly string[];
  /** Without it, every protocol. */
  protocols?: readonly DialectName[];
  limits: KeyLimits;
  /** Calls that cannot be honoured to the letter are refused, not approximated. */
  strict?: boolean;
  expiresAtMs?: number;
}
