import { Type } from "../../base/type.ts";
import { MODALITIES } from "../../catalogue/model.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";

const bound = Type.Optional(nullable(Type.Number()));
const Tier = Type.Optional(
  Type.Object({ unit: Type.Literal("kTokens"), gte: bound, lte: bound, gt: bound, lt: bound }),
);

const PricingItem = Type.Object(
  {
    value: Type.Number({ minimum: 0 }),
    unit: Type.Enum(["perMTokens", "perCount", "perSecond"]),
    currency: Type.Literal("USD"),
    conditions: Type.Optional(Type.Object({ prompt_tokens: Tier, completion_tokens: Tier })),
  },
  { title: "PricingItem" },
);
const prices = Type.Optional(Type.Array(PricingItem));

const Pricings = Type.Object(
  {
    prompt: prices,
    completion: prices,
    input_cache_read: prices,
    input_cache_write_5_min: prices,
    input_cache_write_1_h: prices,
    input_cache_write: prices,
    web_search: prices,
    internal_reasoning: prices,
    video: prices,
    image: prices,
    audio: prices,
    audio_and_video: prices,
  },
  { title: "Pricings" },
);

const Modalities = Type.Array(Type.Enum([...MODALITIES]));
const common = {
  display_name: Type.String(),
  input_modalities: Modalities,
  output_modalities: Modalities,
  capabilities: Type.Object({ reasoning: Type.Boolean() }),
  context_length: Type.Integer(),
  pricings: Pricings,
};
const id = Type.String({ description: "`<provider>/<model_name>`." });

/** Contract 2.9, in the three shapes. */
export const ChatModel = Type.Object(
  { id, object: Type.Literal("model"), created: Type.Integer(), owned_by: Type.String(), ...common },
  { title: "ChatModel" },
);
export const ChatModelList = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(ChatModel) },
  { title: "ChatModelList" },
);

/** The vendor has one more field. */
export const VendorChatModel = Type.Object(
  {
    ...ChatModel.properties,
    shutdown_date: nullable(Type.String({ description: "YYYY-MM-DD: the day on which it leaves the list." })),
  },
  { title: "VendorChatModel" },
);
export const VendorChatModelList = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(VendorChatModel) },
  { title: "VendorChatModelList" },
);

export const MessagesModel = Type.Object(
  { id, type: Type.Literal("model"), created_at: Type.String({ format: "date" }), ...common },
  { title: "MessagesModel" },
);
export const MessagesModelList = Type.Object(
  { data: Type.Array(MessagesModel), has_more: Type.Boolean() },
  { title: "MessagesModelList" },
);

export const GenaiModel = Type.Object(
  {
    name: id,
    displayName: Type.String(),
    description: Type.String(),
    inputTokenLimit: Type.Integer(),
    outputTokenLimit: Type.Integer(),
    thinking: Type.Boolean(),
    inputModalities: Modalities,
    outputModalities: Modalities,
    pricings: Pricings,
  },
  { title: "GenaiModel" },
);
export const GenaiModelList = Type.Object(
  { models: Type.Array(GenaiModel), nextPageToken: Type.Optional(Type.String()) },
  { title: "GenaiModelList" },
);

const moment = Type.String({ format: "date-time" });

/** The vendor's own shape, at the drop-in door. */
export const VendorMessagesModel = Type.Object(
  {
    type: Type.Literal("model"),
    id,
    display_name: Type.String(),
    created_at: moment,
    capabilities: Type.Null(),
    lifecycle: Type.Enum(["active", "deprecated", "retired"]),
    deprecated_at: Type.Null(),
    retires_at: nullable(moment),
    line: Type.Null(),
    max_input_tokens: nullable(Type.Integer()),
    max_tokens: nullable(Type.Integer()),
  },
  { title: "VendorMessagesModel" },
);
export const VendorMessagesModelList = Type.Object(
  {
    data: Type.Array(VendorMessagesModel),
    has_more: Type.Boolean(),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
  },
  { title: "VendorMessagesModelList" },
);
