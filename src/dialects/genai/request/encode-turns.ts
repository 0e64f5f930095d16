import type { JsonObject } from "../../../base/json.ts";
import type { Turn } from "../../../canon/call.ts";
import { fieldPath } from "../../../canon/field-names.ts";
import type { Part, ToolCallPart } from "../../../canon/part.ts";
import { resultsBeforeSystem, resultsInCallOrder } from "../../../canon/result-order.ts";
import { meansNoArguments } from "../../answer/means-no-arguments.ts";
import { CONTINUE_PROMPT } from "../../request/continue-prompt.ts";
import { encodeArguments } from "../arguments.ts";
import { encodePromptPart } from "../content.ts";
import { restoreExtras } from "../part-extras.ts";
import { BYPASS_SIGNATURE } from "../signature.ts";
import { type EncodeScope, fieldPathOf, noteCacheMark, pathOf, upstreamSignature } from "./encode-scope.ts";
import { encodeToolResult } from "./tool-results.ts";

interface Content {
  role: "user" | "model";
  parts: JsonObject[];
  extras: JsonObject;
}

/** The provider rejects content without text. */
const WORDLESS = { text: " " };

/** The conversation for the upstream: roles alternate, the first is the user, and no content is empty. */
export function encodeTurns(scope: EncodeScope): JsonObject[] {
  const writer = new ContentsWriter(scope);
  for (const turn of resultsInCallOrder(resultsBeforeSystem(scope.call.turns))) writer.turn(turn);
  return writer.end();
}

class ContentsWriter {
  readonly #scope: EncodeScope;
  readonly #contents: Content[] = [];
  /** Function names by call id. */
  readonly #names = new Map<string, string>();
  /** The paths of call signatures in the client's request. */
  readonly #positions = new Map<JsonObject, string>();
  /** Media of results, which must not come between two results. */
  #followers: JsonObject[] = [];

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
    const role = turn.role === "assistant" ? "model" : "user";
    for (const part of turn.parts) {
      for (const wire of this.#part(part, turn.role)) this.#add(role, wire);
    }
    const last = this.#contents.at(-1);
    if (this.#scope.call.dialect === "genai" && last?.role === role) Object.assign(last.extras, turn.extras);
  }

  end(): JsonObject[] {
    this.#flush();
    const { call, notes } = this.#scope;
    this.#askToGoOn();
    if (this.#contents[0]?.role !== "user") {
      const path = fieldPath(call.fieldNames, undefined, "turns");
      notes.approximated(
        path,
        "this provider requires the first message to be from the user; a blank one was inserted",
      );
      this.#contents.unshift({ role: "user", parts: [WORDLESS], extras: {} });
    }
    return this.#contents.map(({ role, parts, extras }) => ({ role, parts: this.#signed(role, parts), ...extras }));
  }

  /** The last message is a prefill (contract 2.10), which this protocol does not support. */
  #askToGoOn(): void {
    const { call, context, notes } = this.#scope;
    const last = this.#contents.at(-1);
    if (call.dialect !== "messages" || last?.role !== "model" || context.traits.prefill) return;
    if (last.parts.some((part) => part["functionCall"] !== undefined)) return;
    notes.approximated(
      call.turns.at(-1)?.path ?? "messages",
      "the model cannot continue a partial response; an instruction to continue was added",
    );
    this.#add("user", { text: CONTINUE_PROMPT });
  }

  /** Adjacent contents of one role are joined: some clients send a streamed response back chunk by chunk. */
  #add(role: Content["role"], part: JsonObject): void {
    if (part["functionResponse"] === undefined) this.#flush();
    const last = this.#contents.at(-1);
    if (last?.role === role) last.parts.push(part);
    else this.#contents.push({ role, parts: [part], extras: {} });
  }

  #flush(): void {
    const followers = this.#followers;
    this.#followers = [];
    for (const part of followers) this.#add("user", part);
  }

  #part(part: Part, role: Turn["role"]): JsonObject[] {
    const scope = this.#scope;
    switch (part.type) {
      case "text":
        if (role !== "system") return encodePromptPart(part, scope);
        return part.text === "" ? [] : [{ text: `<system>\n${part.text}\n</system>` }];
      case "refusal":
        return part.text === "" ? [] : [{ text: part.text }];
      case "tool-call":
        return [this.#call(part)];
      case "tool-result": {
        const name = this.#names.get(part.callId) ?? part.name ?? part.callId;
        const encoded = encodeToolResult(part, name, scope);
        this.#followers.push(...encoded.followers);
        return [encoded.part];
      }
      case "server-tool-call":
      case "server-tool-result":
        scope.notes.dropped(pathOf(part), "this provider does not accept searches of other providers");
        return [];
      default:
        return encodePromptPart(part, scope);
    }
  }

  #call(part: ToolCallPart): JsonObject {
    const scope = this.#scope;
    const { notes, context, call } = scope;
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
    const functionCall = { ...(context.quirks.functionIds ? { id: part.id } : {}), name: part.name, args };
    const wire = { functionCall, ...upstreamSignature(part, scope) };
    const own = call.dialect === "genai" ? restoreExtras(wire, part.extras) : wire;
    this.#positions.set(own, fieldPathOf(scope, part, "signature"));
    return own;
  }

  /** Models that require signatures require one on the first call of each response. */
  #signed(role: Content["role"], parts: readonly JsonObject[]): readonly JsonObject[] {
    const { context, notes } = this.#scope;
    if (role !== "model" || !context.traits.demandsSignatures) return parts;
    const first = parts.findIndex((part) => part["functionCall"] !== undefined);
    const call = parts[first];
    if (call === undefined || call["thoughtSignature"] !== undefined) return parts;
    notes.approximated(
      this.#positions.get(call) ?? "contents",
      "this model requires a signature; the documented placeholder was sent",
    );
    return parts.with(first, { ...call, thoughtSignature: BYPASS_SIGNATURE });
  }
}
