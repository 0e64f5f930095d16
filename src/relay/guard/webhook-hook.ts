import { isObject, parseObject, stringAt } from "../../base/json.ts";
import { webhookSignature } from "../../base/webhook-signature.ts";
import type { GuardSettings } from "../../canon/guard/guard-settings.ts";
import { type HookAnswer, HookError, type HookText, type TextHook } from "../../guards/text-hook.ts";
import type { HttpExchange, HttpRequest } from "../../wire/http/http-exchange.ts";
import { sendFailure } from "../../wire/send.ts";
import { requireRunning } from "../derived/while-running.ts";
import type { GuardAsker } from "./guard-asker.ts";
import { HookCircuit } from "./hook-circuit.ts";

const MAX_QUESTION_CHARACTERS = 8 * 1024 * 1024;
const MIN_ANSWER_BYTES = 64 * 1024;
/** Replacements may be longer than what they replace. */
const ANSWER_SHARE = 4;

type WebhookRequest = HttpRequest & { body: string };

/**
 * Asks a webhook. The operator has configured its address, so it may be in a private network; redirects may lead anywhere and are not
 * followed.
 */
export function webhookHook({ url, secret, timeoutMs }: GuardSettings): TextHook {
  const circuit = new HookCircuit();
  return async ({ guard, on, texts }, asker) => {
    const { gateway, call } = asker as GuardAsker;
    const named = withOwnPaths(texts);
    const body = JSON.stringify({ guard, on, texts: named });
    // The caller could make such a question fail.
    if (body.length > MAX_QUESTION_CHARACTERS) return UNREADABLE;
    const headers: Record<string, string> = {
      "content-type": "application/json; charset=utf-8",
      "user-agent": "trivium-guards",
    };
    if (secret !== undefined) headers["x-trivium-signature"] = webhookSignature(body, secret, gateway.clock.wallMs());
    const request: WebhookRequest = { url: url?.reveal() ?? "", headers, body };
    return await circuit.run(call.principal.project, gateway.clock, async () => {
      const answer = await post(request, timeoutMs, asker as GuardAsker);
      return answer === undefined ? UNREADABLE : readAnswer(answer, named);
    });
  };
}

const UNREADABLE: HookAnswer = { verdict: "unreadable", reason: "unreadable: the texts are too large for the webhook" };
const TOO_LARGE = 413;

/** Several texts of one question may have one place in a body, in different events of a stream. */
function withOwnPaths(texts: readonly HookText[]): HookText[] {
  const seen = new Map<string, number>();
  return texts.map(({ path, text }) => {
    const count = (seen.get(path) ?? 0) + 1;
    seen.set(path, count);
    return { path: count === 1 ? path : `${path}#${count}`, text };
  });
}

/** Undefined if the texts are too large. */
async function post(
  request: WebhookRequest,
  timeoutMs: number,
  { gateway: { send, clock }, call }: GuardAsker,
): Promise<string | undefined> {
  requireRunning(call, clock);
  let exchange: HttpExchange | undefined;
  let isLate = false;
  const cancel = clock.after(timeoutMs, () => {
    isLate = true;
    exchange?.close();
  });
  const ending = { clientDisconnected: () => exchange?.close(), callStopped: () => exchange?.close() };
  call.client.check();
  call.client.addListener(ending);
  const read = async (newConnection: boolean): Promise<string | undefined> => {
    exchange = send({ ...request, newConnection });
    const answer = await exchange.answer();
    const { status } = answer;
    if (status < 200 || status > 299) {
      exchange.close();
      if (status === TOO_LARGE) return undefined;
      const why = status >= 300 && status < 400 ? ": redirects are not followed" : "";
      throw new HookError(`the webhook answered ${status}${why}`);
    }
    const most = Math.max(MIN_ANSWER_BYTES, ANSWER_SHARE * request.body.length);
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) {
      size += chunk.length;
      if (size > most) {
        exchange.close();
        throw new HookError(`the webhook answered with more than ${most} bytes`);
      }
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  };
  try {
    return await read(false).catch((thrown: unknown) => {
      // The receiver closed a kept connection as it was reused.
      if (isLate || sendFailure(thrown) !== "stale" || thrown instanceof HookError) throw thrown;
      return read(true);
    });
  } catch (thrown) {
    requireRunning(call, clock);
    if (isLate) throw new HookError(`the webhook did not answer within ${timeoutMs} ms`);
    if (thrown instanceof HookError) throw thrown;
    throw new HookError("the webhook could not be reached", { cause: thrown });
  } finally {
    cancel();
    call.client.removeListener(ending);
  }
}

const MAX_REASON = 200;

/** Anything that is not a valid answer is no answer. */
function readAnswer(text: string, texts: readonly HookText[]): HookAnswer {
  const body = parseObject(text);
  const verdict = stringAt(body, "verdict");
  const reason = stringAt(body, "reason")?.replaceAll(/\p{C}/gu, " ").slice(0, MAX_REASON);
  if (verdict === "allow" || verdict === "block") return { verdict, reason };
  if (verdict !== "replace") throw new HookError("the webhook answered without a known verdict");
  const places = new Map(texts.map(({ path }, place) => [path, place]));
  const replacements = new Map<number, string>();
  const given = body?.["replacements"];
  for (const one of Array.isArray(given) ? (given as unknown[]) : []) {
    const place = isObject(one) ? places.get(stringAt(one, "path") ?? "") : undefined;
    const replacement = stringAt(one, "text");
    if (place === undefined || replacement === undefined)
      throw new HookError("the webhook answered with a replacement for an unknown path");
    replacements.set(place, replacement);
  }
  if (replacements.size === 0) throw new HookError("the webhook answered replace without replacements");
  return { verdict, reason, replacements };
}
