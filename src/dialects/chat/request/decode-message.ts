import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { Fields } from "../../../canon/fields.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { nativeOf } from "../../../canon/opaque-carriers.ts";
import type { NativePart, Part, ReasoningPart, TextPart, ToolCallPart } from "../../../canon/part.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import { citationWithin, decodeAnnotation } from "../../answer/url-citation.ts";
import { audioPart } from "../answer/spoken-audio.ts";
import { decodeContent } from "../content.ts";
import { decodeMedia } from "../media.ts";
import { EMPTY_TEXT_ID, NATIVE_ID, type OriginReader, opaqueOf, readDetail, TEXT_ID } from "../reasoning-details.ts";
import { callsNothing, decodeToolCall, signatureAt } from "../tool-call.ts";

/** Ids of details that refer to a position in the message instead of a call. */
const POSITIONS: ReadonlySet<string> = new Set([TEXT_ID, EMPTY_TEXT_ID]);

/** The context of an assistant message: a request's history, or a response. */
interface MessageReading {
  /** JSON path of the message. Absent in a response. */
  path?: string;
  readOrigin: OriginReader;
  /** Makes an id for a call without one. */
  makeId: () => string;
  /** The keys and origin of signatures in the provider's tool calls. */
  toolSignature?: { keys: readonly string[]; origin: string };
}

/** The parts of an assistant message: reasoning, then content, then tool calls. */
export function decodeMessage(message: Fields, reading: MessageReading): Part[] {
  const at = (key: string) => (reading.path === undefined ? undefined : `${reading.path}.${key}`);
  const located = (key: string) => {
    const path = at(key);
    return path === undefined ? {} : { path };
  };
  const content = decodeContent(message.take("content"), at("content"));
  const refusal = message.string("refusal");
  if (refusal) content.push({ type: "refusal", text: refusal, ...located("refusal") });
  for (const [index, image] of (message.array("images") ?? []).entries()) {
    const media = decodeMedia(image, at(`images[${index}]`));
    if (media !== undefined) content.push(media);
  }
  const audio = message.object("audio");
  if (audio !== undefined) {
    content.push({ ...audioPart(audio), ...located("audio") });
  }
  attachAnnotations(content, message.array("annotations") ?? []);
  const calls = decodeCalls(message, reading, at);
  const { reasoning, natives, signatures, lone } = decodeReasoningFields(message, reading, idsOf(calls));
  const last = content.findLast((part) => part.type === "text");
  const textSignature = signatures.get(TEXT_ID) ?? messageSignature(message, reading);
  if (last !== undefined && textSignature !== undefined) last.signature = textSignature;
  else if (textSignature !== undefined)
    content.push({ type: "text", text: "", signature: textSignature, ...located("content") });
  const signed = calls.map((call) => {
    const signature = call.type === "tool-call" ? signatures.get(call.id) : undefined;
    if (call.type !== "tool-call" || signature === undefined) return call;
    // If an id occurs twice, its signature belongs to the first.
    signatures.delete(call.id);
    return { ...call, signature };
  });
  const behind: Part[] = lone === undefined ? [] : [{ type: "text", text: "", signature: lone, ...located("content") }];
  return [...reasoning, ...natives, ...content, ...behind, ...signed];
}

/** Providers that sign calls sign a message without calls as a whole. */
function messageSignature(message: Fields, { toolSignature }: MessageReading): Opaque | undefined {
  const [first, ...rest] = toolSignature?.keys ?? [];
  if (toolSignature === undefined || first === undefined) return undefined;
  const value = signatureAt(message.take(first), rest);
  return value === undefined ? undefined : { origin: toolSignature.origin, kind: "signature", value };
}

