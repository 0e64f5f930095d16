import { decodeBase64, inspectMedia, type Media, MediaProblem, remoteMedia } from "../../../inspect-media.ts";
import { canonicalJson, isObject, type Json, type JsonObject } from "../../../json.ts";
import { names } from "../../../names.ts";
import type { PromptPart, Turn } from "../../../text/prompt.ts";
import { isSigned } from "../../../text/signature.ts";
import { invalid, invalidValue } from "./errors.ts";
import { refuseUnknown } from "./proto-json.ts";

export const CALL_PURPOSE = "google function call";
export const TEXT_PURPOSE = "google text";
/** The value that Google documents for calls which another model made. */
/** Words that stand for a signature; SDKs whose field holds bytes send them in base64. */
const BYPASSES: ReadonlySet<unknown> = new Set(
  ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"].flatMap((word) => [
    word,
    Buffer.from(word).toString("base64"),
  ]),
);

const CONTENT = names("role parts");
const DATA =
  "text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse";
const PART = names(`${DATA} thought thoughtSignature videoMetadata mediaResolution partMetadata`);
const CALL = names("id name args partialArgs willContinue");
const RESPONSE = names("id name response parts scheduling willContinue");

const COUNT_MISMATCH =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

export function callPayload(name: string, input: Json): string {
  return `${name}\n${canonicalJson(input)}`;
}

function readInline(inline: JsonObject, path: string): Media {
  refuseUnknown(inline, names("mimeType data displayName"), path);
  const { mimeType, data } = inline;
  if (typeof mimeType !== "string" || mimeType === "")
    throw invalid(`* ${path}.mime_type: mimeType is not specified\n`);
  const bytes = typeof data === "string" ? decodeBase64(data) : undefined;
  if (bytes === undefined) throw invalidValue(`${path}.data`, "TYPE_BYTES", data ?? null);
  try {
    return inspectMedia(bytes, mimeType);
  } catch (problem) {
    if (!(problem instanceof MediaProblem)) throw problem;
    const noun = mimeType.startsWith("image/") ? "image" : "file";
    throw invalid(`Unable to process input ${noun}: the data is not valid ${mimeType}.`);
  }
}

function readFile(file: JsonObject, path: string): Media {
  refuseUnknown(file, names("mimeType fileUri displayName"), path);
  if (typeof file.fileUri !== "string") throw invalid(`* ${path}.file_uri: fileUri is not specified\n`);
  return remoteMedia(file.fileUri, typeof file.mimeType === "string" ? file.mimeType : "application/octet-stream");
}

function requireName(holder: JsonObject, path: string): string {
  if (typeof holder.name !== "string" || holder.name === "") throw invalid(`* ${path}.name: Name cannot be empty.\n`);
  return holder.name;
}

function readResponse(response: JsonObject, path: string): PromptPart {
  refuseUnknown(response, RESPONSE, path);
  const name = requireName(response, path);
  if (!isObject(response.response))
    throw invalidValue(`${path}.response`, "type.googleapis.com/google.protobuf.Struct", response.response ?? null);
  const media = (Array.isArray(response.parts) ? response.parts : []).flatMap((part, at) =>
    isObject(part) && isObject(part.inlineData) ? [readInline(part.inlineData, `${path}.parts[${at}].inlineData`)] : [],
  );
  const content = response.response;
  const said = content.output ?? content.result ?? content.error;
  const text = typeof said === "string" && Object.keys(content).length === 1 ? said : JSON.stringify(content);
  const id = typeof response.id === "string" ? response.id : "";
  return { type: "result", id, name, text, media, failed: content.error !== undefined };
}

function readCall(call: JsonObject, path: string): PromptPart {
  refuseUnknown(call, CALL, path);
  const args = call.args ?? {};
  if (!isObject(args)) throw invalidValue(`${path}.args`, "type.googleapis.com/google.protobuf.Struct", args);
  return { type: "call", id: typeof call.id === "string" ? call.id : "", name: requireName(call, path), input: args };
}

function checkSignature(part: JsonObject, read: PromptPart): void {
  const signature = part.thoughtSignature;
  if (signature === undefined || BYPASSES.has(signature)) return;
  const valid =
    typeof signature === "string" &&
    (read.type === "call"
      ? isSigned(CALL_PURPOSE, callPayload(read.name, read.input), signature)
      : isSigned(TEXT_PURPOSE, "", signature));
  if (!valid) throw invalid("Thought signature is not valid.");
}

