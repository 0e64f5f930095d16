import { type CheckContext, type CheckRules, type Door, refuse } from "../../reading/check.ts";
import { checkBase64 } from "../../reading/check-base64.ts";
import { pathTo } from "../../reading/explain-mismatch.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { PRICED_FIELDS } from "../native.ts";
import type { Part } from "./content.ts";
import type { GenaiSchema } from "./json-schema.ts";
import type { GenaiCountTokensRequest, GenerateContentRequest } from "./request.ts";

type Config = NonNullable<GenerateContentRequest["generationConfig"]>;

export const generateContentRules: CheckRules<GenerateContentRequest> = {
  alsoRead: [...ROUTING_FIELDS, ...Object.keys(PRICED_FIELDS)],
  relations: (body, context) => checkRequest(body, "", context),
};

export const countTokensRules: CheckRules<GenaiCountTokensRequest> = {
  relations(body, context) {
    if (body.contents === undefined && body.generateContentRequest === undefined) {
      refuse("contents", "must be an array of at least 1 item unless generateContentRequest is set; both are missing");
    }
    checkRequest(body, "", context);
    if (body.generateContentRequest !== undefined) {
      checkRequest(body.generateContentRequest, "generateContentRequest.", context);
    }
  },
};

/** `prefix` is the path of the request in the body: empty, or a path with a trailing dot. */
function checkRequest(body: Partial<GenerateContentRequest>, prefix: string, context: CheckContext): void {
  const contents = body.contents ?? [];
  for (let index = 0; index < contents.length; index++) {
    checkParts(contents[index]?.parts ?? [], context.door, () => `${prefix}contents[${index}].parts`);
  }
  if (body.systemInstruction !== undefined) {
    checkParts(body.systemInstruction.parts, context.door, () => `${prefix}systemInstruction.parts`);
  }
  if (context.door === "contract") {
    for (const [index, tool] of (body.tools ?? []).entries()) checkKinds(tool, `${prefix}tools[${index}]`);
  }
  if (body.generationConfig !== undefined) checkConfig(body.generationConfig, `${prefix}generationConfig`, context);
}

const DATA_FIELDS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
] as const satisfies readonly (keyof Part)[];

/** Fields that may accompany the data of a part. A field in neither list is data of an unknown kind. */
const SIDE_FIELDS: ReadonlySet<string> = new Set([
  "videoMetadata",
  "mediaResolution",
  "mediaProcessing",
  "speechMetadata",
  "partMetadata",
  "thought",
  "thoughtSignature",
]);

/** `path` is a function, because it is only needed for errors and there are many parts. */
function checkParts(parts: readonly Part[], door: Door, path: () => string): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as Part;
    let found: string | undefined;
    for (const field of DATA_FIELDS) {
      if (part[field] === undefined) continue;
      if (found !== undefined)
        refuse(`${path()}[${index}]`, `must have exactly one data field; it has ${found} and ${field}`);
      found = field;
    }
    if (found === undefined) {
      const others = Object.keys(part).filter((key) => !SIDE_FIELDS.has(key));
      // Google's Go SDK leaves out an empty text, so a signature can be all that a part of the history has.
      const signed = others.length === 0 && part.thoughtSignature !== undefined;
      if (!signed && (door === "contract" || others.length === 0)) {
        const has = others.length === 0 ? "none" : others.join(", ").slice(0, 80);
        refuse(`${path()}[${index}]`, `must have exactly one of ${DATA_FIELDS.join(", ")}; it has ${has}`);
      }
    }
    checkBytes(part, () => `${path()}[${index}]`);
    if (part.functionCall !== undefined && lacksName(part.functionCall)) {
      refuse(`${path()}[${index}].functionCall.name`, "must be a string; it is missing");
    }
  }
}

function checkBytes({ inlineData, functionResponse }: Part, path: () => string): void {
  if (inlineData !== undefined) checkBase64(inlineData.data, () => `${path()}.inlineData.data`);
  functionResponse?.parts?.forEach((part, index) => {
    if (part.inlineData === undefined) return;
    checkBase64(part.inlineData.data, () => `${path()}.functionResponse.parts[${index}].inlineData.data`);
  });
}

/** Function calling, retrieval, search, code execution (contract 2.6; choices 5). */
const TOOL_KINDS: readonly string[] = [
  "functionDeclarations",
  "googleSearch",
  "codeExecution",
  "urlContext",
  "retrieval",
  "googleSearchRetrieval",
];

