import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Ending, play } from "../play.ts";
import type { Frame, IncomingCall, ReadCall, SimulatedModel, SimulatorState, TextAdapter } from "./adapter.ts";
import { shorten } from "./answer-text.ts";
import { streamSteps, wholeSteps } from "./deliver.ts";
import { findModel } from "./find-model.ts";
import type { Plan } from "./plan.ts";
import { planAnswer } from "./plan-answer.ts";
import { type Traits, traitsOf } from "./traits.ts";

const GARBAGE_PAGE =
  "<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1><p>This page of the simulator is not an answer.</p></body></html>\n";
const MAX_FLAKY_ENTRIES = 1_000;

/** The model of the call, or the host's own not-found. */
export function modelOf(adapter: TextAdapter, call: IncomingCall): SimulatedModel {
  const facts = findModel(call.modelName);
  const traits = traitsOf(call.modelName);
  if (facts === undefined || traits === undefined) throw adapter.notFound(call);
  return { facts, traits };
}

/** Counts this meeting of key and model; true when it is one of those that fail. */
function meetsFlaky(state: SimulatorState, call: IncomingCall, times: number): boolean {
  const who = `${call.modelName} ${call.key}`;
  const met = state.flaky.get(who) ?? 0;
  state.flaky.delete(who);
  state.flaky.set(who, (met + 1) % (times + 1));
  for (const oldest of state.flaky.keys()) {
    if (state.flaky.size <= MAX_FLAKY_ENTRIES) break;
    state.flaky.delete(oldest);
  }
  return met < times;
}

function planOf(
  adapter: TextAdapter,
  call: IncomingCall,
  model: SimulatedModel,
  read: ReadCall,
  state: SimulatorState,
): Plan {
  const space = `${adapter.family} ${model.facts.name}`;
  const { contextLength } = model.facts;
  return planAnswer({
    prompt: read.prompt,
    traits: model.traits,
    maxOutputTokens: model.facts.maxOutputTokens,
    checkLength: (tokens) => {
      if (tokens > contextLength) throw adapter.tooLong(tokens, contextLength);
    },
    countCached: (units) =>
      adapter.cachesMarkedOnly ? state.prefixes.explicit(space, units) : state.prefixes.implicit(space, units),
    echo: model.traits.answer === "echo" ? echoText(call) : "",
  });
}

function paceOf(traits: Traits, state: SimulatorState): (frame: Frame) => number {
  if (traits.answer === "huge") return () => 0;
  const { msPerToken } = traits;
  return msPerToken === undefined ? () => state.tokenDelayMs : (frame) => frame.tokens * msPerToken;
}

/** Answers one call, or throws the HostError that is its answer. `ended` is called once the body has left. */
export async function answerCall(
  adapter: TextAdapter,
  call: IncomingCall,
  state: SimulatorState,
  signal: AbortSignal,
  ended: (how: Ending) => void,
): Promise<Response> {
  const model = modelOf(adapter, call);
  const { traits } = model;
  const { fault } = traits;
  if (fault?.kind === "fail") throw adapter.failure(fault.failure, call.modelName);
  if (fault?.kind === "flaky" && meetsFlaky(state, call, fault.times)) throw adapter.failure("503", call.modelName);
  if (fault?.kind === "late") await state.wait(fault.seconds * 1_000, signal);
  if (signal.aborted) {
    ended("client gone");
    return new Response(null, { status: 499 });
  }
  if (fault?.kind === "garbage") {
    ended("finished");
    return new Response(GARBAGE_PAGE, { headers: { "content-type": "text/html; charset=utf-8" } });
  }
  const read = traits.answer === "echo" ? adapter.readUnchecked(call, model) : adapter.read(call, model);
  const rendered = read.render(planOf(adapter, call, model, read, state));
  const harmful = fault?.kind === "late" || fault?.kind === "flaky" ? undefined : fault;
  if (read.stream) {
    const body = play(streamSteps(rendered, harmful, paceOf(traits, state)), signal, ended, state.wait);
    return new Response(body, { headers: { ...rendered.headers, "content-type": rendered.frameType } });
  }
  if (harmful?.kind === "error-in-stream") throw adapter.failure("500", call.modelName);
  const headers = { ...rendered.headers, "content-type": "application/json; charset=UTF-8" };
  if (harmful !== undefined) {
    const body = play(
      wholeSteps(rendered.whole(), harmful, adapter.failure("503", call.modelName).body),
      signal,
      ended,
      state.wait,
    );
    return new Response(body, { headers });
  }
  if (traits.msPerToken !== undefined) {
    const tokens = rendered.frames().reduce((sum, frame) => sum + frame.tokens, 0);
    await state.wait(tokens * traits.msPerToken, signal);
  }
  ended(signal.aborted ? "client gone" : "finished");
  return new Response(rendered.whole(), { headers });
}

const MAX_STRING_CHARACTERS = 2_000;
const CREDENTIALS = new Set(["authorization", "api-key", "x-amz-security-token", "x-api-key", "x-goog-api-key"]);

/** Headers by name; a credential shows its scheme and length, never itself. */
function visibleHeaders(headers: Headers): JsonObject {
  const visible: JsonObject = {};
  for (const [name, value] of headers) {
    const scheme = /^\w+ /.exec(value)?.[0] ?? "";
    visible[name] = CREDENTIALS.has(name) ? `${scheme}[${value.length - scheme.length} characters]` : value;
  }
  return visible;
}

function shortened(value: Json): Json {
  if (typeof value === "string") {
    return value.length <= MAX_STRING_CHARACTERS ? value : `${shorten(value, 40)} (${value.length} characters)`;
  }
  if (Array.isArray(value)) return value.map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member)]));
}

/** What arrived, for tests that ask what a gateway really sent. */
function echoText(call: IncomingCall): string {
  return JSON.stringify({
    simulator: "trivium",
    method: call.method,
    path: call.url.pathname,
    query: Object.fromEntries([...call.url.searchParams].filter(([name]) => name !== "key")),
    headers: visibleHeaders(call.headers),
    body: shortened(call.body),
  });
}
