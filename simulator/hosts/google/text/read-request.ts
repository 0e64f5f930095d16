import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { names } from "../../../names.ts";
import type { SimulatedModel } from "../../../text/adapter.ts";
import { mergeTurns, type OutputFormat, type Prompt, type Thinking, type Tool } from "../../../text/prompt.ts";
import { checkSchema } from "./check-schema.ts";
import { type GoogleHost, invalid, invalidValue, unknownName } from "./errors.ts";
import { refuseUnknown } from "./proto-json.ts";
import { readContents, requireSignatures } from "./read-contents.ts";

const SHARED = "model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent";
/** The fields of a request to generate content. */
export const REQUEST_FIELDS = {
  gemini: names(`${SHARED} serviceTier store`),
  vertex: names(`${SHARED} labels modelArmorConfig`),
} as const;
const GENERATION = names(
  `temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty seed responseMimeType
  responseSchema responseJsonSchema responseLogprobs logprobs responseModalities audioTimestamp thinkingConfig mediaResolution
  speechConfig routingConfig modelSelectionConfig imageConfig enableAffectiveDialog enableEnhancedCivicAnswers`,
);
const TOOL = names(
  `functionDeclarations googleSearch googleSearchRetrieval retrieval codeExecution urlContext googleMaps enterpriseWebSearch
  computerUse fileSearch mcpServers`,
);
const DECLARATION = names("name description parameters parametersJsonSchema response responseJsonSchema behavior");
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;

interface GoogleRequest {
  prompt: Prompt;
  streamArguments: boolean;
  topLogprobs: number | undefined;
}

function member(holder: JsonObject, name: string, path: string): JsonObject | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalidValue(path, "message", value);
  return value;
}

function number(holder: JsonObject, name: string, range: [number, number], whole = false): number | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || (whole && !Number.isInteger(value))) {
    throw invalidValue(`generationConfig.${name}`, whole ? "TYPE_INT32" : "TYPE_FLOAT", value);
  }
  if (value < range[0] || value > range[1]) {
    throw invalid(
      `Unable to submit request because ${name} has ${value}, but the supported range is from ${range[0]} to ${range[1]}.`,
    );
  }
  return value;
}

function readDeclaration(value: Json, path: string, host: GoogleHost): Tool {
  if (!isObject(value)) throw invalidValue(path, "message", value);
  refuseUnknown(value, DECLARATION, path);
  const { name } = value;
  if (typeof name !== "string" || !FUNCTION_NAME.test(name)) {
    throw invalid(
      `* GenerateContentRequest.${path}.name: Invalid function name. Must start with a letter or an underscore and be at most 128 characters of a-z, A-Z, 0-9, underscores, dots, colons or dashes.\n`,
    );
  }
  if (value.parameters !== undefined) checkSchema(value.parameters, `${path}.parameters`, host);
  const schema = value.parametersJsonSchema ?? value.parameters;
  const description = typeof value.description === "string" ? value.description : "";
  return { name, description, schema: isObject(schema) ? schema : undefined, freeform: false };
}

export function readTools(value: Json | undefined, host: GoogleHost): { tools: Tool[]; search: boolean } {
  const tools: Tool[] = [];
  let search = false;
  for (const [at, tool] of (Array.isArray(value) ? value : []).entries()) {
    if (!isObject(tool)) throw invalidValue(`tools[${at}]`, "message", tool);
    refuseUnknown(tool, TOOL, `tools[${at}]`);
    if (tool.googleSearch !== undefined || tool.googleSearchRetrieval !== undefined) search = true;
    const declared = Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [];
    for (const [index, one] of declared.entries()) {
      tools.push(readDeclaration(one, `tools[${at}].functionDeclarations[${index}]`, host));
    }
  }
  return { tools, search };
}

