import type { TextTarget } from "../../routing/target.ts";

/** Whether the model's responses cannot contain images or sound, which make them large. */
export const writesOnlyText = ({ outputModalities }: TextTarget["model"]): boolean =>
  outputModalities.every((modality) => modality === "text");
