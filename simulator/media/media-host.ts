import type { Exchange } from "../exchange.ts";
import type { MakeVideo } from "../media-maker/video-options.ts";
import type { MediaJobs } from "./jobs.ts";
import type { MediaLinks } from "./links.ts";

/** What the simulated media hosts share. */
export interface MediaContext {
  jobs: MediaJobs;
  links: MediaLinks;
  /** The simulator's own URL, which links begin with. */
  baseUrl: string;
  nowMs: () => number;
  makeVideo: MakeVideo;
  acceptsKey: (key: string) => boolean;
  /** Whether it is an access token that was given out, and still lives. */
  acceptsToken: (token: string) => boolean;
}

/** The media endpoints of one simulated vendor. Resolves to undefined for other paths, and throws a HostError to refuse. */
export type MediaHost = (exchange: Exchange, context: MediaContext) => Promise<Response | undefined>;
