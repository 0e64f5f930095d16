import { isWithin } from "../base/ip-network.ts";
import { GatewayError } from "../canon/error.ts";
import { CREATE_KEYS } from "./key-checks.ts";
import { LIMIT_NAMES, wireName } from "./limits.ts";
import { matches } from "./model-glob.ts";
import type { Principal } from "./principal.ts";

type Scopes = Pick<
  Principal,
  "project" | "models" | "protocols" | "expiresAtMs" | "limits" | "networks" | "scopes" | "providerObjects" | "unpriced"
>;

/** Refuses a key that could do more than its parent (S05). */
export function checkSubset(child: Scopes, maker: Scopes): void {
  if (child.project !== maker.project) refuse("project", `must be "${maker.project}"`);
  for (const pattern of child.models) {
    // The parent's star also matches a star of the child as a plain character, so it covers whatever the child's
    // star matches.
    if (!maker.models.some((allowed) => matches(allowed, pattern))) {
      refuse("models", `"${pattern}" is not covered by ${maker.models.join(", ")}`);
    }
  }
  // Deeper nesting has no use, and each further key would be one more place to count its calls in.
  if (child.scopes?.includes(CREATE_KEYS)) refuse("scopes", "a child key cannot create keys");
  if (child.providerObjects && !maker.providerObjects) refuse("provider_objects", "the parent key does not have it");
  const { protocols, expiresAtMs, networks } = maker;
  if (protocols !== undefined && !child.protocols?.every((name) => protocols.includes(name))) {
    refuse("protocols", `only ${protocols.join(", ")} allowed`);
  }
  if (expiresAtMs !== undefined && (child.expiresAtMs ?? Number.POSITIVE_INFINITY) > expiresAtMs) {
    refuse("expires_at", `must be ${new Date(expiresAtMs).toISOString()} or earlier`);
  }
  if (networks !== undefined) {
    const outside = child.networks?.find((network) => !networks.some((allowed) => isWithin(network, allowed)));
    if (child.networks === undefined || outside !== undefined) {
      refuse("networks", `only ${networks.map(({ text }) => text).join(", ")} allowed`);
    }
  }
  if (child.unpriced === "mark" && maker.unpriced !== "mark") {
    refuse("billing.unpriced", "only an operator can allow requests without a known price");
  }
  for (const name of LIMIT_NAMES) {
    const most = maker.limits[name];
    if (most !== undefined && (child.limits[name] ?? Number.POSITIVE_INFINITY) > most) {
      refuse(`limits.${wireName(name)}`, `must be at most ${most}`);
    }
  }
}

function refuse(path: string, reason: string): never {
  throw new GatewayError(
    "forbidden",
    `A child key cannot have more access than its parent key: \`${path}\`: ${reason}.`,
    { path },
  );
}
