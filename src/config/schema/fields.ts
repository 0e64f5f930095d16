import { Type } from "../../base/type.ts";
import { UPSTREAM_DIALECT_NAMES } from "../../canon/dialect-name.ts";

/** Kinds of fields that several sections have. */
export const closed = { additionalProperties: false };
export const Text = Type.String({ minLength: 1 });
export const Count = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
export const UpstreamDialect = Type.Enum(UPSTREAM_DIALECT_NAMES);
export const HttpUrl = Type.String({
  format: "http-url",
  description: "an http or https URL without query, fragment or credentials",
});

/** `writeOnly` marks a credential: an unset variable there is a mistake, not an absent field. */
export const Credential = Type.String({
  pattern: "^[\\x21-\\x7e]+$",
  description: "visible ASCII characters without spaces",
  writeOnly: true,
});
