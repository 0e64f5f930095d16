import type { GatewayError } from "../canon/error.ts";
import type { LimitHeaders } from "../dialects/codec.ts";
import type { MediaAnswer } from "../media/adapter.ts";

/** The interface of all service adapters: pure functions that write one provider's requests and read its responses. */
export interface ServiceAdapter {
  /** Whether it serves a model, by the provider's name of it. */
  serves: (model: string) => boolean;
  /** The error in a response whose status is not 2xx. */
  error: (answer: MediaAnswer) => GatewayError;
  /** Work continues without its client, and only its end reports what is billed; absent if it is stopped soon. */
  goesOn?: true;
  /** The headers that report what is left of the host's limits. */
  limitHeaders?: readonly LimitHeaders[];
}
