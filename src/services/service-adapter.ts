import type { GatewayError } from "../canon/error.ts";
import type { LimitHeaders } from "../dialects/codec.ts";
import type { MediaAnswer } from "../media/adapter.ts";

/** What the adapters of all services have: pure functions that write one provider's requests, and read its answers. */
export interface ServiceAdapter {
  /** Whether it serves a model, by the provider's name of it. */
  serves: (model: string) => boolean;
  /** The error in an answer whose status is not 2xx. */
  error: (answer: MediaAnswer) => GatewayError;
  /** What was begun goes on without its client, and only its end says what is billed; absent where it is ended soon. */
  goesOn?: true;
  /** The headers by which the host says what is left of its limits. */
  limitHeaders?: readonly LimitHeaders[];
}
