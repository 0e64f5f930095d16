import { UPSTREAM_DIALECT_NAMES } from "../canon/dialect-name.ts";
import { PROVIDER_KINDS } from "./index.ts";

/** Every word for a family of hosts that reads its own opaque values: a dialect's, or a kind's. Hosts' own words are not among them. */
export const ORIGINS: ReadonlySet<string> = new Set([...UPSTREAM_DIALECT_NAMES, ...PROVIDER_KINDS.keys()]);
