import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import { wrapOpaqueBase64 } from "../../canon/opaque.ts";
import { carryNative, nativeOf } from "../../canon/opaque-carriers.ts";
import type { MediaPart, NativePart, ReasoningPart, SearchResultPart, TextPart } from "../../canon/part.ts";
import type { ReplyPart } from "../../canon/reply.ts";
import { parseInOrder } from "../../wire/ordered-json.ts";
import { requireSmallArguments } from "../answer/answer-bounds.ts";
import { noteNullArguments } from "../answer/note-null-arguments.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { sayNative } from "../request/say-native.ts";
import { encodeArguments } from "./arguments.ts";
import { thoughtAsSignature } from "./carried-thoughts.ts";
import { decodeMedia, encodeMedia } from "./media.ts";
import { leftOver, restoreExtras } from "./part-extras.ts";
import { type EncodeScope, fieldPathOf, noteCacheMark, pathOf, upstreamSignature } from "./request/encode-scope.ts";
import { clientSignature, OWN_ORIGIN, type PartSource, readSignature } from "./signature.ts";

/** Fields that may accompany the data of a part. */
const SIDE_FIELDS: ReadonlySet<string> = new Set([
  "videoMetadata",
  "mediaResolution",
  "thought",
  "thoughtSignature",
  "partMetadata",
  "mediaProcessing",
  "speechMetadata",
]);

/** Decodes every part except calls and results, which depend on each other; undefined for an empty part. */
export function decodePart(
  raw: JsonObject,
  source: PartSource,
): TextPart | ReasoningPart | MediaPart | NativePart | undefined {
  const fields = new Fields(raw);
  const located = source.path === undefined ? {} : { path: source.path };
  const thought = fields.boolean("thought") === true;
  const signature = readSignature(fields.string("thoughtSignature"), source);
  // Google's Go SDK leaves out a text that is empty, also of a part that only has a signature.
  const bare = Object.keys(raw).every((key) => SIDE_FIELDS.has(key) || raw[key] === null);
  const text = fields.string("text") ?? (bare && signature.signature !== undefined ? "" : undefined);
  const carried = signature.signature && nativeOf(signature.signature, parseInOrder);
  if (carried !== undefined) return { ...carried, ...located };
  if (text !== undefined) {
    if (signature.signature?.kind === "text") return { type: "reasoning", text: signature.signature.value, ...located };
    return { type: thought ? "reasoning" : "text", text, ...located, ...signature, ...leftOver(fields) };
  }
  // An image drawn while thinking is not part of the response, and only this dialect can express it.
  const media = thought ? undefined : decodeMedia(raw, source);
  if (media !== undefined) return media;
  const name = Object.keys(raw).find((key) => !SIDE_FIELDS.has(key) && raw[key] !== null);
  if (name !== undefined) {
    const native = { type: "native" as const, dialect: "genai", name, raw, ...located, ...transcribedText(raw) };
    return source.fromClient ? { ...native, ...withoutAbsent({ elsewhere: codeInWords(raw) }) } : native;
  }
  return undefined;
}

/** Code that the host ran, and its output, as other dialects show them to their models. */
function codeInWords(raw: JsonObject): NativePart["elsewhere"] {
  const code = stringAt(objectAt(raw, "executableCode"), "code");
  const output = stringAt(objectAt(raw, "codeExecutionResult"), "output");
  const text = code ?? output;
  if (text === undefined) return undefined;
  const fence = code === undefined ? "```" : "```python";
  return {
    words: `\n${fence}\n${text}\n\`\`\`\n`,
    reason: "this protocol has no block for code that the provider ran; sent as text",
  };
}

/** The words of a transcription that has no text part. */
function transcribedText(raw: JsonObject): { text?: string } {
  const text = stringAt(objectAt(raw, "audioTranscription"), "text");
  return text === undefined ? {} : { text };
}

/**
 * One part of a turn for the upstream. It becomes several parts if this dialect has no field for some of it, and none if it is
 * dropped.
 */
export function encodePromptPart(
  part: TextPart | MediaPart | ReasoningPart | SearchResultPart | NativePart,
  scope: EncodeScope,
): JsonObject[] {
  switch (part.type) {
    case "text":
      return encodeText(part, scope);
    case "reasoning":
      return encodeReasoning(part, scope);
    case "media":
      return encodeMedia(part, scope);
    case "search-result":
      noteCacheMark(part, scope);
      scope.notes.approximated(pathOf(part), "this protocol has no search results; sent as text and media");
      return encodeSearchResult(part, scope);
    case "native":
      if (part.dialect === "genai") return [part.raw];
      scope.notes.dropped(pathOf(part), `only its own protocol has blocks of kind ${part.name}`);
      return [];
  }
}

