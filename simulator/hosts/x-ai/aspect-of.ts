import type { JsonObject } from "../../json.ts";
import { proportionOf, ratioWithin3 } from "../../media/image-size.ts";
import type { ImageSize } from "../../sniff-image.ts";
import { requireString } from "../openai/text/check.ts";
import { invalid } from "../openai/text/errors.ts";

/** Width to height; `auto` takes it from the input image. */
export function aspectOf(values: JsonObject, own: ImageSize | undefined): ImageSize {
  const asked = values.aspect_ratio ?? "auto";
  const text = requireString(asked, "aspect_ratio");
  if (text === "auto") return ratioWithin3(own ?? { width: 1, height: 1 });
  const proportion = proportionOf(text);
  if (proportion === undefined || proportion > 3 || proportion < 1 / 3) {
    throw invalid(`aspect_ratio '${text}' is not supported.`, "aspect_ratio", "invalid_value");
  }
  return { width: proportion, height: 1 };
}
