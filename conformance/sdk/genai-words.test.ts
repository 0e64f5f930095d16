import { describe, expect, test } from "bun:test";
import { fold } from "../../src/canon/fold.ts";
import { HostedTools } from "../../src/dialects/genai/answer/hosted-tools.ts";
import { OpenBlocks } from "../../src/dialects/genai/answer/open-blocks.ts";
import { decodeStop, encodeStop } from "../../src/dialects/genai/answer/stop-reason.ts";
import { GOOGLE_BILLING } from "../../src/providers/billing/google.ts";
import { readTypeScript } from "../../testing/sdk-types/read-typescript.ts";
import { checkedRequest } from "../../testing/translate-sample.ts";

const FILE = "@google/genai/dist/genai.d.ts";
const ENUMS = [
  "FinishReason",
  "BlockedReason",
  "ToolType",
  "FunctionCallingConfigMode",
  "HarmCategory",
  "HarmBlockThreshold",
  "HarmBlockMethod",
  "MediaResolution",
  "PartMediaResolutionLevel",
  "MediaProcessing",
  "Modality",
  "ThinkingLevel",
  "ServiceTier",
  "ProminentPeople",
  "AudioTranscriptionConfigMode",
  "Environment",
  "PhishBlockThreshold",
  "Behavior",
  "AspectRatio",
  "ImageSize",
] as const;
const shapes = await readTypeScript(
  "node_modules",
  ENUMS.map((type) => ({ file: FILE, type })),
);
const words = new Map<string, readonly string[]>(ENUMS.map((name, index) => [name, [...(shapes[index]?.words ?? [])]]));
const valuesOf = (name: string): readonly string[] => words.get(name) ?? [];
/** Words that the vendor's Python SDK has, and that the installed package lacks. */
const NEWER = ["MALFORMED_RESPONSE"];

const readChunk = (chunk: object) => {
  const reader = new OpenBlocks({ origin: "genai", makeId: () => "id", note: () => {} } as never);
  return fold([...reader.read(chunk as never), ...reader.end()]);
};

describe("mapping 10: every stop reason of the vendor's SDK is known", () => {
  const reasons = [...valuesOf("FinishReason"), ...NEWER];

  test.each(reasons)("%s returns to its own protocol unchanged", (reason) => {
    expect(encodeStop(decodeStop(reason), true)).toBe(reason);
  });

  test("reasons for an incomplete response say so in every protocol", () => {
    const meaning = new Map(reasons.map((reason) => [reason, decodeStop(reason).unified]));
    expect(meaning.get("MAX_TOKENS")).toBe("length");
    expect(meaning.get("CONTINUATION")).toBe("length");
    const filtered = reasons.filter((reason) => meaning.get(reason) === "filter");
    expect(filtered).toEqual(
      expect.arrayContaining(["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"]),
    );
  });

  test.each(valuesOf("BlockedReason"))("a prompt blocked by %s is filtered content", (blockReason) => {
    const { stop, parts } = readChunk({ promptFeedback: { blockReason } });
    expect({ stop, parts }).toEqual({ stop: { unified: "filter", raw: blockReason }, parts: [] });
  });
});

describe("choices 11: the drop-in URLs accept every word of the vendor's SDK", () => {
  const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
  const media = { inlineData: { mimeType: "image/png", data: "AAAA" } };
  const requests: Readonly<Record<string, (word: string) => object>> = {
    FunctionCallingConfigMode: (mode) => ({ toolConfig: { functionCallingConfig: { mode } } }),
    HarmCategory: (category) => ({ safetySettings: [{ category, threshold: "OFF" }] }),
    HarmBlockThreshold: (threshold) => ({ safetySettings: [{ category: "HARM_CATEGORY_JAILBREAK", threshold }] }),
    HarmBlockMethod: (method) => ({
      safetySettings: [{ category: "HARM_CATEGORY_JAILBREAK", threshold: "OFF", method }],
    }),
    MediaResolution: (mediaResolution) => ({ generationConfig: { mediaResolution } }),
    PartMediaResolutionLevel: (level) => ({ contents: [{ parts: [{ ...media, mediaResolution: { level } }] }] }),
    MediaProcessing: (mediaProcessing) => ({ contents: [{ parts: [{ ...media, mediaProcessing }] }] }),
    Modality: (modality) => ({ generationConfig: { responseModalities: [modality] } }),
    ThinkingLevel: (thinkingLevel) => ({ generationConfig: { thinkingConfig: { thinkingLevel } } }),
    ServiceTier: (serviceTier) => ({ serviceTier }),
    ProminentPeople: (prominentPeople) => ({ generationConfig: { imageConfig: { prominentPeople } } }),
    AudioTranscriptionConfigMode: (mode) => ({ generationConfig: { audioTranscriptionConfig: { mode } } }),
    Environment: (environment) => ({ tools: [{ computerUse: { environment } }] }),
    PhishBlockThreshold: (blockingConfidence) => ({ tools: [{ enterpriseWebSearch: { blockingConfidence } }] }),
    Behavior: (behavior) => ({ tools: [{ functionDeclarations: [{ name: "clock", behavior }] }] }),
    AspectRatio: (aspectRatio) => ({ generationConfig: { responseFormat: [{ image: { aspectRatio } }] } }),
    ImageSize: (imageSize) => ({ generationConfig: { responseFormat: [{ image: { imageSize } }] } }),
    ToolType: (toolType) => ({
      contents: [{ role: "model", parts: [{ toolCall: { id: "t1", toolType, args: {} }, thoughtSignature: "AAAA" }] }],
    }),
  };

  test.each(Object.keys(requests))("%s", (name) => {
    const known = valuesOf(name);
    expect(known.length).toBeGreaterThan(1);
    for (const word of known) {
      const body = { contents, ...requests[name]?.(word) };
      expect(checkedRequest("genai", JSON.stringify(body), "dropin")).toEqual(body);
    }
  });

  test.each([{ aspectRatio: "1:8" }, { imageSize: "512" }])("imageConfig %p", (imageConfig) => {
    const body = { contents, generationConfig: { imageConfig } };
    expect(checkedRequest("genai", JSON.stringify(body), "dropin")).toEqual(body);
    expect(() => checkedRequest("genai", JSON.stringify(body), "contract")).toThrow("generationConfig.imageConfig.");
  });
});

test("decision 0083: every kind of tool call of the vendor's SDK is priced, free or listed without a price", () => {
  const parts = valuesOf("ToolType").map((toolType) => ({ toolCall: { toolType, args: {} } }));
  const { searches, tools = {} } = HostedTools.in({ candidates: [{ content: { parts } }] }).addTo({});
  expect(searches).toBe(2);
  const listed = GOOGLE_BILLING.tools.map(({ name }) => name);
  expect(Object.keys(tools).filter((name) => !listed.includes(name))).toEqual(["TOOL_TYPE_UNSPECIFIED"]);
});
