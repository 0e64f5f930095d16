import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { openObject } from "../../reading/schema-builders.ts";
import { Content, SystemInstruction } from "./content.ts";
import { GenerationConfig } from "./generation-config.ts";
import { Tool, ToolConfig } from "./tools.ts";

const SafetySetting = Type.Object(
  {
    category: Type.Enum([
      "HARM_CATEGORY_UNSPECIFIED",
      "HARM_CATEGORY_HATE_SPEECH",
      "HARM_CATEGORY_HARASSMENT",
      "HARM_CATEGORY_SEXUALLY_EXPLICIT",
      "HARM_CATEGORY_DANGEROUS_CONTENT",
      "HARM_CATEGORY_CIVIC_INTEGRITY",
      "HARM_CATEGORY_JAILBREAK",
      "HARM_CATEGORY_IMAGE_HATE",
      "HARM_CATEGORY_IMAGE_HARASSMENT",
      "HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT",
      "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT",
    ]),
    threshold: Type.Enum([
      "OFF",
      "BLOCK_NONE",
      "BLOCK_ONLY_HIGH",
      "BLOCK_MEDIUM_AND_ABOVE",
      "BLOCK_LOW_AND_ABOVE",
      "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
    ]),
    method: Type.Optional(Type.Enum(["HARM_BLOCK_METHOD_UNSPECIFIED", "SEVERITY", "PROBABILITY"])),
  },
  { title: "GenaiSafetySetting" },
);

const contents = Type.Array(Content, { minItems: 1 });

const options = {
  systemInstruction: Type.Optional(SystemInstruction),
  tools: Type.Optional(Type.Array(Tool)),
  toolConfig: Type.Optional(ToolConfig),
  safetySettings: Type.Optional(Type.Array(SafetySetting)),
  generationConfig: Type.Optional(GenerationConfig),
  cachedContent: Type.Optional(
    Type.String({ description: "`projects/<project>/locations/<location>/cachedContents/<id>`." }),
  ),
  labels: Type.Optional(openObject()),
};

export const GenerateContentRequest = Type.Object({ contents, ...options }, { title: "GenerateContentRequest" });
export type GenerateContentRequest = Static<typeof GenerateContentRequest>;

/** The prompt is in the body, or in the request that it would be sent with. */
export const GenaiCountTokensRequest = Type.Object(
  {
    contents: Type.Optional(contents),
    ...options,
    generateContentRequest: Type.Optional(GenerateContentRequest),
  },
  { title: "GenaiCountTokensRequest" },
);
export type GenaiCountTokensRequest = Static<typeof GenaiCountTokensRequest>;
