import type { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Clock } from "../../base/clock.ts";
import { parseObject } from "../../base/json.ts";
import { GatewayError, paidFailure } from "../../canon/error.ts";
import type { Tap } from "../../dialects/dialect.ts";
import type { Framing } from "../../providers/provider.ts";
import type { HttpAnswer } from "../../wire/http/http-exchange.ts";
import { answerText } from "../attempt/answer-text.ts";
import type { Attempt } from "../attempt/attempt.ts";
import { EventReader } from "../attempt/event-reader.ts";
import type { AnswerSoFar } from "./answer-so-far.ts";
import { type ClientOutput, MAX_HELD_BYTES } from "./client-output.ts";
import { WitnessedTap } from "./witnessed-tap.ts";

/** What each framing is called in `content-type`. */
const TYPES: Readonly<Record<Framing, RegExp>> = {
  sse: /^text\/event-stream/i,
  "aws-event-stream": /^application\/vnd\.amazon\.eventstream/i,
};

/** An upstream stream after its first content. It may have failed after that, or ended properly without any content. */
export interface OpenStream {
  attempt: Attempt;
  tap: Tap;
  reader: EventReader;
  /** The output for the client so far. */
  held: ByteBuffer;
  /** What the client has received, if another offer may have to continue. */
  soFar: AnswerSoFar | undefined;
}

/**
 * The commit point. Until the first content arrives, a failure concerns only this offer: another offer can replace it, or the
 * client gets a real HTTP status.
 */
export async function openStream(
  attempt: Attempt,
  output: ClientOutput,
  clock: Clock,
  soFar?: AnswerSoFar | undefined,
): Promise<OpenStream> {
  const answer = await attempt.open();
  const type = answer.headers.get("content-type") ?? "";
  const { framing } = attempt.target;
  if (!TYPES[framing].test(type)) throw await notAStream(attempt, answer);
  const made = attempt.lane.createTap();
  const tap = soFar === undefined ? made : new WitnessedTap(made, soFar);
  const reader = new EventReader(attempt, answer, tap, framing, clock);
  const held = output.hold();
  try {
    await readUntilContent(reader, tap, held);
  } catch (error) {
    output.drop(held);
    throw attempt.explain(error);
  }
  return { attempt, tap, reader, held, soFar };
}

async function readUntilContent(reader: EventReader, tap: Tap, held: ByteBuffer): Promise<void> {
  while (!tap.contentSeen && tap.state === "open") {
    const { isBehind } = reader;
    if (isBehind) await reader.ready();
    const chunk = isBehind ? undefined : await reader.read();
    const more = () => (isBehind ? reader.takeMore(held) : reader.takeRest(held));
    const { state, failure } = chunk ? reader.take(chunk, held, held.length) : more();
    if (tap.contentSeen) return;
    // After content it is too late for another offer: the client gets what was sent, then the error (H31).
    // A usage that is sent with every chunk does not report on a failed response.
    if (failure) throw tap.usageRuns ? failure : paidFailure(failure, tap.usage);
    if (!chunk && !isBehind && state === "open")
      throw new GatewayError("upstream_failed", "The provider closed the stream before it sent any content.");
    if (held.length > MAX_HELD_BYTES)
      throw new GatewayError("upstream_failed", `The provider sent ${MAX_HELD_BYTES} bytes without any content.`);
  }
}

/** Some hosts answer a streaming request with a plain JSON error under HTTP 200. */
async function notAStream(attempt: Attempt, answer: HttpAnswer): Promise<GatewayError> {
  const text = answerText(await attempt.readBytes(answer, 1024 * 1024));
  const body = parseObject(text);
  if (body) {
    try {
      attempt.lane.readAnswer(text, body);
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }
  return new GatewayError("upstream_failed", "The provider did not stream its response.");
}
