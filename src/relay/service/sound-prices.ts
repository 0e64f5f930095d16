import type { Pricings } from "../../catalogue/model.ts";

/** By what sound is paid at these prices. */
export function soundPrices({
  characters = [],
  audio = [],
  prompt = [],
  completion = [],
  audio_output = [],
}: Pricings) {
  return {
    byCharacter: characters.length > 0,
    bySecond: audio.some(({ unit }) => unit === "perSecond"),
    byToken: prompt.length + completion.length + audio_output.length > 0,
  };
}
