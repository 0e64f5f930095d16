import type { JsonObject } from "../../../base/json.ts";
import type { Turn } from "../../../canon/call.ts";
import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../../../canon/part.ts";
import { resultsBeforeSystem, resultsInCallOrder } from "../../../canon/result-order.ts";
import { meansNoArguments } from "../../answer/means-no-arguments.ts";
import { encodeArguments } from "../../genai/arguments.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { encodeContent } from "./encode-content.ts";
import { type EncodeScope, fieldPathOf, isOwn, noteCacheMark, pathOf, upstreamSignature } from "./encode-scope.ts";

/** The conversation for the upstream. Adjacent contents of one side share a step. */
export function encodeSteps(scope: EncodeScope): JsonObject[] {
  const writer = new StepsWriter(scope);
  for (const turn of resultsInCallOrder(resultsBeforeSystem(scope.call.turns))) writer.turn(turn);
  return writer.end();
}

type Spoken = "user_input" | "model_output";

class StepsWriter {
  readonly #scope: EncodeScope;
  readonly #steps: JsonObject[] = [];
  /** Function names by call id. */
  readonly #names = new Map<string, string>();
  #open: { type: Spoken; content: JsonObject[] } | undefined;

  constructor(scope: EncodeScope) {
    this.#scope = scope;
  }

  turn(turn: Turn): void {
    const { notes } = this.#scope;
    if (turn.name !== undefined)
      notes.dropped(fieldPathOf(this.#scope, turn, "name"), "this protocol has no participant names");
    if (turn.role === "system" && turn.parts.some((part) => part.type === "text")) {
      notes.approximated(
        turn.path,
        "this protocol has no system messages within a conversation; sent as a user message in tags",
      );
    }
    this.#open = undefined;
    for (const part of turn.parts) this.#part(part, turn.role);
  }

  end(): JsonObject[] {
    this.#askToGoOn();
    return this.#steps;
  }

  /** The last message is a prefill (contract 2.10), which this protocol does not support. */
  #askToGoOn(): void {
    const { call, context, notes } = this.#scope;
    if (call.dialect !== "messages" || context.traits.prefill || this.#open?.type !== "model_output") return;
    notes.approximated(
      call.turns.at(-1)?.path ?? "messages",
      "the model cannot continue a partial response; an instruction to continue was added",
    );
    this.#say("user_input", [{ type: "text", text: CONTINUE_PROMPT }]);
  }

  #say(type: Spoken, contents: readonly JsonObject[]): void {
    if (contents.length === 0) return;
    if (this.#open?.type !== type) {
      const content: JsonObject[] = [];
      this.#open = { type, content };
      this.#steps.push({ type, content });
    }
    this.#open.content.push(...contents);
  }

  #step(step: JsonObject): void {
    this.#open = undefined;
    this.#steps.push(step);
  }

  #part(part: Part, role: Turn["role"]): void {
    const scope = this.#scope;
    const side: Spoken = role === "assistant" ? "model_output" : "user_input";
    switch (part.type) {
      case "text":
        if (role === "assistant") this.#signText(part);
        if (role === "system") this.#say(side, tagged(part.text));
        else this.#say(side, encodeContent(part, scope));
        return;
      case "refusal":
        if (part.text !== "") this.#say(side, [{ type: "text", text: part.text }]);
        return;
      case "reasoning":
        this.#reasoning(part);
        return;
      case "tool-call":
        this.#call(part);
        return;
      case "tool-result":
        this.#step(this.#result(part));
        return;
      case "server-tool-call":
      case "server-tool-result":
        scope.notes.dropped(pathOf(part), "this provider does not accept searches of other providers");
        return;
      case "native":
        // A step, unless it was found inside one.
        if (part.dialect === OWN_ORIGIN && role === "assistant") this.#step(part.raw);
        else this.#say(side, encodeContent(part, scope));
        return;
      default:
        this.#say(side, encodeContent(part, scope));
    }
  }

  /** Hosts of this protocol sign thoughts and calls, not texts. */
  #signText(part: Part & { type: "text" }): void {
    if (part.signature === undefined) return;
    this.#scope.notes.dropped(
      fieldPathOf(this.#scope, part, "signature"),
      "only the provider that created the signature can read it",
    );
  }

  /** Thoughts are sent back to their origin: signed by the target, or unsigned but from this protocol. */
  #reasoning(part: ReasoningPart): void {
    const scope = this.#scope;
    const { signature } = part;
    const theirs = signature === undefined ? isOwn(scope) : signature.origin === scope.context.origin;
    if (!theirs) {
      scope.notes.dropped(pathOf(part), "only the provider that created the reasoning can read it");
      return;
    }
    const summary = part.text === "" ? {} : { summary: [{ type: "text", text: part.text }] };
    this.#step({
      type: "thought",
      ...upstreamSignature(part, scope),
      ...summary,
      ...(isOwn(scope) ? part.extras : {}),
    });
  }

  #call(part: ToolCallPart): void {
    const scope = this.#scope;
    const { notes } = scope;
    noteCacheMark(part, scope);
    this.#names.set(part.id, part.name);
    const { args, broken } = encodeArguments(part);
    if (broken)
      notes.approximated(pathOf(part), "the call's arguments are not a JSON object; an empty object was sent");
    if (meansNoArguments(part)) {
      notes.approximated(pathOf(part), `the call's arguments are ${part.input.trim()}; an empty object was sent`);
    }
    if (part.custom)
      notes.approximated(pathOf(part), "this protocol has no free-text tools; the text was sent as the only argument");
    this.#step({
      type: "function_call",
      id: part.id,
      name: part.name,
      arguments: args,
      ...upstreamSignature(part, scope),
      ...(isOwn(scope) ? part.extras : {}),
    });
  }

  #result(part: ToolResultPart): JsonObject {
    const scope = this.#scope;
    noteCacheMark(part, scope);
    const content = part.content.flatMap((one) => encodeContent(one, scope));
    const texts = content.flatMap((one) => (one["type"] === "text" ? [String(one["text"])] : []));
    const isText = texts.length === content.length;
    const result = isText ? (part.response ?? texts.join("\n")) : content;
    return {
      type: "function_result",
      call_id: part.callId,
      name: this.#names.get(part.callId) ?? part.name ?? part.callId,
      ...(part.isError ? { is_error: true } : {}),
      result,
      ...(isOwn(scope) ? part.extras : {}),
    };
  }
}

const tagged = (text: string): JsonObject[] =>
  text === "" ? [] : [{ type: "text", text: `<system>\n${text}\n</system>` }];
