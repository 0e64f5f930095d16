import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { adaptNative } from "../../../canon/adapt-native.ts";
import { cachesAll, withFallingAges, withHourAges } from "../../../canon/cache-marks.ts";
import type { CanonCall } from "../../../canon/call.ts";
import { mergeExtras, reportExtras } from "../../../canon/extras.ts";
import { fieldPath } from "../../../canon/field-names.ts";
import { joinTexts } from "../../../canon/join-texts.ts";
import { Notes } from "../../../canon/notes.ts";
import type { Tool } from "../../../canon/tool.ts";
import { clampOutput } from "../../../canon/traits.ts";
import type { EncodedRequest, EncodeRequestContext } from "../../codec.ts";
import { fitToolNames, plainNames } from "../../request/fit-tool-names.ts";
import { unboundThinking } from "../bound-thinking.ts";
import { CacheMarks, encodeCache } from "../cache.ts";
import type { MessagesOptions } from "../options.ts";
import type { MessagesQuirks } from "../quirks.ts";
import { encodeFormat } from "./answer-format.ts";
import { COMPACTION_BETA, encodeCompaction, raisesThreshold } from "./context-management.ts";
import { type EncodedMessage, encodeSystem, encodeTurns, lacksThinking } from "./encode-turns.ts";
import { encodeServer, MCP_BETA } from "./mcp-servers.ts";
import { DEFAULT_OUTPUT, encodeReasoning } from "./reasoning.ts";
import { RequestContent } from "./request-content.ts";
import { encodeSettings } from "./settings.ts";
import { allowedNames, askedInWords, encodeToolChoice, forcesCall } from "./tool-choice.ts";
import { encodeTool } from "./tools.ts";

const TOOL_NAMES = plainNames(128);

export function encodeRequest(asked: CanonCall, context: EncodeRequestContext<MessagesQuirks>): EncodedRequest {
  const { traits, quirks } = context;
  const notes = new Notes();
  const own = asked.dialect === "messages";
  const joined = joinTexts(
    own ? asked : withFallingAges(withHourAges(adaptNative(asked, "messages", notes, traits.toolSearch), notes), notes),
  );
  const { call: fitted, reading: names } = fitToolNames(joined, TOOL_NAMES, notes);
  const inWords = !own && traits.rejectsForcedTools === true ? askedInWords(fitted, notes) : undefined;
  const call = inWords?.call ?? fitted;
  const marks = new CacheMarks();
  const compacts = !own && quirks.compaction && traits.compaction === true && call.compaction !== undefined;
  if (!own)
    reportExtras(call, notes, [
      ...(compacts ? ["compaction" as const] : []),
      ...(quirks.mcpServers ? ["mcp" as const] : []),
    ]);
  const compaction = compacts ? call.compaction : undefined;
  if (compaction !== undefined && raisesThreshold(compaction)) {
    notes.approximated(
      call.paths.compaction ?? "compaction",
      "this provider compacts after 50000 tokens at the earliest",
    );
  }
  const knowsSchemas = quirks.structuredOutput && traits.structuredOutput !== false;
  const { format, standIn, instruction, reading } = encodeFormat(call, knowsSchemas, notes);

  const allowed = allowedNames(call, notes);
  const tools = call.tools
    .filter((tool) => !(own && tool.loaded) && (allowed === undefined || !("name" in tool) || allowed.has(tool.name)))
    .flatMap((tool) =>
      encodeTool(tool, {
        call,
        strict: knowsSchemas,
        mcp: quirks.mcpServers,
        hosted: quirks.hostedTools,
        upstreamName: context.upstreamName,
        notes,
        marks,
      }),
    );
  const content = new RequestContent(call, context, notes, marks);
  const added = [instruction, inWords?.instruction].flatMap((text) => (text ? [{ type: "text", text }] : []));
  const system = [...encodeSystem(call, content), ...added];
  const messages = encodeTurns(call, content, context, notes);
  marks.limit(notes, cachesAll(call) ? 1 : 0);

  const limit = outputLimit(call, context, notes);
  const obstacle = whyNotThink({
    own,
    standsIn: standIn !== undefined,
    mustCall: forcesCall(call) && tools.length > 0,
    budgeted: traits.reasoningForm === undefined || traits.reasoningForm === "budget",
    messages,
  });
  const reasoning = encodeReasoning(call, { traits, notes, ...limit, obstacle });
  const { thinking, effort, maxTokens } = reasoning;
  const unbound = unboundThinking({ thinking, messages }, context);
  if (unbound !== undefined) notes.list.push(unbound.note);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const choice = encodeToolChoice(call, {
    notes,
    hasTools: tools.length > 0,
    standIn: reading.structuredTool,
  });

  const servers = own || !quirks.mcpServers ? [] : call.tools.flatMap(serverOf);
  const betas = [...(servers.length === 0 ? [] : [MCP_BETA]), ...(compacts ? [COMPACTION_BETA] : [])];
  const offered = standIn === undefined ? tools : [...tools, standIn];
  const outputConfig = withoutAbsent({ effort, format });
  const body: JsonObject = withoutAbsent({
    model: context.upstreamModel,
    max_tokens: maxTokens,
    stream: context.stream ? true : undefined,
    tools: offered.length === 0 ? undefined : offered,
    tool_choice: choice,
    system: system.length === 0 ? undefined : system,
    messages,
    thinking: unbound?.thinking ?? thinking,
    output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
    ...encodeSettings(call, traits, thinks, notes),
    context_management: compaction && encodeCompaction(compaction),
    mcp_servers: servers.length === 0 ? undefined : servers.map(encodeServer),
    cache_control: call.cache !== undefined && cachesAll(call) ? encodeCache(call.cache) : undefined,
  });
  return {
    body: own ? mergeExtras(body, call.extras) : body,
    notes: notes.list,
    reading: { ...names, ...reading },
    ...(betas.length === 0 ? {} : { options: { betas } satisfies MessagesOptions }),
    ...(unbound === undefined ? {} : { headers: unbound.headers }),
  };
}

