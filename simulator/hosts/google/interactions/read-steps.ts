import { decodeBase64, inspectMedia, type Media, MediaProblem, remoteMedia } from "../../../inspect-media.ts";
import { isObject, type Json, type JsonObject, textOr } from "../../../json.ts";
import { names } from "../../../names.ts";
import type { PromptPart, Turn } from "../../../text/prompt.ts";
import { isSigned } from "../../../text/signature.ts";
import { invalid, invalidValue } from "../text/errors.ts";
import { refuseUnknown } from "../text/proto-json.ts";

export const THOUGHT_PURPOSE = "google interaction thought";

const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: names("type text annotations"),
  image: names("type data uri mime_type resolution"),
  audio: names("type data uri mime_type channels sample_rate"),
  document: names("type data uri mime_type"),
  video: names("type data uri mime_type resolution name processing"),
  user_input: names("type content"),
  model_output: names("type content error"),
  thought: names("type signature summary"),
  function_call: names("type id name arguments signature"),
  function_result: names("type call_id name is_error result signature"),
};
const CONTENT = names("text image audio document video");

function membersOf(value: Json, path: string): JsonObject {
  if (!isObject(value)) throw invalidValue(path, "message", value);
  const known = FIELDS[textOr(value.type, "")];
  if (known !== undefined) refuseUnknown(value, known, path);
  return value;
}

function readMedia(content: JsonObject, path: string): Media {
  const type = textOr(content.mime_type, "");
  if (typeof content.uri === "string") return remoteMedia(content.uri, type || "application/octet-stream");
  if (type === "") throw invalid(`* ${path}.mime_type: mime_type is not specified\n`);
  const bytes = typeof content.data === "string" ? decodeBase64(content.data) : undefined;
  if (bytes === undefined) throw invalidValue(`${path}.data`, "TYPE_BYTES", content.data ?? null);
  try {
    return inspectMedia(bytes, type);
  } catch (problem) {
    if (!(problem instanceof MediaProblem)) throw problem;
    throw invalid(`Unable to process input ${textOr(content.type, "")}: the data is not valid ${type}.`);
  }
}

function readContent(value: Json, path: string): PromptPart {
  const content = membersOf(value, path);
  if (content.type === "text") {
    if (typeof content.text !== "string") throw invalidValue(`${path}.text`, "TYPE_STRING", content.text ?? null);
    return { type: "text", text: content.text };
  }
  if (!CONTENT.has(textOr(content.type, ""))) throw invalidValue(`${path}.type`, "Content", content.type ?? null);
  return { type: "media", media: readMedia(content, path) };
}

const contentsOf = (value: Json | undefined, path: string): PromptPart[] =>
  (Array.isArray(value) ? value : []).map((content, at) => readContent(content, `${path}[${at}]`));

function readResult(step: JsonObject, path: string): PromptPart {
  const { result } = step;
  if (typeof step.call_id !== "string" || step.call_id === "") throw invalid(`* ${path}.call_id: must not be empty.\n`);
  const parts = contentsOf(result, `${path}.result`);
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const text = Array.isArray(result) ? texts.join("\n") : typeof result === "string" ? result : JSON.stringify(result);
  const media = parts.flatMap((part) => (part.type === "media" ? [part.media] : []));
  return { type: "result", id: step.call_id, name: textOr(step.name, ""), text, media, failed: step.is_error === true };
}

function readCall(step: JsonObject, path: string): PromptPart {
  const { id, name, arguments: input = {} } = step;
  if (typeof id !== "string" || id === "") throw invalid(`* ${path}.id: must not be empty.\n`);
  if (typeof name !== "string" || name === "") throw invalid(`* ${path}.name: Name cannot be empty.\n`);
  if (!isObject(input)) throw invalidValue(`${path}.arguments`, "type.googleapis.com/google.protobuf.Struct", input);
  return { type: "call", id, name, input };
}

function readThought(step: JsonObject, path: string): PromptPart {
  const signature = textOr(step.signature, "");
  if (signature !== "" && !isSigned(THOUGHT_PURPOSE, "", signature)) throw invalid("Thought signature is not valid.");
  const texts = contentsOf(step.summary, `${path}.summary`).flatMap((part) =>
    part.type === "text" ? [part.text] : [],
  );
  return { type: "past", text: texts.join("") };
}

function readStep(value: Json, path: string): Turn {
  const step = membersOf(value, path);
  switch (step.type) {
    case "user_input":
      return { role: "user", parts: contentsOf(step.content, `${path}.content`) };
    case "model_output":
      return { role: "assistant", parts: contentsOf(step.content, `${path}.content`) };
    case "function_result":
      return { role: "user", parts: [readResult(step, path)] };
    case "function_call":
      return { role: "assistant", parts: [readCall(step, path)] };
    case "thought":
      return { role: "assistant", parts: [readThought(step, path)] };
    default:
      if (CONTENT.has(textOr(step.type, ""))) return { role: "user", parts: [readContent(step, path)] };
      if (!/_(call|result)$/.test(textOr(step.type, ""))) throw invalidValue(`${path}.type`, "Step", step.type ?? null);
      return { role: "assistant", parts: [{ type: "past", text: JSON.stringify(step) }] };
  }
}

/** Every result belongs to a call before it, and no call is left without one. */
function pairCalls(turns: readonly Turn[]): void {
  const open = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.type === "call") open.add(part.id);
      if (part.type === "result" && !open.delete(part.id))
        throw invalid(`Function result \`${part.id}\` does not belong to any function call.`);
      if (part.type === "text") requireNone(open);
    }
  }
  requireNone(open);
}

function requireNone([id]: Iterable<string>): void {
  if (id !== undefined) throw invalid(`Function call \`${id}\` has no function result.`);
}

/** A text, one content, or a list of contents or steps. */
export function readInput(value: Json | undefined): Turn[] {
  if (typeof value === "string" && value !== "") return [{ role: "user", parts: [{ type: "text", text: value }] }];
  const list = Array.isArray(value) ? value : isObject(value) ? [value] : [];
  if (list.length === 0) throw invalid("* CreateInteraction.input: input is not specified\n");
  const turns = list.map((step, at) => readStep(step, `input[${at}]`));
  pairCalls(turns);
  return turns;
}

/** In the current turn, a signed thought must precede the first call. */
export function requireSignatures(value: Json | undefined): void {
  const steps = Array.isArray(value) ? value.filter(isObject) : [];
  const start = steps.findLastIndex((step) => step.type === "user_input");
  let isSignedRun = false;
  for (const step of steps.slice(start + 1)) {
    if (step.type === "thought") isSignedRun ||= textOr(step.signature, "") !== "";
    if (step.type === "function_result") isSignedRun = false;
    if (step.type === "function_call" && !isSignedRun)
      throw invalid(`Function call \`${textOr(step.name, "")}\` is missing a thought signature.`);
  }
}
