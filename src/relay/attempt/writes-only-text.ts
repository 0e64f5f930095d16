import type { TextTarget } from "../../routing/target.ts";

/** Whether no image or sound can make an answer of the model large. */
export const writesOnlyText = ({ outputModalities }: TextTarget["model"]): boolean =>
  outputModalities.every((modality) => modality === "text");
