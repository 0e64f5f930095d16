import type { DialectName } from "../canon/dialect-name.ts";
import type { Naming } from "../catalogue/catalogue.ts";
import type { Door } from "../dialects/check.ts";

/** Clients of genai leave their vendor's name out, or put it before whatever has none. */
export const IMPLIED_PUBLISHER = "google";

const NAMINGS: Readonly<Record<Door, { genai: Naming; others: Naming }>> = {
  contract: {
    genai: { vendorNames: false, impliedPublisher: IMPLIED_PUBLISHER },
    others: { vendorNames: false },
  },
  dropin: {
    genai: { vendorNames: true, impliedPublisher: IMPLIED_PUBLISHER },
    others: { vendorNames: true },
  },
};

/** How a door reads the names of models in a protocol (choices 1). */
export function namingOf({ dialect, door }: { dialect: { name: DialectName }; door: Door }): Naming {
  return NAMINGS[door][dialect.name === "genai" ? "genai" : "others"];
}
