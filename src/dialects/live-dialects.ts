import type { LiveDialect, LiveDialectName } from "./live-dialect.ts";

/** The protocols of live connections. */
export const LIVE_DIALECTS = {} as Readonly<Record<LiveDialectName, LiveDialect>>;