const serverOf = (tool: Tool) => (tool.type === "native" && tool.means?.type === "mcp" ? [tool.means] : []);

interface Circumstances {
  /** The client uses this dialect too, so the host itself reports what is not allowed. */
  own: boolean;
  /** A tool replaces the response schema. */
  standsIn: boolean;
  mustCall: boolean;
  /** The model takes its reasoning effort as a token budget. */
  budgeted: boolean;
  messages: readonly EncodedMessage[];
}

/** Why the target would reject thinking, whatever the client requests; undefined if it would not. */
function whyNotThink({ own, standsIn, mustCall, budgeted, messages }: Circumstances): string | undefined {
  if (standsIn)
    return "a forced tool call replaces the response schema, and a model that must call a tool cannot think first";
  if (!own && mustCall) return "a model that must call a tool cannot think first";
  if (!budgeted) return undefined;
  if (!own && messages.at(-1)?.role === "assistant") {
    return "a model that thinks cannot continue a partial response";
  }
  if (lacksThinking(messages)) {
    return "this provider requires its own thinking before the last tool call, and the history has none";
  }
  return undefined;
}

function outputLimit(call: CanonCall, { traits }: EncodeRequestContext<MessagesQuirks>, notes: Notes) {
  const wanted = call.maxOutputTokens;
  const most = traits.maxOutputTokens;
  const path = call.paths.maxOutputTokens ?? fieldPath(call.fieldNames, undefined, "maxOutputTokens");
  if (wanted === undefined && most === undefined) {
    notes.approximated(path, `this protocol requires an output limit, and none is known; ${DEFAULT_OUTPUT} was sent`);
    return { maxTokens: DEFAULT_OUTPUT, growing: true };
  }
  const asked = wanted ?? most ?? DEFAULT_OUTPUT;
  return { maxTokens: clampOutput(asked, most, (reason) => notes.approximated(path, reason)), growing: false };
}
