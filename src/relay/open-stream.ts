import { GatewayError } from "../canon/error.ts";
import { parseObject } from "../canon/json.ts";
import type { Tap } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import { EventReader } from "./event-reader.ts";
import { answerContext } from "./unary.ts";

/** An upstream stream that has shown its first content, or come to a proper end without any. */
export interface OpenStream {
  attempt: Attempt;
  planned: PlannedOffer<Provider>;
  tap: Tap;
  /** Text for the client that was held until now. */
  held: string;
  reader: EventReader;
}

/**
 * The commit point: until the first content arrives, a failure is still a failure of this offer alone, which another may
 * make good and which else gets a real HTTP status.
 */
export async function openStream(call: Call, attempt: Attempt): Promise<OpenStream> {
  const response = await attempt.open();
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || !/^text\/event-stream/i.test(type)) throw await notAStream(call, attempt, response);
  const tap = call.incoming.dialect.createTap(answerContext(call, attempt.planned));
  const reader = new EventReader(attempt, response.body, tap);
  let held = "";
  while (!tap.contentSeen && tap.state === "open") {
    const text = reader.take(await reader.read().catch((error: unknown) => Promise.reject(attempt.explain(error))));
    if (tap.failure) throw tap.failure;
    if (text === undefined) {
      if (tap.state !== "open") break;
      throw new GatewayError("upstream_failed", "The provider closed the stream before it had answered.");
    }
    held += text;
  }
  return { attempt, planned: attempt.planned, tap, held, reader };
}

/** Some hosts answer a streaming request with a plain JSON error under HTTP 200. */
async function notAStream(call: Call, attempt: Attempt, response: Response): Promise<GatewayError> {
  const text = await attempt.readText(response, 1024 * 1024);
  const body = parseObject(text);
  if (body && ("error" in body || body["type"] === "error")) {
    try {
      call.incoming.dialect.patchAnswer(text, body, answerContext(call, attempt.planned));
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
  return new GatewayError("upstream_failed", "The provider did not stream its answer.");
}
