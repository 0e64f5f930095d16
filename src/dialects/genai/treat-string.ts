/** How a string is normalised, depending on its field. */
export type StringTreatment = "data" | "enum" | "role" | "bytes" | "resolution";

/** Placeholders that the provider documents for a signature. They are not base64, so their characters must not change. */
const SIGNATURE_STANDINS: ReadonlySet<string> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

const ROLES: ReadonlySet<string> = new Set(["user", "model", "function"]);
const RESOLUTION_PREFIX = "MEDIA_RESOLUTION_";
const RESOLUTIONS: ReadonlySet<string> = new Set(["UNSPECIFIED", "LOW", "MEDIUM", "HIGH", "ULTRA_HIGH"]);

export function treatString(value: string, treatment: StringTreatment): string {
  switch (treatment) {
    case "data":
      return value;
    case "enum":
      return value.toUpperCase();
    case "role":
      return toRole(value);
    case "bytes":
      return toStandardBase64(value);
    case "resolution":
      return toResolution(value);
  }
}

function toRole(value: string): string {
  if (ROLES.has(value)) return value;
  const role = value.toLowerCase();
  return ROLES.has(role) ? role : value;
}

function toStandardBase64(value: string): string {
  if (SIGNATURE_STANDINS.has(value)) return value;
  const standard = value.includes("-") || value.includes("_") ? value.replaceAll("-", "+").replaceAll("_", "/") : value;
  const missing = (4 - (standard.length % 4)) % 4;
  return missing === 0 || missing === 3 ? standard : standard + "=".repeat(missing);
}

function toResolution(value: string): string {
  const name = value.toUpperCase();
  return RESOLUTIONS.has(name) ? RESOLUTION_PREFIX + name : name;
}
