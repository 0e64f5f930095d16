import { Type } from "../../base/type.ts";

const integer = Type.Integer({ minimum: 0 });
const base64 = Type.String({ description: "The image in base64." });
const fileUrl = Type.Optional(
  Type.String({ format: "uri", description: "Set instead of image data if the image is very large." }),
);

/** Contract 2.5. */
export const PredictAnswer = Type.Object(
  {
    predictions: Type.Array(
      Type.Object({
        bytesBase64Encoded: Type.Optional(base64),
        gcsUri: fileUrl,
        mimeType: Type.Optional(Type.String({ examples: ["image/png"] })),
        prompt: Type.Optional(Type.String({ description: "The prompt as rewritten by the model." })),
        raiFilteredReason: Type.Optional(Type.String({ description: "Why moderation blocked this image." })),
        error: Type.Optional(
          Type.Object(
            { code: Type.Integer(), message: Type.String(), status: Type.String() },
            { description: "Why this image failed, while others succeeded." },
          ),
        ),
      }),
      { description: "One element for each requested image, generated or not." },
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
  { title: "ImageUsage", description: "If the provider counts tokens." },
);

const settings = {
  background: Type.String({ examples: ["transparent", "opaque", "auto"] }),
  output_format: Type.String({ examples: ["png", "webp", "jpeg"] }),
  quality: Type.String({ examples: ["low", "medium", "high", "auto"] }),
  size: Type.String({ examples: ["1024x1024", "auto"] }),
};

/** The response without a stream (choices 5). */
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
    // Omitted if the model chose it and its host does not report it.
    background: Type.Optional(Type.String({ examples: ["transparent", "opaque"] })),
    output_format: settings.output_format,
    quality: Type.Optional(Type.String({ examples: ["low", "medium", "high"] })),
    size: Type.Optional(Type.String({ examples: ["1024x1024"] })),
    usage: Type.Optional(ImageUsage),
    errors: Type.Optional(
      Type.Array(Type.Object({ index: integer, code: Type.String(), message: Type.String() }), {
        description: "The images that failed, while others succeeded.",
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
