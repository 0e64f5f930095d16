import type { DocumentNode } from "./document.ts";
import { type ReadContext, readValue, type Shape, shapeOf } from "./read-values.ts";
import { ProviderFile } from "./schema.ts";

/** The fields that a kind of provider takes beyond kind, base_url and timeout_ms, by their names in the file. */
export interface ProviderKind {
  required: readonly string[];
  optional: readonly string[];
}

/** The name under which the built-in simulator offers its models. */
export const SIMULATOR = "simulator";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const EVERY_FIELD = shapeOf(ProviderFile).properties ?? {};

/** Reads the `providers` section, each entry by the fields that its kind takes. */
export function readProviders(
  node: DocumentNode,
  kinds: ReadonlyMap<string, ProviderKind>,
  context: ReadContext,
): Map<string, ProviderFile> {
  const providers = new Map<string, ProviderFile>();
  if (node.kind === "scalar" && node.value === null) return providers;
  if (node.kind !== "map") {
    context.report(node.place, "providers must be a mapping of provider names");
    return providers;
  }
  for (const [name, entry] of node.entries) {
    if (name === SIMULATOR)
      context.report(entry.place, `providers.${SIMULATOR}: this name is the built-in simulator's`);
    else if (!NAME.test(name)) {
      context.report(
        entry.place,
        `providers.${name}: a provider's name has only letters, digits, dots, dashes and underscores`,
      );
    }
    const shape = shapeFor(entry.node, kinds);
    const value = readValue(entry.node, shape, `providers.${name}`, context, entry.place);
    if (value !== undefined) providers.set(name, value as ProviderFile);
  }
  return providers;
}

function shapeFor(node: DocumentNode, kinds: ReadonlyMap<string, ProviderKind>): Shape {
  const kindNode = node.kind === "map" ? node.entries.get("kind")?.node : undefined;
  const kind =
    kindNode?.kind === "scalar" && typeof kindNode.value === "string" ? kinds.get(kindNode.value) : undefined;
  const kindShape = { enum: [...kinds.keys()] };
  if (kind === undefined) {
    return { type: "object", properties: { ...EVERY_FIELD, kind: kindShape }, required: ["kind"] };
  }
  const properties: Record<string, Shape> = { kind: kindShape };
  for (const name of ["base_url", "timeout_ms", ...kind.required, ...kind.optional]) {
    const field = EVERY_FIELD[name];
    if (field === undefined) throw new Error(`A provider kind names ${name}, which is no field of the configuration.`);
    properties[name] = field;
  }
  return { type: "object", properties, required: ["kind", ...kind.required] };
}