function readPart(part: JsonObject, path: string): PromptPart {
  refuseUnknown(part, PART, path);
  const data = DATA.split(" ").filter((name) => part[name] !== undefined);
  if (data.length !== 1) {
    throw invalid(`* ${path}.data: required oneof field 'data' must have one initialized field\n`);
  }
  if (typeof part.text === "string")
    return part.thought === true ? { type: "past", text: part.text } : { type: "text", text: part.text };
  if (part.text !== undefined) throw invalidValue(`${path}.text`, "TYPE_STRING", part.text);
  const member = part[data[0] ?? ""];
  if (!isObject(member)) throw invalidValue(`${path}.${data[0]}`, "message", member ?? null);
  if (part.inlineData !== undefined) return { type: "media", media: readInline(member, `${path}.inlineData`) };
  if (part.fileData !== undefined) return { type: "media", media: readFile(member, `${path}.fileData`) };
  if (part.functionCall !== undefined) return readCall(member, `${path}.functionCall`);
  if (part.functionResponse !== undefined) return readResponse(member, `${path}.functionResponse`);
  return { type: "past", text: JSON.stringify(member) };
}

function readContent(content: Json, path: string): Turn {
  if (!isObject(content))
    throw invalidValue(path, "type.googleapis.com/google.ai.generativelanguage.v1beta.Content", content);
  refuseUnknown(content, CONTENT, path);
  const role = content.role ?? "user";
  if (role !== "user" && role !== "model" && role !== "function")
    throw invalid("Please use a valid role: user, model.");
  const parts = Array.isArray(content.parts) ? content.parts : [];
  if (parts.length === 0) throw invalid(`* ${path}.parts: contents.parts must not be empty.\n`);
  return {
    role: role === "model" ? "assistant" : "user",
    parts: parts.map((part, at) => {
      const partPath = `${path}.parts[${at}]`;
      if (!isObject(part))
        throw invalidValue(partPath, "type.googleapis.com/google.ai.generativelanguage.v1beta.Part", part);
      const read = readPart(part, partPath);
      checkSignature(part, read);
      return read;
    }),
  };
}

/** Each call is answered in the very next content, by name and, where both have one, by id. */
function pairCalls(turns: readonly Turn[]): void {
  if (turns[0]?.role === "assistant" && turns[0].parts.some((part) => part.type === "call")) {
    throw invalid(
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
  }
  for (const [at, turn] of turns.entries()) {
    const before = turns[at - 1];
    const calls = before?.role === "assistant" ? before.parts.filter((part) => part.type === "call") : [];
    const results = turn.parts.filter((part) => part.type === "result");
    if (results.length > 0 && calls.length === 0) {
      throw invalid("Please ensure that function response turn comes immediately after a function call turn.");
    }
    if (turn.role === "user" && results.length !== calls.length) throw invalid(COUNT_MISMATCH);
    const open = [...calls];
    for (const result of results) {
      const match = open.findIndex(
        (call) => call.name === result.name && (call.id === result.id || call.id === "" || result.id === ""),
      );
      if (match < 0) {
        throw invalid(
          `Function response \`${result.name}\` does not belong to any function call of the preceding turn.`,
        );
      }
      open.splice(match, 1);
    }
  }
  if (turns.at(-1)?.parts.some((part) => part.type === "call")) throw invalid(COUNT_MISMATCH);
}

/** A streamed answer comes back as one content for each of its chunks; together they are one turn. */
function joined(turns: readonly Turn[]): Turn[] {
  const whole: Turn[] = [];
  for (const turn of turns) {
    const last = whole.at(-1);
    if (last?.role === "assistant" && turn.role === "assistant") {
      whole[whole.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else whole.push(turn);
  }
  return whole;
}

export function readContents(value: Json | undefined): Turn[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid("* GenerateContentRequest.contents: contents is not specified\n");
  }
  const turns = value.map((content, at) => readContent(content, `contents[${at}]`));
  pairCalls(joined(turns));
  return turns;
}

/** In the current turn, the first call of each model content must carry its original signature. */
export function requireSignatures(value: Json | undefined): void {
  const contents = Array.isArray(value) ? value : [];
  const parts = contents.map((content) =>
    isObject(content) && Array.isArray(content.parts) ? content.parts.filter(isObject) : [],
  );
  const turnStart = contents.findLastIndex(
    (content, at) =>
      isObject(content) && content.role !== "model" && parts[at]?.some((part) => part.functionResponse === undefined),
  );
  for (const [at, own] of parts.entries()) {
    const call = at > turnStart ? own.find((part) => part.functionCall !== undefined) : undefined;
    if (call === undefined || typeof call.thoughtSignature === "string") continue;
    const name = isObject(call.functionCall) ? String(call.functionCall.name) : "";
    throw invalid(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`default_api:${name}\` , position ${at + 1}.`,
    );
  }
}
