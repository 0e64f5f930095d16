import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { CallOptions, ModelRouting, ProviderRouting } from "../../reading/routing-schema.ts";
import { openObject, unlisted } from "../../reading/schema-builders.ts";
import { LISTED_CONTENT } from "./content.ts";
import { StepOrContent } from "./steps.ts";
import { Tool, ToolChoice } from "./tools.ts";

const text = Type.Optional(Type.String());
const flag = Type.Optional(Type.Boolean());

const GenerationConfig = Type.Object(
  {
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    temperature: Type.Optional(Type.Number()),
    top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    seed: Type.Optional(Type.Integer()),
    stop_sequences: Type.Optional(Type.Array(Type.String())),
    thinking_level: Type.Optional(
      Type.Union([Type.Enum(["minimal", "low", "medium", "high"]), Type.String({ minLength: 1, ...unlisted })]),
    ),
    thinking_summaries: Type.Optional(Type.Enum(["auto", "none"])),
    tool_choice: Type.Optional(ToolChoice),
    image_config: Type.Optional(openObject()),
    speech_config: Type.Optional(Type.Union([openObject(), Type.Array(openObject())])),
    transcription_config: Type.Optional(openObject()),
    video_config: Type.Optional(openObject()),
  },
  { title: "InteractionsGenerationConfig" },
);

/** A format with a `type` of its own, or a bare JSON Schema. */
const ResponseFormat = openObject('`{"type":"text","mime_type":"application/json","schema":{…}}`, or a JSON Schema.');

const SafetySetting = Type.Object({
  type: Type.String(),
  threshold: Type.String(),
  method: text,
});

export const InteractionsRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    input: Type.Optional(Type.Union([Type.String(), Type.Array(StepOrContent), ...LISTED_CONTENT])),
    system_instruction: text,
    tools: Type.Optional(Type.Array(Tool)),
    generation_config: Type.Optional(GenerationConfig),
    response_format: Type.Optional(Type.Union([ResponseFormat, Type.Array(ResponseFormat)])),
    response_mime_type: text,
    response_modalities: Type.Optional(Type.Array(Type.String())),
    safety_settings: Type.Optional(Type.Array(SafetySetting)),
    service_tier: text,
    cached_content: text,
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    stream: flag,
    store: Type.Optional(
      Type.Boolean({ description: "Defaults to true. Later requests can continue from a stored interaction." }),
    ),
    background: flag,
    previous_interaction_id: text,
    provider: Type.Optional(ProviderRouting),
    model_routing_config: Type.Optional(ModelRouting),
    trivium: Type.Optional(CallOptions),
  },
  { title: "InteractionsRequest" },
);
export type InteractionsRequest = Static<typeof InteractionsRequest>;
