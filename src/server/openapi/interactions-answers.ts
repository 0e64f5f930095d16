import { Type } from "../../base/type.ts";
import { openObject } from "../../dialects/reading/schema-builders.ts";

const count = Type.Optional(Type.Integer({ minimum: 0 }));
const byModality = Type.Optional(Type.Array(Type.Object({ modality: Type.String(), tokens: Type.Integer() })));

const InteractionUsage = Type.Object(
  {
    total_tokens: count,
    total_input_tokens: count,
    input_tokens_by_modality: byModality,
    total_cached_tokens: Type.Optional(Type.Integer({ minimum: 0, description: "Part of total_input_tokens." })),
    total_output_tokens: count,
    output_tokens_by_modality: byModality,
    total_thought_tokens: Type.Optional(Type.Integer({ minimum: 0, description: "Not part of total_output_tokens." })),
    total_tool_use_tokens: count,
  },
  { title: "InteractionUsage" },
);

const time = Type.Optional(Type.String({ format: "date-time" }));

const members = {
  id: Type.String(),
  object: Type.Optional(Type.Literal("interaction")),
  model: Type.Optional(Type.String()),
  status: Type.String({
    description: "`completed`, `requires_action`, `incomplete`, `failed`, `cancelled`, `queued` or `in_progress`.",
  }),
  created: time,
  updated: time,
  service_tier: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(Type.Object({ code: Type.String(), message: Type.String() }))),
  usage: Type.Optional(InteractionUsage),
};

const Step = openObject("A thought, an output of the model, or a call, depending on its `type`.");

export const InteractionAnswer = Type.Object(
  {
    ...members,
    previous_interaction_id: Type.Optional(Type.String()),
    input: Type.Optional(Type.Array(openObject(), { description: "With `include_input`: the steps of the request." })),
    steps: Type.Array(Step),
  },
  { title: "Interaction" },
);

export const InteractionStreamEvent = Type.Object(
  {
    event_type: Type.String({ examples: ["interaction.created", "step.delta", "interaction.completed"] }),
    event_id: Type.Optional(Type.String({ description: "Only of background interactions." })),
    interaction: Type.Optional(Type.Object(members)),
    index: count,
    step: Type.Optional(Step),
    delta: Type.Optional(openObject()),
  },
  { title: "InteractionStreamEvent" },
);