function readChoice(
  config: JsonObject | undefined,
  tools: readonly Tool[],
  host: GoogleHost,
): Pick<Prompt, "choice"> & { streamArguments: boolean } {
  const path = "toolConfig.functionCallingConfig";
  const calling = config === undefined ? undefined : member(config, "functionCallingConfig", path);
  if (calling === undefined) return { choice: { mode: "auto" }, streamArguments: false };
  const onlyVertex = host === "vertex" ? " streamFunctionCallArguments" : "";
  refuseUnknown(calling, names(`mode allowedFunctionNames${onlyVertex}`), path);
  const mode = calling.mode ?? "AUTO";
  if (typeof mode !== "string" || !["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"].includes(mode)) {
    throw invalidValue(
      `${path}.mode`,
      "type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode",
      mode,
    );
  }
  const allowed = Array.isArray(calling.allowedFunctionNames) ? calling.allowedFunctionNames.map(String) : [];
  const unknown = allowed.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined)
    throw invalid(`allowed_function_names holds \`${unknown}\`, which is not a declared function.`);
  const unified = mode === "ANY" ? "required" : mode === "NONE" ? "none" : "auto";
  return {
    choice: { mode: unified, ...(allowed.length === 0 ? {} : { names: allowed }) },
    streamArguments: calling.streamFunctionCallArguments === true,
  };
}

function readThinking(generation: JsonObject, model: SimulatedModel): Thinking {
  const config = member(generation, "thinkingConfig", "generationConfig.thinkingConfig") ?? {};
  refuseUnknown(config, names("thinkingBudget thinkingLevel includeThoughts"), "generationConfig.thinkingConfig");
  const budget = number(config, "thinkingBudget", [-1, 65_536], true);
  if (budget !== undefined && config.thinkingLevel !== undefined) {
    throw invalid("You can only set only one of thinking budget and thinking level.");
  }
  const { thinks } = model.traits;
  const shown = config.includeThoughts === true;
  if (thinks === undefined) {
    if (shown || config.thinkingLevel !== undefined || (budget ?? 0) !== 0) {
      throw invalid("Unable to submit request because thinking is not supported by this model.");
    }
    return "off";
  }
  if (budget === 0 && thinks === "asked") return "off";
  return shown ? "shown" : "hidden";
}

function readFormat(generation: JsonObject, host: GoogleHost): OutputFormat {
  const type = generation.responseMimeType ?? "text/plain";
  const { responseSchema, responseJsonSchema } = generation;
  if (type !== "text/plain" && type !== "application/json" && type !== "text/x.enum") {
    throw invalid(
      `* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are \`text/plain\`, \`application/json\` and \`text/x.enum\`.\n`,
    );
  }
  if (responseSchema !== undefined && responseJsonSchema !== undefined) {
    throw invalid("Only one of response_schema and response_json_schema may be set.");
  }
  if (responseSchema !== undefined) checkSchema(responseSchema, "generationConfig.responseSchema", host);
  const schema = responseSchema ?? responseJsonSchema;
  if (type === "text/plain") {
    if (schema !== undefined)
      throw invalid("Function calling config or a response schema needs a response mime type of 'application/json'.");
    return { type: "text" };
  }
  if (type === "text/x.enum") {
    const values = isObject(schema) && Array.isArray(schema.enum) ? schema.enum.map(String) : [];
    if (values.length === 0)
      throw invalid("A response mime type of 'text/x.enum' needs a response schema with an enum.");
    return { type: "enum", values };
  }
  return isObject(schema) ? { type: "schema", schema } : { type: "json" };
}

/** The newest generation, played by the model that demands signatures, takes an answer format together with tools. */
function checkCombination(functions: boolean, search: boolean, formed: boolean, model: SimulatedModel): void {
  if (functions && search) throw invalid("Tool use with function calling is unsupported");
  if (!formed || model.traits.thinks === "strict") return;
  if (functions) throw invalid("Function calling with a response mime type: 'application/json' is unsupported");
  if (search) throw invalid("Tool use with a response mime type: 'application/json' is unsupported");
}

