import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { EXPECTED, openObject, stringLike } from "../../dialects/reading/schema-builders.ts";
import { IMAGE_TIERS } from "../image.ts";
import { PERSON_GENERATIONS } from "../person-generation.ts";
import { QUALITIES } from "../qualities.ts";
import { SIZE_WORD } from "../read-size.ts";

const REFERENCE_TYPES = [
  "REFERENCE_TYPE_RAW",
  "REFERENCE_TYPE_MASK",
  "REFERENCE_TYPE_CONTROL",
  "REFERENCE_TYPE_STYLE",
  "REFERENCE_TYPE_SUBJECT",
] as const;

export const PredictImage = Type.Object({
  bytesBase64Encoded: Type.Optional(Type.String({ description: "Base64, standard or URL-safe." })),
  gcsUri: Type.Optional(Type.String({ description: "An https URL to fetch instead of the bytes." })),
  mimeType: Type.Optional(
    Type.String({ description: "Such as `image/png`. The gateway detects the type from the bytes." }),
  ),
});
export type PredictImage = Static<typeof PredictImage>;

const ReferenceImage = Type.Object({
  referenceType: Type.Enum([...REFERENCE_TYPES]),
  referenceId: Type.Optional(Type.Integer()),
  referenceImage: Type.Optional(PredictImage),
  maskImageConfig: Type.Optional(
    Type.Object({
      maskMode: Type.Optional(Type.String({ description: "`MASK_MODE_USER_PROVIDED`." })),
      dilation: Type.Optional(Type.Number()),
    }),
  ),
});
export type ReferenceImage = Static<typeof ReferenceImage>;

const Instance = Type.Object({
  prompt: Type.String({ minLength: 1 }),
  image: Type.Optional(PredictImage),
  referenceImages: Type.Optional(Type.Array(ReferenceImage)),
});

export const aspectRatio = stringLike(
  "^(?:auto|adaptive|[1-9][0-9]{0,3}:[1-9][0-9]{0,3})$",
  'two integers separated by a colon, such as "16:9"',
);

const passthrough = {
  imageSize: Type.Optional(stringLike(SIZE_WORD, '"auto" or a width and a height, such as "1536x1024"')),
  quality: Type.Optional(Type.Enum([...QUALITIES])),
  sampleImageSize: Type.Optional(Type.Enum([...IMAGE_TIERS])),
};

const Parameters = Type.Object({
  sampleCount: Type.Optional(Type.Integer({ minimum: 1 })),
  negativePrompt: Type.Optional(Type.String()),
  aspectRatio: Type.Optional(aspectRatio),
  outputOptions: Type.Optional(
    Type.Object({
      mimeType: Type.Optional(Type.Enum(["image/png", "image/jpeg"])),
      compressionQuality: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    }),
  ),
  seed: Type.Optional(Type.Integer()),
  enhancePrompt: Type.Optional(Type.Boolean()),
  personGeneration: Type.Optional(Type.Enum([...PERSON_GENERATIONS])),
  safetySetting: Type.Optional(Type.String()),
  includeRaiReason: Type.Optional(Type.Boolean()),
  addWatermark: Type.Optional(Type.Boolean()),
  guidanceScale: Type.Optional(Type.Number()),
  editMode: Type.Optional(Type.String()),
  editConfig: Type.Optional(openObject("For models that support it.")),
  ...passthrough,
});

/** Contract 2.4. */
export const PredictRequest = Type.Object(
  {
    instances: Type.Array(Instance, { minItems: 1, maxItems: 1, [EXPECTED]: "an array with one element" }),
    parameters: Type.Optional(Parameters),
    ...passthrough,
  },
  { title: "PredictRequest" },
);
