import { GatewayError } from "../../canon/error.ts";
import { addNote } from "../../canon/notes.ts";
import type { Usage } from "../../canon/usage.ts";
import type { ClientAnswer } from "../../dialects/dialect.ts";
import { checkJson } from "../../guards/answer-check.ts";
import { GuardBlockedError } from "../../guards/guard-errors.ts";
import { CallAnswerContext } from "../answer/answer-context.ts";
import type { Call, LaneAttempt } from "../call.ts";
import { whileRunning } from "../derived/while-running.ts";
import type { Gateway } from "../gateway.ts";
import { GUARD_STOP } from "./filter-stop.ts";
import { guardRefusal } from "./guard-refusal.ts";
import type { GuardRun } from "./guard-run.ts";
import { NO_LOGPROBS } from "./guard-tap.ts";
import { keepChecked } from "./keep-checked.ts";

/** A whole response as the guards leave it. A stopped one is empty, with the protocol's own reason. */
export async function guardAnswer(
  call: Call,
  run: GuardRun,
  gateway: Gateway,
  answer: ClientAnswer,
): Promise<ClientAnswer> {
  const attempt = call.attempt as LaneAttempt | undefined;
  const guards = run.inForce.response;
  if (attempt === undefined || guards.length === 0 || call.incoming.verb !== "generate") return answer;
  const context = { tally: run.response(attempt), nowMs: gateway.clock.nowMs, asker: { gateway, call, run } };
  try {
    const document = await whileRunning(checkJson(guards, answer.text, context), call, gateway.clock);
    if (document.hasDroppedTokens) addNote(attempt.notes, { path: "logprobs", action: "dropped", reason: NO_LOGPROBS });
    if (run.inForce.actsOnResponse) await keepChecked(call, run, attempt, (json) => document.applyTo(json));
    return { ...answer, text: document.write() };
  } catch (thrown) {
    const refusal = guardRefusal(thrown, "response", run);
    if (thrown instanceof GuardBlockedError) return stopped(call, gateway, attempt, answer);
    throw paid(refusal, answer.usage);
  }
}

/** The provider has done its work, which is billed. No other is asked. */
const paid = (thrown: unknown, usage: Usage | undefined): unknown =>
  thrown instanceof GatewayError ? thrown.withFailure({ usage: usage ?? {} }) : thrown;

function stopped(call: Call, gateway: Gateway, attempt: LaneAttempt, { usage }: ClientAnswer): ClientAnswer {
  const { dialect } = call.incoming;
  const context = Object.assign(new CallAnswerContext(call, gateway, attempt, { isEnding: true }), {
    estimateInputTokens: () => dialect.requests.estimateTokens(call.body),
    note: () => {},
  });
  const reply = { parts: [], stop: GUARD_STOP, ...(usage === undefined ? {} : { usage }) };
  return { text: dialect.codec.encodeResponse(reply, context), usage, stop: GUARD_STOP };
}