function readStop(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidValue("generationConfig.stopSequences", "TYPE_STRING", value);
  if (value.length > 5) throw invalid("Unable to submit request because stopSequences has more than 5 entries.");
  if (value.includes("")) throw invalid("Unable to submit request because stopSequences has an empty entry.");
  return value.map(String);
}

function checkSampling(generation: JsonObject): void {
  number(generation, "temperature", [0, 2]);
  number(generation, "topP", [0, 1]);
  number(generation, "topK", [0, Number.MAX_SAFE_INTEGER]);
  number(generation, "presencePenalty", [-2, 2]);
  number(generation, "frequencyPenalty", [-2, 2]);
  number(generation, "seed", [-(2 ** 31), 2 ** 31 - 1], true);
  if ((number(generation, "candidateCount", [1, 8], true) ?? 1) > 1)
    throw invalid("Only one candidate can be specified in the current model");
  const modalities = Array.isArray(generation.responseModalities) ? generation.responseModalities : [];
  const unable = modalities.find((one) => one !== "TEXT" && one !== "MODALITY_UNSPECIFIED");
  if (unable !== undefined)
    throw invalid(`This model does not support the requested response modality: ${String(unable)}`);
}

function readLogprobs(generation: JsonObject): number | undefined {
  const top = number(generation, "logprobs", [0, 20], true);
  if (generation.responseLogprobs === true) return top ?? 0;
  if (top !== undefined) throw invalid("Logprobs needs responseLogprobs to be true.");
  return undefined;
}

function checkSafety(value: Json | undefined, host: GoogleHost): void {
  for (const [at, setting] of (Array.isArray(value) ? value : []).entries()) {
    if (!isObject(setting)) throw invalidValue(`safetySettings[${at}]`, "message", setting);
    if (setting.method !== undefined && host === "gemini") throw unknownName("method", `safetySettings[${at}]`);
    if (typeof setting.category !== "string")
      throw invalidValue(`safetySettings[${at}].category`, "HarmCategory", setting.category ?? null);
  }
}

export function readSystem(value: Json | undefined): Prompt["system"] {
  if (value === undefined || value === null) return [];
  const parts = isObject(value) && Array.isArray(value.parts) ? value.parts : [];
  return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [{ text: part.text }] : []));
}

/** Validates as the host does, and puts the request into the simulator's words. Names are already in camel case. */
export function readRequest(
  body: JsonObject,
  model: SimulatedModel,
  host: GoogleHost,
  tokensOfCache: (name: string) => number,
): GoogleRequest {
  refuseUnknown(body, REQUEST_FIELDS[host], "");
  const generation = member(body, "generationConfig", "generationConfig") ?? {};
  refuseUnknown(generation, GENERATION, "generationConfig");
  checkSampling(generation);
  checkSafety(body.safetySettings, host);
  const turns = readContents(body.contents);
  if (model.traits.thinks === "strict") requireSignatures(body.contents);
  const { tools, search } = readTools(body.tools, host);
  const { choice, streamArguments } = readChoice(member(body, "toolConfig", "toolConfig"), tools, host);
  const format = readFormat(generation, host);
  checkCombination(tools.length > 0, search, format.type !== "text", model);
  if (tools.length === 0 && choice.mode === "required")
    throw invalid("Function calling config is set without function_declarations.");
  const maxTokens = number(generation, "maxOutputTokens", [1, Number.MAX_SAFE_INTEGER], true);
  return {
    prompt: {
      system: readSystem(body.systemInstruction),
      turns: mergeTurns(turns),
      tools,
      choice,
      parallel: true,
      format,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      stop: readStop(generation.stopSequences),
      thinking: readThinking(generation, model),
      search,
      storedTokens: typeof body.cachedContent === "string" ? tokensOfCache(body.cachedContent) : 0,
    },
    streamArguments,
    topLogprobs: readLogprobs(generation),
  };
}