function decodeCalls(
  message: Fields,
  reading: MessageReading,
  at: (key: string) => string | undefined,
): (ToolCallPart | NativePart)[] {
  const seen = new Set<string>();
  const { toolSignature } = reading;
  const calls = (message.array("tool_calls") ?? []).map((raw, index) => {
    const call = decodeToolCall(raw, reading.makeId, at(`tool_calls[${index}]`));
    if (call.type === "native") return call;
    // In a history, calls get distinct ids together with their results.
    const id = reading.path === undefined && seen.has(call.id) ? reading.makeId() : call.id;
    seen.add(id);
    const value = signatureAt(raw, toolSignature?.keys);
    if (value === undefined || toolSignature === undefined) return { ...call, id };
    const signature: Opaque = { origin: toolSignature.origin, kind: "signature", value };
    return { ...call, id, signature };
  });
  const legacy = message.object("function_call");
  if (legacy === undefined || callsNothing(legacy)) return calls;
  return [...calls, decodeToolCall({ type: "function", function: legacy }, reading.makeId, at("function_call"))];
}

const idsOf = (calls: readonly (ToolCallPart | NativePart)[]): ReadonlySet<string> =>
  new Set(calls.flatMap((call) => (call.type === "tool-call" ? [call.id] : [])));

interface ReasoningFields {
  reasoning: ReasoningPart[];
  /** Signatures of other parts of the message, by id. */
  natives: NativePart[];
  signatures: Map<string, Opaque>;
  /** The signature of an empty text after the others. */
  lone: Opaque | undefined;
}

/** `reasoning_details` are the most precise. The plain fields repeat their text, and are used if there are no details. */
function decodeReasoningFields(
  message: Fields,
  reading: MessageReading,
  callIds: ReadonlySet<string>,
): ReasoningFields {
  const signatures = new Map<string, Opaque>();
  let lone: Opaque | undefined;
  const details: ReasoningPart[] = [];
  const natives: NativePart[] = [];
  for (const [index, raw] of (message.array("reasoning_details") ?? []).entries()) {
    const detail = readDetail(raw);
    if (detail === undefined) continue;
    const { id } = detail;
    const belongs = detail.kind === "encrypted" && id !== undefined;
    const named = belongs && (callIds.has(id) || POSITIONS.has(id) || (reading.path !== undefined && id === NATIVE_ID));
    const opaque = opaqueOf(detail, reading.readOrigin, belongs && !named);
    const path = reading.path === undefined ? {} : { path: `${reading.path}.reasoning_details[${index}]` };
    // Only clients return such blocks. In a provider's answer the term means something else.
    const carried =
      reading.path !== undefined && id === NATIVE_ID && opaque
        ? nativeOf({ ...opaque, kind: "native" }, parseInOrder)
        : undefined;
    if (carried !== undefined) {
      natives.push({ ...carried, ...path });
      continue;
    }
    if (named && opaque !== undefined) {
      const signature: Opaque = { ...opaque, kind: "signature" };
      if (id === EMPTY_TEXT_ID) lone = signature;
      else signatures.set(id, signature);
      continue;
    }
    details.push({
      type: "reasoning",
      text: detail.text ?? "",
      ...(detail.kind === "summary" ? { summary: true } : {}),
      ...withoutAbsent({ signature: opaque }),
      ...path,
    });
  }
  const field = message.string("reasoning_content") ? "reasoning_content" : "reasoning";
  const spoken = message.string(field);
  message.skip("reasoning", "reasoning_content");
  if (!spoken || details.some(({ text }) => text !== "")) return { reasoning: details, natives, signatures, lone };
  const path = reading.path === undefined ? {} : { path: `${reading.path}.${field}` };
  return { reasoning: [{ type: "reasoning", text: spoken, ...path }, ...details], natives, signatures, lone };
}

/** Annotations count the characters of the whole answer, citations those of their own part. */
function attachAnnotations(content: readonly Part[], annotations: readonly unknown[]): void {
  const texts = content.filter((part): part is TextPart => part.type === "text");
  const citations = new Map<TextPart, Citation[]>();
  for (const raw of annotations) {
    const annotation = decodeAnnotation(raw);
    if (annotation === undefined) continue;
    let offset = 0;
    for (const part of texts) {
      const citation = citationWithin(annotation, offset, part.text.length);
      offset += part.text.length;
      if (citation === undefined) continue;
      const cited = citations.get(part) ?? [...(part.citations ?? [])];
      cited.push(citation);
      citations.set(part, cited);
      break;
    }
  }
  for (const [part, cited] of citations) part.citations = cited;
}
