import { arrayAt, type JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { adaptNative } from "../../../canon/adapt-native.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { mergeExtras, reportExtras } from "../../../canon/extras.ts";
import { Notes } from "../../../canon/notes.ts";
import type { TextPart } from "../../../canon/part.ts";
import type { EncodedRequest, EncodeRequestContext } from "../../codec.ts";
import { takeShared } from "../../reading/shared-fields.ts";
import { fitToolNames, plainNames } from "../../request/fit-tool-names.ts";
import type { ResponsesQuirks } from "../quirks.ts";
import { encodeContent, plainContent } from "./encode-content.ts";
import { encodeFormat } from "./encode-format.ts";
import { encodeItems } from "./encode-items.ts";
import { encodeSettings } from "./encode-settings.ts";
import { encodeTools } from "./encode-tools.ts";
import { loadsTools } from "./loaded-tools.ts";
import { Namespaces } from "./namespaces.ts";
import { encodeReasoning } from "./reasoning.ts";
import { isOwn, type RequestScope, takesBreakpoints } from "./request-scope.ts";

const TOOL_NAMES = plainNames(128);

/** Requests the encrypted value of the reasoning, without which it cannot be returned. */
export const SEALED = "reasoning.encrypted_content";

/** The gateway manages state itself. No provider is asked to store any, or gets any of these fields. */
export const STATE_FIELDS = ["previous_response_id", "conversation", "background", "prompt", "store"] as const;

export function encodeRequest(asked: CanonCall, context: EncodeRequestContext<ResponsesQuirks>): EncodedRequest {
  const notes = new Notes();
  const { fields: shared, rest } = context.quirks.accountFields
    ? takeShared(asked, "chat")
    : { fields: {}, rest: asked };
  const { call, reading: names } = fitToolNames(
    adaptNative(rest, "responses", notes, context.traits.toolSearch),
    TOOL_NAMES,
    notes,
  );
  const scope: RequestScope = { call, context, notes, loaded: loadedNamespaces(call) };
  const { quirks, traits } = context;
  const { text, reading, instruction } = encodeFormat(scope);
  const settings = encodeSettings(scope);
  const { instructions, messages } = encodeSystem(scope);
  const include = new Set([
    ...askedToInclude(scope),
    ...settings.include,
    ...(traits.reasoning && quirks.seals ? [SEALED] : []),
  ]);
  const compacts = !isOwn(scope) && quirks.compaction && call.compaction !== undefined;
  const compaction = { type: "compaction", ...withoutAbsent({ compact_threshold: call.compaction?.afterTokens }) };
  const body: JsonObject = {
    model: context.upstreamModel,
    ...withoutAbsent({ instructions }),
    input: someInput([...messages, ...instruction, ...encodeItems(scope)]),
    ...settings.fields,
    ...encodeReasoning(call.reasoning, { quirks, traits }, notes),
    ...encodeTools(scope),
    ...withoutAbsent({ text }),
    ...(compacts ? { context_management: [compaction] } : {}),
    ...shared,
    store: false,
    ...(include.size === 0 ? {} : { include: [...include] }),
    ...(context.stream ? { stream: true } : {}),
  };
  if (!isOwn(scope)) {
    const mcp = quirks.toolTypes?.includes("mcp") ?? true;
    reportExtras(call, notes, [...(compacts ? ["compaction" as const] : []), ...(mcp ? ["mcp" as const] : [])]);
  }
  return {
    body: isOwn(scope) ? mergeExtras(body, call.extras.filter(goesUp(quirks))) : body,
    notes: notes.list,
    reading: { ...names, ...reading },
  };
}

function loadedNamespaces({ dialect, tools, turns }: CanonCall): Namespaces | undefined {
  if (dialect !== "responses" || !tools.some((tool) => tool.loaded)) return undefined;
  const items = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "native" ? part.raw : [])));
  return new Namespaces(items.filter(loadsTools).flatMap((item) => arrayAt(item, "tools")));
}

/** Providers reject a request without input, even if it has instructions. */
const someInput = (items: readonly JsonObject[]): readonly JsonObject[] =>
  items.length > 0 ? items : [{ type: "message", role: "user", content: "" }];

/** What a client of this dialect requests for the response. */
function askedToInclude(scope: RequestScope): readonly unknown[] {
  const asked = isOwn(scope) ? scope.call.extras.find(({ keys }) => keys[0] === "include")?.value : undefined;
  return Array.isArray(asked) ? asked : [];
}

/** The client's own fields that a provider may get: no state, and client metadata only for its maker (R33). */
const goesUp =
  ({ clientMetadata }: ResponsesQuirks) =>
  ({ keys: [field = ""] }: Extra): boolean =>
    !STATE_FIELDS.some((name) => name === field) &&
    field !== "include" &&
    (clientMetadata || field !== "client_metadata");

/**
 * System texts as `instructions`. Those that a client of this dialect sent as messages stay messages. If one of them ends a prefix to
 * cache, all are messages, because a string cannot carry a mark.
 */
function encodeSystem(scope: RequestScope): { instructions?: string; messages: JsonObject[] } {
  const { system } = scope.call;
  const marked = takesBreakpoints(scope) && system.some(({ cache }) => cache !== undefined);
  const isInstruction = ({ path }: TextPart) => (isOwn(scope) ? path === "instructions" : !marked);
  const texts = encodeContent(system.filter(isInstruction), scope).map((part) => String(part["text"]));
  const others = system.filter((part) => !isInstruction(part));
  const messages = others.map((part) => ({
    type: "message",
    role: "system",
    content: plainContent(encodeContent([part], scope)),
  }));
  return { ...(texts.length === 0 ? {} : { instructions: texts.join("\n\n") }), messages };
}
