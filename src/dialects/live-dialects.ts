import { live } from "./live/index.ts";
import type { LiveDialect, LiveDialectName } from "./live-dialect.ts";
import { realtime } from "./realtime/index.ts";

/** The protocols of live connections. */
export const LIVE_DIALECTS: Readonly<Record<LiveDialectName, LiveDialect>> = { realtime, live };
