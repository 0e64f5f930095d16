import { Type } from "../../base/type.ts";
import { EXPECTED, stringLike } from "../../dialects/reading/schema-builders.ts";
import { aspectRatio } from "../predict/schema.ts";

const prompt = Type.String({ minLength: 1 });
const seconds = Type.Union(
  [stringLike("^[1-9][0-9]{0,2}$", "a number of seconds"), Type.Integer({ minimum: 1, maximum: 999 })],
  { [EXPECTED]: 'a number of seconds, such as "4"', description: "The lengths depend on the model." },
);

const InputReference = Type.Union(
  [Type.String(), Type.Object({ image_url: Type.Optional(Type.String()), file_id: Type.Optional(Type.String()) })],
  { [EXPECTED]: "an image file, or an object with image_url" },
);

/** `POST /v1/videos`, with options of other models. */
export const VideoCreateRequest = Type.Object(
  {
    model: Type.Optional(Type.String({ minLength: 1, description: "`<provider>/<model_name>`. Default: `sora-2`." })),
    prompt,
    input_reference: Type.Optional(InputReference),
    seconds: Type.Optional(seconds),
    size: Type.Optional(stringLike("^[1-9][0-9]{1,3}x[1-9][0-9]{1,3}$", 'a width and a height, such as "1280x720"')),
    aspect_ratio: Type.Optional(aspectRatio),
    resolution: Type.Optional(
      stringLike("^(?:[1-9][0-9]{2,3}p|[248]k)$", 'a resolution such as "720p", "1080p" or "4k"'),
    ),
    generate_audio: Type.Optional(Type.Boolean()),
    negative_prompt: Type.Optional(Type.String()),
    seed: Type.Optional(Type.Integer()),
  },
  { title: "VideoCreateRequest" },
);

export const VideoRemixRequest = Type.Object({ prompt }, { title: "VideoRemixRequest" });

const video = Type.Object({ id: Type.String({ minLength: 1, description: "The id of a completed video." }) });

export const VideoEditRequest = Type.Object({ prompt, video }, { title: "VideoEditRequest" });

export const VideoExtendRequest = Type.Object({ prompt, video, seconds }, { title: "VideoExtendRequest" });
