import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { EXPECTED, stringLike } from "../../dialects/reading/schema-builders.ts";
import { PERSON_GENERATIONS } from "../person-generation.ts";
import { aspectRatio, PredictImage } from "../predict/schema.ts";

const Instance = Type.Object({
  prompt: Type.Optional(Type.String()),
  image: Type.Optional(PredictImage),
  lastFrame: Type.Optional(PredictImage),
});

const Parameters = Type.Object({
  aspectRatio: Type.Optional(aspectRatio),
  resolution: Type.Optional(
    stringLike("^(?:[1-9][0-9]{2,3}p|[248]k)$", 'a resolution such as "720p", "1080p" or "4k"'),
  ),
  durationSeconds: Type.Optional(Type.Integer({ minimum: 1 })),
  generateAudio: Type.Optional(Type.Boolean()),
  negativePrompt: Type.Optional(Type.String()),
  enhancePrompt: Type.Optional(Type.Boolean()),
  personGeneration: Type.Optional(Type.Enum([...PERSON_GENERATIONS])),
  sampleCount: Type.Optional(Type.Integer({ minimum: 1 })),
  seed: Type.Optional(Type.Integer()),
  fps: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** Contract 2.1. */
export const VideoRequestBody = Type.Object(
  {
    instances: Type.Array(Instance, { minItems: 1, maxItems: 1, [EXPECTED]: "an array with one element" }),
    parameters: Type.Optional(Parameters),
  },
  { title: "PredictLongRunningRequest" },
);
export type VideoRequestBody = Static<typeof VideoRequestBody>;

/** Contract 2.3. */
export const PollRequest = Type.Object(
  { operationName: Type.String({ description: "The `name` that the submit request returned." }) },
  { title: "FetchPredictOperationRequest" },
);