function checkKinds(tool: object, path: string): void {
  const other = Object.keys(tool).find((kind) => !TOOL_KINDS.includes(kind));
  if (other !== undefined)
    refuse(pathTo(path, other), `is not a supported kind of tool; use one of ${TOOL_KINDS.join(", ")}`);
}

/** Only later chunks of a streamed call have no name, and the last of them is empty. */
function lacksName(call: NonNullable<Part["functionCall"]>): boolean {
  return call.name === undefined && call.partialArgs === undefined && Object.keys(call).length > 0;
}

function checkConfig(config: Config, path: string, context: CheckContext): void {
  checkStructuredOutput(config, path);
  if (config.logprobs !== undefined && config.responseLogprobs !== true) {
    refuse(`${path}.logprobs`, "requires responseLogprobs to be true");
  }
  const { responseModalities: outputs } = config;
  // The contract requires both (contract 2.6); models that only make images accept the one.
  if (context.door === "contract" && outputs?.includes("IMAGE") && !outputs.includes("TEXT")) {
    refuse(`${path}.responseModalities`, 'must include "TEXT" if it includes "IMAGE"');
  }
  checkThinking(config.thinkingConfig, `${path}.thinkingConfig`, context);
  onlyOne(config.speechConfig, "voiceConfig", "multiSpeakerVoiceConfig", `${path}.speechConfig`);
  onlyOne(config.routingConfig, "autoMode", "manualMode", `${path}.routingConfig`);
  checkCompression(config.imageConfig, `${path}.imageConfig`);
}

function checkStructuredOutput(config: Config, path: string): void {
  const { responseSchema, responseJsonSchema, responseMimeType } = config;
  onlyOne(config, "responseSchema", "responseJsonSchema", path);
  const found = responseMimeType === undefined ? "missing" : `"${responseMimeType}"`;
  if (responseJsonSchema !== undefined && responseMimeType !== "application/json") {
    refuse(`${path}.responseMimeType`, `must be "application/json" with a responseJsonSchema; it is ${found}`);
  }
  if (responseSchema === undefined) return;
  if (responseMimeType === undefined || responseMimeType === "text/plain") {
    refuse(
      `${path}.responseMimeType`,
      `must be "application/json" or "text/x.enum" with a responseSchema; it is ${found}`,
    );
  }
  requireTypes(responseSchema, `${path}.responseSchema`);
}

/** A node that is a choice, or a reference, has no type. */
const TYPELESS = ["anyOf", "oneOf", "allOf", "$ref", "ref"];

function requireTypes(schema: GenaiSchema, path: string): void {
  if (schema.type === undefined && !TYPELESS.some((key) => key in schema)) {
    refuse(`${path}.type`, 'must be one of "STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"; it is missing');
  }
  if (schema.items !== undefined) requireTypes(schema.items, `${path}.items`);
  for (const choice of ["anyOf", "oneOf"] as const) {
    for (const [index, each] of (schema[choice] ?? []).entries()) requireTypes(each, `${path}.${choice}[${index}]`);
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    requireTypes(property, pathTo(`${path}.properties`, key));
  }
}

/** Contract 7 at the contract door. At the drop-in door the field is removed later. */
function checkThinking(thinking: Config["thinkingConfig"], path: string, { model, door }: CheckContext): void {
  if (thinking === undefined) return;
  if (!model.reasoning && door === "contract") {
    refuse(path, `must be omitted because the model ${model.id} does not support thinking`);
  }
  onlyOne(thinking, "thinkingBudget", "thinkingLevel", path);
}

function onlyOne<T extends object>(
  value: T | undefined,
  one: keyof T & string,
  other: keyof T & string,
  path: string,
): void {
  if (value?.[one] === undefined || value[other] === undefined) return;
  refuse(`${path}.${other}`, `cannot be combined with ${one}; send only one of them`);
}

function checkCompression(image: Config["imageConfig"], path: string): void {
  if (image === undefined) return;
  const { outputMimeType, outputCompressionQuality, imageOutputOptions: nested } = image;
  jpegOnly(outputMimeType, outputCompressionQuality, `${path}.outputCompressionQuality`);
  jpegOnly(nested?.mimeType, nested?.compressionQuality, `${path}.imageOutputOptions.compressionQuality`);
}

function jpegOnly(mimeType: string | undefined, quality: number | undefined, path: string): void {
  if (quality === undefined || mimeType === undefined || mimeType === "image/jpeg") return;
  refuse(path, `requires an output of image/jpeg; it is ${mimeType}`);
}
