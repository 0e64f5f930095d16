import type { FieldNote } from "../../canon/receipt.ts";
import type { Inputs } from "../inputs.ts";
import { readPredictImage } from "./read-image.ts";
import type { ReferenceImage } from "./schema.ts";

const USER_PROVIDED = "MASK_MODE_USER_PROVIDED";

/** Sorts reference images into inputs and a mask. Returns the kinds that only one family of models supports. */
export function readReferences(
  references: readonly ReferenceImage[],
  inputs: Inputs,
  notes: FieldNote[],
): ReferenceImage[] {
  const others: ReferenceImage[] = [];
  for (const [index, reference] of references.entries()) {
    const path = `instances[0].referenceImages[${index}]`;
    const { referenceType, referenceImage, maskImageConfig } = reference;
    if (referenceType === "REFERENCE_TYPE_RAW") {
      inputs.add(readPredictImage(referenceImage, `${path}.referenceImage`), `${path}.referenceImage`);
    } else if (
      referenceType === "REFERENCE_TYPE_MASK" &&
      (maskImageConfig?.maskMode ?? USER_PROVIDED) === USER_PROVIDED
    ) {
      inputs.setMask(readPredictImage(referenceImage, `${path}.referenceImage`), `${path}.referenceImage`);
      if (maskImageConfig?.dilation !== undefined) {
        const reason = "the mask is sent unchanged, without dilation";
        notes.push({ path: `${path}.maskImageConfig.dilation`, action: "dropped", reason });
      }
    } else others.push(reference);
  }
  return others;
}
