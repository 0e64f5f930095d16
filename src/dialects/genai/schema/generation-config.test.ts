import { describe, expect, test } from "bun:test";
import { AT_CONTRACT_DOOR, type RefusalCase, refusalOf, testRefusals } from "../../reading/refusal-table.ts";
import { checkGenerateContentRequest } from "./check-request.ts";

const sound = { contents: [{ parts: [{ text: "Hello" }] }] };
const config = (generationConfig: object) => ({ generationConfig });
const at = (rest: string) => `generationConfig.${rest}`;

/** A field with a valid and an invalid value. */
const field = (name: string, good: unknown, bad: unknown, says: string): RefusalCase => ({
  rule: `contract 2.6: ${name} ${JSON.stringify(good)}, not ${JSON.stringify(bad)}`,
  good: config({ [name]: good }),
  bad: config({ [name]: bad }),
  path: at(name),
  says,
});

const fields: RefusalCase[] = [
  field("temperature", 2.5, "warm", "a number"),
  field("topP", 1, 1.1, "a number from 0 to 1"),
  field("topP", 0, -0.1, "a number from 0 to 1"),
  field("topK", 40, 0.5, "an integer"),
  field("candidateCount", 8, 9, "an integer from 1 to 8"),
  field("maxOutputTokens", 1, 0, "an integer of at least 1"),
  field("stopSequences", ["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5", "6"], "at most 5 items; it has 6"),
  field("presencePenalty", -2, 2, "a number from -2 to less than 2"),
  field("presencePenalty", 1.99, -2.01, "a number from -2 to less than 2"),
  field("frequencyPenalty", 0, 2, "a number from -2 to less than 2"),
  field("seed", 7, "7", "an integer"),
  field("responseMimeType", "text/x.enum", "text/html", 'one of "text/plain", "application/json", "text/x.enum"'),
  field("responseLogprobs", true, "yes", "true or false"),
  field("audioTimestamp", true, 1, "true or false"),
  field("enableAffectiveDialog", false, 0, "true or false"),
  field("mediaResolution", "MEDIA_RESOLUTION_ULTRA_HIGH", "MEDIA_RESOLUTION_TINY", '"MEDIA_RESOLUTION_LOW"'),
  field("thinkingConfig", { thinkingBudget: -1 }, 1024, "an object"),
];

