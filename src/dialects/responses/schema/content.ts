import { Type } from "../../../base/type.ts";
import { anyOtherKind, nullable, openObject } from "../../reading/schema-builders.ts";

/** The vendor's own endpoint rejects longer texts. */
export const MAX_TEXT = 10_485_760;

const LISTED_PARTS = ["input_text", "output_text", "refusal", "input_image", "input_file"];

const prompt_cache_breakpoint = Type.Optional(openObject("Marks the end of a prefix to cache."));

const InputText = Type.Object(
  { type: Type.Literal("input_text"), text: Type.String({ maxLength: MAX_TEXT }), prompt_cache_breakpoint },
  { title: "ResponsesInputText" },
);

const InputImage = Type.Object(
  {
    type: Type.Literal("input_image"),
    image_url: Type.Optional(nullable(Type.String({ minLength: 1, description: "A URL, or a base64 data URL." }))),
    file_id: Type.Optional(nullable(Type.String())),
    detail: Type.Optional(nullable(Type.Enum(["low", "high", "auto", "original"]))),
    prompt_cache_breakpoint,
  },
  { title: "ResponsesInputImage" },
);

const InputFile = Type.Object(
  {
    type: Type.Literal("input_file"),
    file_id: Type.Optional(nullable(Type.String())),
    file_url: Type.Optional(nullable(Type.String({ minLength: 1 }))),
    file_data: Type.Optional(nullable(Type.String({ description: "A data URL or plain base64." }))),
    filename: Type.Optional(nullable(Type.String())),
    prompt_cache_breakpoint,
  },
  { title: "ResponsesInputFile" },
);

const OutputText = Type.Object(
  {
    type: Type.Literal("output_text"),
    text: Type.String({ maxLength: MAX_TEXT }),
    annotations: Type.Optional(nullable(Type.Array(openObject()))),
    logprobs: Type.Optional(nullable(Type.Array(openObject()))),
  },
  { title: "ResponsesOutputText" },
);

const Refusal = Type.Object({ type: Type.Literal("refusal"), refusal: Type.String() }, { title: "ResponsesRefusal" });

const ContentPart = Type.Union([InputText, OutputText, InputImage, InputFile, Refusal, anyOtherKind(LISTED_PARTS)]);

/** A text or parts, in messages and in tool outputs (R4, R14). */
export const Content = Type.Union([Type.String({ maxLength: MAX_TEXT }), Type.Array(ContentPart)]);
