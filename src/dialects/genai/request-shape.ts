import { withoutAbsent } from "../../base/without-absent.ts";
import { type StringTreatment, treatString } from "./treat-string.ts";

/** How the fields of an object are normalised. Only the key names of other fields are normalised. */
export interface RequestShape {
  fields: Map<string, Treatment>;
  /** The keys are the client's; every value is normalised this way. */
  values?: Treatment;
  /** Other names of a field, in addition to snake_case. */
  synonyms?: ReadonlyMap<string, string>;
  /** Fields that hold a list of objects. A single object becomes a list of one. */
  lists?: ReadonlySet<string>;
  finish?: (object: object) => object;
}

/** `data` is the client's and is not changed, including its keys. */
export type Treatment = RequestShape | StringTreatment;

function shape(fields: Record<string, Treatment>, more: Omit<RequestShape, "fields"> = {}): RequestShape {
  return { fields: new Map(Object.entries(fields)), ...more };
}

const schema = shape(
  { type: "enum", default: "data", example: "data", enum: "data", required: "data", propertyOrdering: "data" },
  { synonyms: new Map([["oneOf", "anyOf"]]) },
);
const schemaMap = shape({}, { values: schema });
for (const field of ["items", "anyOf", "allOf", "prefixItems", "additionalProperties", "not"]) {
  schema.fields.set(field, schema);
}
for (const field of ["properties", "defs", "$defs"]) schema.fields.set(field, schemaMap);

const blob = shape({ data: "bytes" });
const resolution = shape({ level: "resolution" });

const part = shape(
  {
    inlineData: blob,
    functionCall: shape({ args: "data" }),
    toolCall: shape({ args: "data" }),
    toolResponse: shape({ response: "data" }),
    executableCode: shape({ language: "enum" }),
    codeExecutionResult: shape({ outcome: "enum" }),
    thoughtSignature: "bytes",
    mediaResolution: resolution,
    partMetadata: "data",
  },
  { finish: nestResolution },
);
const parts = new Set(["parts"]);
part.fields.set("functionResponse", shape({ response: "data", parts: part, scheduling: "enum" }, { lists: parts }));

const content = shape({ role: "role", parts: part }, { lists: parts });

const voice = shape({
  replicatedVoiceConfig: shape({ voiceSample: "bytes", voiceSampleAudio: "bytes", consentAudio: "bytes" }),
});

const generationConfig = shape({
  responseSchema: schema,
  responseJsonSchema: "data",
  responseFormat: shape({ text: shape({ schema: "data" }) }),
  responseModalities: "enum",
  mediaResolution: "resolution",
  thinkingConfig: shape({ thinkingLevel: "enum" }),
  speechConfig: shape({
    voiceConfig: voice,
    multiSpeakerVoiceConfig: shape({ speakerVoiceConfigs: shape({ voiceConfig: voice }) }),
  }),
  routingConfig: shape({ autoMode: shape({ modelRoutingPreference: "enum" }) }),
  imageConfig: shape({}, { finish: nestImageOutput }),
});

const tool = shape(
  {
    functionDeclarations: shape({
      parameters: schema,
      response: schema,
      parametersJsonSchema: "data",
      responseJsonSchema: "data",
      behavior: "enum",
    }),
    mcpServers: shape({ streamableHttpTransport: shape({ headers: "data" }) }),
  },
  { lists: new Set(["functionDeclarations"]) },
);

/** A generateContent request. Fields addressed to the gateway itself are not changed. */
export const REQUEST_SHAPE = shape(
  {
    contents: content,
    systemInstruction: content,
    generationConfig,
    tools: tool,
    toolConfig: shape({ functionCallingConfig: shape({ mode: "enum" }) }),
    safetySettings: shape({ category: "enum", threshold: "enum", method: "enum" }),
    labels: "data",
    provider: "data",
    model_routing_config: "data",
    trivium: "data",
  },
  { lists: new Set(["contents", "tools", "safetySettings"]) },
);
REQUEST_SHAPE.fields.set("generateContentRequest", REQUEST_SHAPE);

/** The contract writes a part's resolution as a string; the provider expects an object. */
function nestResolution(object: object): object {
  const { mediaResolution } = object as { mediaResolution?: unknown };
  if (typeof mediaResolution !== "string") return object;
  return { ...object, mediaResolution: { level: treatString(mediaResolution, "resolution") } };
}

/** The contract has the output file options next to the others; the provider expects them nested. */
function nestImageOutput(object: object): object {
  const { outputMimeType, outputCompressionQuality, ...rest } = object as Record<string, unknown>;
  if (outputMimeType === undefined && outputCompressionQuality === undefined) return object;
  if (rest["imageOutputOptions"] !== undefined) return object;
  const imageOutputOptions = withoutAbsent({ mimeType: outputMimeType, compressionQuality: outputCompressionQuality });
  return { ...rest, imageOutputOptions };
}
