import { Type } from "../../base/type.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { EXPECTED, stringLike } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../check-body.ts";
import { QUALITIES } from "../qualities.ts";
import { SIZE_WORD } from "../read-size.ts";

const text = Type.String();
const IMAGE = "a data URL of an image, or an https URL";

const ImageField = Type.Union([
  Type.String(),
  Type.Object({ image_url: Type.Optional(Type.String()), file_id: Type.Optional(Type.String()) }),
]);
const ImageFields = Type.Union([ImageField, Type.Array(ImageField)], {
  [EXPECTED]: `${IMAGE}, or an array of them`,
});
const ImageMask = Type.Union([...ImageField.anyOf], { [EXPECTED]: IMAGE });

const shared = {
  model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
  prompt: Type.String({ minLength: 1 }),
  n: Type.Optional(Type.Integer({ minimum: 1, description: "The maximum depends on the model." })),
  size: Type.Optional(stringLike(SIZE_WORD, '"auto" or a width and a height, such as "1536x1024"')),
  quality: Type.Optional(Type.Enum([...QUALITIES])),
  background: Type.Optional(Type.Enum(["transparent", "opaque", "auto"])),
  output_format: Type.Optional(Type.Enum(["png", "jpeg", "webp"])),
  output_compression: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  stream: Type.Optional(Type.Boolean()),
  partial_images: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
  response_format: Type.Optional(Type.Enum(["b64_json", "url"])),
  user: Type.Optional(text),
  aspect_ratio: Type.Optional(
    stringLike("^(?:auto|[1-9][0-9]{0,3}:[1-9][0-9]{0,3})$", 'two integers separated by a colon, such as "16:9"'),
  ),
  seed: Type.Optional(Type.Integer()),
  negative_prompt: Type.Optional(text),
  guidance_scale: Type.Optional(Type.Number()),
  watermark: Type.Optional(Type.Boolean()),
};

/** Contract 4, `images/generations`; options of other models are accepted too. */
export const ImageGenerationRequest = Type.Object(
  {
    ...shared,
    moderation: Type.Optional(Type.Enum(["auto", "low"])),
    image: Type.Optional(ImageFields),
    images: Type.Optional(ImageFields),
    mask: Type.Optional(ImageMask),
  },
  { title: "ImageGenerationRequest" },
);

/** Contract 4, `images/edits`: the fields of the form, and of the JSON that some clients send in its place. */
export const ImageEditRequest = Type.Object(
  {
    ...shared,
    moderation: Type.Optional(Type.Enum(["auto", "low"])),
    input_fidelity: Type.Optional(Type.Enum(["high", "low"])),
    image: Type.Optional(ImageFields),
    images: Type.Optional(ImageFields),
    mask: Type.Optional(ImageMask),
  },
  { title: "ImageEditRequest" },
);

export const checkGeneration = defineBodyCheck(ImageGenerationRequest, refuseTransparentJpeg);
export const checkEdit = defineBodyCheck(ImageEditRequest, refuseTransparentJpeg);

function refuseTransparentJpeg(body: { background?: string; output_format?: string }): void {
  if (body.background === "transparent" && body.output_format === "jpeg") {
    refuse("background", 'cannot be "transparent" with output_format "jpeg"; use "png" or "webp"');
  }
}
