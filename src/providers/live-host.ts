import type { ProviderSettings } from "../config/config.ts";
import type { LiveQuirks } from "../dialects/live/quirks.ts";
import type { LiveDialectName } from "../dialects/live-dialect.ts";

/** How one protocol of live connections is reached at a provider. */
export interface LiveHost {
  /** The path and query below the base URL. */
  path: (model: string, settings: ProviderSettings) => string;
  /** The whole name of the model, where the protocol has a longer one than the offer. */
  model?: (model: string, settings: ProviderSettings) => string;
  quirks?: Partial<LiveQuirks>;
  /** Used only for offers that name the protocol. */
  byName?: true;
}

export type LiveHosts = Readonly<Partial<Record<LiveDialectName, LiveHost>>>;

const query = (model: string): string => new URLSearchParams({ model }).toString();

/** The path that the vendors' SDKs add to a base URL with a version. */
export const REALTIME_HOST: LiveHost = { path: (model) => `/realtime?${query(model)}` };

const GEMINI_LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

export const LIVE_HOST: LiveHost = { path: () => GEMINI_LIVE_PATH };

/** For offers that name a protocol at a provider that declares none: many hosts imitate the vendors' addresses. */
export const USUAL_LIVE_HOSTS: LiveHosts = {
  realtime: { ...REALTIME_HOST, byName: true },
  live: { ...LIVE_HOST, byName: true },
};
