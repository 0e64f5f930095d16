import { type JsonObject, parseObject } from "../../base/json.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { GatewayError } from "../../canon/error.ts";
import { weightOfParts } from "../../canon/reply.ts";
import { completionTokens, type Usage } from "../../canon/usage.ts";
import { requireSmallAnswer } from "../../dialects/answer/answer-bounds.ts";
import type { ClientAnswer } from "../../dialects/dialect.ts";
import type { TextTarget } from "../../routing/target.ts";
import { UnreadTexts } from "../../wire/unread-texts.ts";
import { answerText } from "../attempt/answer-text.ts";
import type { Attempt } from "../attempt/attempt.ts";
import { tryPlan } from "../attempt/hedge.ts";
import { writesOnlyText } from "../attempt/writes-only-text.ts";
import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardAnswer } from "../guard/guard-answer.ts";
import { outputLimit } from "../request/output-limit.ts";
import { settle } from "../settle/settle.ts";
import { tokensCover } from "../settle/tokens-cover.ts";
import { UNSHOWN_TOKENS } from "../settle/usage-bounds.ts";
import { answerHeaders } from "./answer-headers.ts";
import { identifiedResponse } from "./identity-headers.ts";

/** No text comes near this size; log probabilities of thousands of tokens do. */
const MAX_TEXT_BYTES = 32 * 1024 * 1024;
/** Images and audio in base64 make responses of this size possible; nothing legitimate is larger. */
const MAX_MEDIA_BYTES = 128 * 1024 * 1024;
/** A longer response is read, parsed and translated in separate turns of the event loop (S18). */
const LARGE_CHARACTERS = 1024 * 1024;

/** The length in bytes up to which long texts are set aside. Nobody waits for what is done with as much as that. */
const MAX_FORWARDED = 256 * 1024;
/** At most, of a unit of UTF-16. */
const BYTES_PER_CHARACTER = 3;

/** Reads, patches, settles and sends a whole response. */
export async function relayUnary(call: Call, gateway: Gateway, plan: readonly TextTarget[]): Promise<Response> {
  const whole = await tryPlan(call, gateway, plan, (attempt) => wholeAnswer(call, attempt));
  const { answer: made, characters } = whole;
  const { guards } = call;
  const answer = guards === undefined ? made : await guardAnswer(call, guards, gateway, made);
  await settle(call, gateway, {
    outcome: call.client.disconnected ? "client_gone" : "ok",
    whole: true,
    produced: true,
    usage: answer.usage,
    generatedCharacters: characters,
    reasoningSeen: false,
    stop: answer.stop,
    firstContentAtMs: gateway.clock.nowMs(),
  });
  const sent = whole.bytes ?? answer.text;
  call.capture?.answered(sent);
  if (call.keeper !== undefined && !call.client.disconnected) {
    call.keeper.add(sent);
    call.keeper.ended();
  }
  return identifiedResponse(sent, answerHeaders(call, "application/json"));
}

interface WholeAnswer {
  answer: ClientAnswer;
  /** What is sent, if the text of the answer lacks its long texts. */
  bytes?: Buffer;
  /** Counted only if the upstream reports no usage, or one that looks too small or too large for the response. */
  characters: number | undefined;
}

/** The approximate size of a response around its text. */
const ENVELOPE = 4096;

/** Whether a usage is plausible without counting the text of a response that has between so many characters. */
function isBelievable(call: Call, usage: Usage | undefined, least: number, most = least): boolean {
  if (usage?.output === undefined) return false;
  const tokens = completionTokens(usage);
  // A host that generated more than it was allowed to is billed by its text.
  if (tokens > outputLimit(call, Number.MAX_SAFE_INTEGER)) return false;
  return tokensCover(tokens, Math.max(1, most - ENVELOPE)) && tokens <= Math.max(UNSHOWN_TOKENS, least);
}

async function wholeAnswer(call: Call, attempt: Attempt): Promise<WholeAnswer> {
  const maxBytes = writesOnlyText(attempt.target.model) ? MAX_TEXT_BYTES : MAX_MEDIA_BYTES;
  const reading = attempt.readBytes(await attempt.open(), maxBytes);
  const bytes = reading instanceof Buffer ? reading : await reading;
  if (!call.hedged) call.timer.to("gateway");
  attempt.finish();
  const forwarded = forwardTexts(call, attempt, bytes);
  if (forwarded !== undefined) return forwarded;
  const text = answerText(bytes);
  requireSmallAnswer(text);
  if (text.length > LARGE_CHARACTERS) await nextTurn();
  const body = parseObject(text);
  if (!body) throw new GatewayError("upstream_failed", "The provider's response is not JSON.");
  if (text.length > LARGE_CHARACTERS) await nextTurn();
  if (call.incoming.verb !== "generate") return { answer: attempt.lane.readCount(text, body), characters: 0 };
  const answer = attempt.lane.readAnswer(text, body);
  const counted = isBelievable(call, answer.usage, text.length);
  return { answer, characters: counted ? undefined : answerCharacters(body, attempt.target) };
}

/** Reads a response without its long texts, which are forwarded as they came. Undefined if it must be read as a whole. */
function forwardTexts(call: Call, attempt: Attempt, bytes: Buffer): WholeAnswer | undefined {
  const { lane, target } = attempt;
  if (lane.unreadTexts === undefined || call.incoming.verb !== "generate" || bytes.length > MAX_FORWARDED)
    return undefined;
  const texts = UnreadTexts.of(bytes, lane.unreadTexts.members);
  if (texts === undefined) return undefined;
  requireSmallAnswer(texts.rest);
  const body = parseObject(texts.rest);
  if (body === undefined || !lane.unreadTexts.isCounted(body)) return undefined;
  const answer = lane.readAnswer(texts.rest, body);
  const sent = texts.putBack(answer.text);
  if (sent === undefined) return undefined;
  const fewest = Math.floor(bytes.length / BYTES_PER_CHARACTER);
  if (isBelievable(call, answer.usage, fewest, bytes.length)) return { answer, bytes: sent, characters: undefined };
  const text = answerText(bytes);
  const whole = isBelievable(call, answer.usage, text.length) ? undefined : parseObject(text);
  return { answer, bytes: sent, characters: whole && answerCharacters(whole, target) };
}

/** How many characters a complete response contains, for hosts that do not report usage. */
function answerCharacters(body: JsonObject, { codec, origin, quirks }: TextTarget): number {
  try {
    const { parts } = codec.decodeResponse(body, {
      origin,
      quirks,
      reading: {},
      // The id is not used: the reply is only counted.
      makeId: () => "",
    });
    return weightOfParts(parts);
  } catch (error) {
    // A response that the canon rejects, such as one without candidates, has no text.
    if (error instanceof GatewayError) return 0;
    throw error;
  }
}
