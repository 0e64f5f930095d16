import { UPSTREAM_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { PROVIDER_KINDS } from "./index.ts";

/** Every name of a family of hosts that read each other's opaque values: a dialect's, or a kind's. Names of single hosts are not among them. */
export const ORIGINS: ReadonlySet<string> = new Set([...UPSTREAM_DIALECT_NAMES, ...PROVIDER_KINDS.keys()]);
