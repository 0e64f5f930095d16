import type { Naming } from "../catalogue/catalogue.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** How a door reads model names in a protocol (choices 1). */
export function namingOf({ dialect, door }: Pick<RoutedRequest, "dialect" | "door">): Naming {
  const { impliedPublisher } = dialect.http;
  const vendorNames = door === "dropin";
  return impliedPublisher === undefined ? { vendorNames } : { vendorNames, impliedPublisher };
}
