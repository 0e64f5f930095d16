import { GatewayError } from "../canon/error.ts";
import { parseObject } from "../canon/json.ts";
import type { Tap } from "../dialects/dialect.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { EventSplitter } from "../wire/sse.ts";
import type { Attempt } from "./attempt.ts";
import type { Call } from "./call.ts";
import { answerContext } from "./unary.ts";

/** An upstream stream that has shown its first content, or come to a proper end without any. */
export interface OpenStream {
  attempt: Attempt;
  planned: PlannedOffer<Provider>;
  tap: Tap;
  /** Text for the client that was held until now. */
  held: string;
  /** More text for the client; undefined at the end of the upstream's bytes. */
  next(): Promise<string | undefined>;
  /** The answer is whole: lets the upstream's last bytes come in, so that its connection can serve another call. */
  release(): void;
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
  const { next, release } = eventReader(attempt, response.body, tap);
  let held = "";
  while (!tap.contentSeen && tap.state === "open") {
    const text = await next();
    if (tap.failure) throw tap.failure;
    if (text === undefined) {
      if (tap.state !== "open") break;
      throw new GatewayError("upstream_failed", "The provider closed the stream before it had answered.");
    }
    held += text;
  }
  return { attempt, planned: attempt.planned, tap, held, next, release };
}

/** How long an upstream may take to close after its last event before the connection is given up. */
const RELEASE_MS = 1000;

function eventReader(
  attempt: Attempt,
  body: ReadableStream<Uint8Array>,
  tap: Tap,
): Pick<OpenStream, "next" | "release"> {
  const reader = body.getReader();
  const splitter = new EventSplitter();
  let ended = false;
  const release = () => {
    if (ended) return attempt.finish();
    const giveUp = setTimeout(() => attempt.close(), RELEASE_MS);
    reader
      .read()
      .then(({ done }) => (done ? attempt.finish() : attempt.close()))
      .catch(() => attempt.close())
      .finally(() => clearTimeout(giveUp));
  };
  const next = async () => {
    if (ended) return undefined;
    try {
      const { value, done } = await reader.read();
      attempt.hear();
      if (!done) {
        const events = splitter.push(value);
        return events === "" ? "" : tap.push(events);
      }
    } catch (error) {
      throw attempt.explain(error);
    }
    ended = true;
    const rest = splitter.end();
    return tap.state === "open" && rest.trim() !== "" ? tap.pushLast(rest) : undefined;
  };
  return { next, release };
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
