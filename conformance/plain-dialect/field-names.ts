import type { FieldNames } from "../../src/canon/field-names.ts";

export const FIELD_NAMES: FieldNames = { turns: "lines", maxOutputTokens: "most" };