function encodeText(part: TextPart, scope: EncodeScope): JsonObject[] {
  noteCacheMark(part, scope);
  if (part.citations !== undefined && part.citations.length > 0) {
    scope.notes.dropped(fieldPathOf(scope, part, "citations"), "this protocol does not accept citations in a prompt");
  }
  const signature = upstreamSignature(part, scope);
  const own = scope.call.dialect === "genai" ? part.extras : undefined;
  if (part.text !== "" || signature["thoughtSignature"] !== undefined) {
    return [restoreExtras({ text: part.text, ...signature }, own)];
  }
  // A part of the system instruction that is not text.
  return own !== undefined && Object.keys(own).some((key) => !SIDE_FIELDS.has(key)) ? [own] : [];
}

/** Thoughts are sent back to their origin: signed by the target, or unsigned but from this protocol. */
function encodeReasoning(part: ReasoningPart, scope: EncodeScope): JsonObject[] {
  const { signature } = part;
  const own = scope.call.dialect === "genai";
  const theirs = signature === undefined ? own : signature.origin === scope.context.origin;
  if (!theirs) {
    scope.notes.dropped(pathOf(part), "only the provider that created the reasoning can read it");
    return [];
  }
  const wire = { text: part.text, thought: true, ...upstreamSignature(part, scope) };
  return [own ? restoreExtras(wire, part.extras) : wire];
}

/** A passage that the caller found, below its title and source. */
function encodeSearchResult(part: SearchResultPart, scope: EncodeScope): JsonObject[] {
  if (part.citations) {
    scope.notes.dropped(
      fieldPathOf(scope, part, "citations"),
      "this protocol cannot cite search results in the prompt",
    );
  }
  const heading = [part.title, part.source].filter((line) => line !== undefined).join("\n");
  const content = part.content.flatMap((one) => encodePromptPart(one, scope));
  return heading === "" ? content : [{ text: heading }, ...content];
}

/** How a client wants to receive a response. */
export interface AnswerOptions {
  /** The text of thoughts is omitted, but a signature must come back. */
  hideThoughts: boolean;
  /** Called with the name of each call that is not written because its arguments are not an object. */
  breakCall: (name: string) => void;
  /** For the receipt. */
  note: EncodeAnswerContext["note"];
}

/** Whether the client sees nothing of the part between two texts, which are then separate. */
export const isUnseen = (part: ReplyPart): boolean =>
  part.type === "server-tool-call" ||
  part.type === "server-tool-result" ||
  (part.type === "native" && part.dialect !== OWN_ORIGIN);

/** One part of a response, for a client. */
export function encodeAnswerPart(part: ReplyPart, answerOptions: AnswerOptions): JsonObject[] {
  const signature = clientSignature(part.signature);
  const signed = part.signature !== undefined;
  switch (part.type) {
    case "text":
      return part.text === "" && !signed ? [] : [{ text: part.text, ...signature }];
    case "reasoning": {
      if (!answerOptions.hideThoughts || part.text === "") {
        return part.text === "" && !signed ? [] : [{ text: part.text, thought: true, ...signature }];
      }
      // Unsigned reasoning may still have to come back, so it is sent hidden.
      const unseen = signed ? signature : clientSignature(thoughtAsSignature(part.text));
      return [{ text: "", thought: true, ...unseen }];
    }
    case "refusal":
      return part.text === "" ? [] : [{ text: part.text }];
    case "tool-call": {
      if (!part.custom) requireSmallArguments(part.input);
      const { args, broken } = encodeArguments(part);
      if (broken) {
        answerOptions.breakCall(part.name);
        return [];
      }
      noteNullArguments(part, answerOptions.note);
      return [{ functionCall: { id: part.id, name: part.name, args }, ...signature }];
    }
    case "media":
      return encodeAnswerMedia(part, answerOptions).map((wire) => ({ ...wire, ...signature }));
    case "native": {
      if (part.dialect === OWN_ORIGIN) return [part.raw];
      const text = sayNative(part, answerOptions.note);
      const carried = { text: "", thought: true, thoughtSignature: wrapOpaqueBase64(carryNative(part)) };
      return text === "" ? [carried] : [carried, { text }];
    }
    // Searches are reported in the grounding of the whole response.
    case "server-tool-call":
    case "server-tool-result":
      return [];
  }
}

function encodeAnswerMedia({ source, title }: MediaPart, answerOptions: AnswerOptions): JsonObject[] {
  const named = title === undefined ? {} : { displayName: title };
  switch (source.type) {
    case "data":
      return [{ inlineData: { mimeType: source.mimeType, data: source.data, ...named } }];
    case "url":
      return [
        {
          fileData: withoutAbsent({ mimeType: source.mimeType, fileUri: source.url, ...named }),
        },
      ];
    case "file":
      return source.origin === OWN_ORIGIN ? [{ fileData: { fileUri: source.id, ...named } }] : [];
    case "text":
      return [{ text: source.text }];
    case "parts":
      return source.parts.flatMap((one) => encodeAnswerPart(one, answerOptions));
  }
}