const relations: RefusalCase[] = [
  {
    rule: "contract 8: logprobs 1..20",
    good: config({ responseLogprobs: true, logprobs: 20 }),
    bad: config({ responseLogprobs: true, logprobs: 21 }),
    path: at("logprobs"),
    says: "an integer from 1 to 20",
  },
  {
    rule: "contract 2.6: logprobs needs responseLogprobs",
    good: config({ responseLogprobs: true, logprobs: 1 }),
    bad: config({ responseLogprobs: false, logprobs: 1 }),
    path: at("logprobs"),
    says: "requires responseLogprobs to be true",
  },
  {
    rule: "contract 2.6: modalities",
    good: config({ responseModalities: ["AUDIO"] }),
    bad: config({ responseModalities: ["TEXT", "SMELL"] }),
    path: at("responseModalities[1]"),
    says: 'one of "TEXT", "IMAGE", "AUDIO"; it is "SMELL"',
  },
  {
    rule: "contract 2.6: IMAGE goes with TEXT",
    good: config({ responseModalities: ["IMAGE", "TEXT"] }),
    bad: config({ responseModalities: ["IMAGE"] }),
    path: at("responseModalities"),
    says: 'must include "TEXT" if it includes "IMAGE"',
  },
  {
    rule: "contract 2.6: responseSchema needs a media type",
    good: config({ responseSchema: { type: "STRING", enum: ["a"] }, responseMimeType: "text/x.enum" }),
    bad: config({ responseSchema: { type: "STRING" } }),
    path: at("responseMimeType"),
    says: '"application/json" or "text/x.enum" with a responseSchema; it is missing',
  },
  {
    rule: "contract 2.6: responseSchema does not go with text/plain",
    good: config({ responseSchema: { type: "OBJECT" }, responseMimeType: "application/json" }),
    bad: config({ responseSchema: { type: "OBJECT" }, responseMimeType: "text/plain" }),
    path: at("responseMimeType"),
    says: 'it is "text/plain"',
  },
  {
    rule: "contract 2.6: responseJsonSchema needs application/json",
    good: config({ responseJsonSchema: { type: "object" }, responseMimeType: "application/json" }),
    bad: config({ responseJsonSchema: { type: "object" }, responseMimeType: "text/x.enum" }),
    path: at("responseMimeType"),
    says: 'must be "application/json" with a responseJsonSchema; it is "text/x.enum"',
  },
  {
    rule: "contract 2.6: responseJsonSchema excludes responseSchema",
    good: config({ responseJsonSchema: {}, responseMimeType: "application/json" }),
    bad: config({ responseJsonSchema: {}, responseSchema: { type: "OBJECT" }, responseMimeType: "application/json" }),
    path: at("responseJsonSchema"),
    says: "cannot be combined with responseSchema",
  },
  {
    rule: "contract 2.6: every Schema of a responseSchema has a type",
    good: config({
      responseSchema: { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "NULL" }] } },
      responseMimeType: "application/json",
    }),
    bad: config({
      responseSchema: { type: "OBJECT", properties: { "a b": { description: "d" } } },
      responseMimeType: "application/json",
    }),
    path: at('responseSchema.properties["a b"].type'),
    says: "it is missing",
  },
  {
    rule: "contract 2.6: Schema fields have their types, in depth",
    good: config({
      responseSchema: {
        type: "object",
        properties: { a: { type: "string", maxLength: 5, pattern: "^a" } },
        required: ["a"],
      },
      responseMimeType: "application/json",
    }),
    bad: config({
      responseSchema: { type: "OBJECT", properties: { a: { type: "STRING", enum: "b" } } },
      responseMimeType: "application/json",
    }),
    path: at("responseSchema.properties.a.enum"),
    says: "an array of strings",
  },
  {
    rule: "contract 2.6: thinkingBudget excludes thinkingLevel",
    good: config({ thinkingConfig: { thinkingBudget: 128, includeThoughts: true } }),
    bad: config({ thinkingConfig: { thinkingBudget: 128, thinkingLevel: "LOW" } }),
    path: at("thinkingConfig.thinkingLevel"),
    says: "cannot be combined with thinkingBudget",
  },
  {
    rule: "contract 2.6: thinkingLevel",
    good: config({ thinkingConfig: { thinkingLevel: "MINIMAL" } }),
    bad: config({ thinkingConfig: { thinkingLevel: "EXTREME" } }),
    path: at("thinkingConfig.thinkingLevel"),
    says: 'one of "THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"',
  },
  {
    rule: "contract 2.6: thinkingBudget is -1 or more",
    good: config({ thinkingConfig: { thinkingBudget: 0 } }),
    bad: config({ thinkingConfig: { thinkingBudget: -2 } }),
    path: at("thinkingConfig.thinkingBudget"),
    says: "an integer of at least -1",
  },
  {
    rule: "contract 2.6: voiceConfig excludes multiSpeakerVoiceConfig",
    good: config({ speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } }, languageCode: "en" } }),
    bad: config({ speechConfig: { voiceConfig: {}, multiSpeakerVoiceConfig: { speakerVoiceConfigs: [] } } }),
    path: at("speechConfig.multiSpeakerVoiceConfig"),
    says: "cannot be combined with voiceConfig",
  },
  {
    rule: "contract 2.6: a replicated voice is a WAV sample",
    good: config({
      speechConfig: { voiceConfig: { replicatedVoiceConfig: { mimeType: "audio/wav", voiceSample: "AA==" } } },
    }),
    bad: config({ speechConfig: { voiceConfig: { replicatedVoiceConfig: { mimeType: "audio/mp3" } } } }),
    path: at("speechConfig.voiceConfig.replicatedVoiceConfig.mimeType"),
    says: 'must be "audio/wav"; it is "audio/mp3"',
  },
  {
    rule: "contract 2.6: several speakers have names",
    good: config({
      speechConfig: { multiSpeakerVoiceConfig: { speakerVoiceConfigs: [{ speaker: "A", voiceConfig: {} }] } },
    }),
    bad: config({ speechConfig: { multiSpeakerVoiceConfig: { speakerVoiceConfigs: [{ voiceConfig: {} }] } } }),
    path: at("speechConfig.multiSpeakerVoiceConfig.speakerVoiceConfigs[0].speaker"),
    says: "it is missing",
  },
  {
    rule: "contract 2.6: autoMode excludes manualMode",
    good: config({ routingConfig: { autoMode: { modelRoutingPreference: "BALANCED" } } }),
    bad: config({ routingConfig: { autoMode: {}, manualMode: { modelName: "one" } } }),
    path: at("routingConfig.manualMode"),
    says: "cannot be combined with autoMode",
  },
  {
    rule: "contract 2.6: aspectRatio",
    good: config({ imageConfig: { aspectRatio: "4:5", imageSize: "2K" } }),
    bad: config({ imageConfig: { aspectRatio: "2:1" } }),
    path: at("imageConfig.aspectRatio"),
    says: '"1:1", "2:3", "3:2"',
  },
  {
    rule: "contract 2.6: imageSize",
    good: config({ imageConfig: { imageSize: "4K" } }),
    bad: config({ imageConfig: { imageSize: "8K" } }),
    path: at("imageConfig.imageSize"),
    says: 'one of "1K", "2K", "4K"',
  },
  {
    rule: "contract 2.6: outputCompressionQuality is for image/jpeg",
    good: config({ imageConfig: { outputMimeType: "image/jpeg", outputCompressionQuality: 80 } }),
    bad: config({ imageConfig: { outputMimeType: "image/png", outputCompressionQuality: 80 } }),
    path: at("imageConfig.outputCompressionQuality"),
    says: "requires an output of image/jpeg",
  },
  {
    rule: "sdks 1.2: the same under imageOutputOptions",
    good: config({ imageConfig: { imageOutputOptions: { mimeType: "image/jpeg", compressionQuality: 80 } } }),
    bad: config({ imageConfig: { imageOutputOptions: { mimeType: "image/png", compressionQuality: 80 } } }),
    path: at("imageConfig.imageOutputOptions.compressionQuality"),
    says: "requires an output of image/jpeg",
  },
];

describe("generationConfig fields", () => testRefusals(checkGenerateContentRequest, sound, fields));
describe("generationConfig relations", () => testRefusals(checkGenerateContentRequest, sound, relations));

test("contract 7: thinkingConfig on a model without thinking is an error", () => {
  const body = { ...sound, ...config({ thinkingConfig: { includeThoughts: true } }) };
  const context = { ...AT_CONTRACT_DOOR, model: { id: "acme/plain", reasoning: false } };
  const refusal = refusalOf((value) => checkGenerateContentRequest(value, context), body);
  expect(refusal?.path).toBe("generationConfig.thinkingConfig");
  expect(refusal?.message).toContain("the model acme/plain does not support thinking");
  expect(
    refusalOf((value) => checkGenerateContentRequest(value, { ...context, door: "dropin" }), body),
  ).toBeUndefined();
});
