import type { Pricings } from "../../catalogue/model.ts";

/** The units in which audio is priced. */
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
