import { Type } from "../../base/type.ts";

const integer = Type.Integer({ minimum: 0 });
const base64 = Type.String({ description: "The image in base64." });
const fileUrl = Type.Optional(Type.String({ format: "uri", description: "Instead of an image that is very large." }));

/** Contract 2.5. */
export const PredictAnswer = Type.Object(
  {
    predictions: Type.Array(
      Type.Object({
        bytesBase64Encoded: Type.Optional(base64),
        gcsUri: fileUrl,
        mimeType: Type.Optional(Type.String({ examples: ["image/png"] })),
        prompt: Type.Optional(Type.String({ description: "As the model rewrote it." })),
        raiFilteredReason: Type.Optional(Type.String({ description: "Why moderation held this image back." })),
        error: Type.Optional(
          Type.Object(
            { code: Type.Integer(), message: Type.String(), status: Type.String() },
            { description: "Why this image could not be made, while others were." },
          ),
        ),
      }),
      { description: "One element for each image that was asked for, made or not." },
    ),
  },
  { title: "PredictAnswer" },
);

const ImageUsage = Type.Object(
  {
    input_tokens: integer,
    input_tokens_details: Type.Object({ image_tokens: integer, text_tokens: integer }),
    output_tokens: integer,
    total_tokens: integer,
  },
  { title: "ImageUsage", description: "Where the provider counts tokens." },
);

const settings = {
  background: Type.String({ examples: ["transparent", "opaque", "auto"] }),
  output_format: Type.String({ examples: ["png", "webp", "jpeg"] }),
  quality: Type.String({ examples: ["low", "medium", "high", "auto"] }),
  size: Type.String({ examples: ["1024x1024", "auto"] }),
};

/** The answer without a stream (choices 5). */
export const ImagesAnswer = Type.Object(
  {
    created: integer,
    data: Type.Array(
      Type.Object({
        b64_json: Type.Optional(base64),
        url: fileUrl,
        revised_prompt: Type.Optional(Type.String()),
      }),
    ),
    // What the model chose, and its host does not tell, is left out.
    background: Type.Optional(Type.String({ examples: ["transparent", "opaque"] })),
    output_format: settings.output_format,
    quality: Type.Optional(Type.String({ examples: ["low", "medium", "high"] })),
    size: Type.Optional(Type.String({ examples: ["1024x1024"] })),
    usage: Type.Optional(ImageUsage),
    errors: Type.Optional(
      Type.Array(Type.Object({ index: integer, code: Type.String(), message: Type.String() }), {
        description: "The images that were not made, while others were.",
      }),
    ),
  },
  { title: "ImagesAnswer" },
);

const step = { created_at: integer, ...settings };

/** Contract 2.14: the data of one event. */
function imageStreamEvent(family: "image_generation" | "image_edit", title: string) {
  return Type.Union(
    [
      Type.Object({
        type: Type.Literal(`${family}.partial_image`),
        b64_json: base64,
        ...step,
        partial_image_index: integer,
      }),
      Type.Object({
        type: Type.Literal(`${family}.completed`),
        b64_json: base64,
        ...step,
        usage: Type.Optional(ImageUsage),
      }),
    ],
    { title },
  );
}

export const ImageGenerationEvent = imageStreamEvent("image_generation", "ImageGenerationEvent");
export const ImageEditEvent = imageStreamEvent("image_edit", "ImageEditEvent");
