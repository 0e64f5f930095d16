import type { ProviderSettings } from "./config.ts";
import type { DocumentNode, Position } from "./document.ts";
import { type ReadContext, readValue, type Shape, shapeOf } from "./read-values.ts";
import { ProviderFile } from "./schema.ts";
import { toProvider } from "./to-config.ts";

/** Every kind takes these. */
const COMMON_FIELDS = ["base_url", "timeout_ms", "max_concurrent", "breaker"] as const;

/** The fields that a kind of provider takes beyond those that every kind does, by their names in the file. */
export interface ProviderKind {
  required: readonly string[];
  optional: readonly string[];
  /** Those that its field `dialects` may name. */
  dialects: readonly string[];
  /** Checks across fields, such as a missing file of credentials. */
  mistakes: (settings: ProviderSettings) => readonly string[];
}

/** The name under which the built-in simulator offers its models. */
export const SIMULATOR = "simulator";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const EVERY_FIELD = shapeOf(ProviderFile).properties ?? {};

/**
 * Reads the `providers` section, each entry by the fields that its kind takes. `folder` is what relative paths start from.
 * Undefined for a section that is left empty, as for one that is left out.
 */
export function readProviders(
  node: DocumentNode,
  kinds: ReadonlyMap<string, ProviderKind>,
  folder: string,
  context: ReadContext,
): Map<string, ProviderFile> | undefined {
  if (node.kind === "scalar" && node.value === null) return undefined;
  const providers = new Map<string, ProviderFile>();
  if (node.kind !== "map") {
    context.report(node.position, "providers must be a mapping of provider names");
    return providers;
  }
  for (const [name, entry] of node.entries) {
    if (name === SIMULATOR)
      context.report(entry.position, `providers.${SIMULATOR}: this name is the built-in simulator's`);
    else if (!NAME.test(name)) {
      context.report(
        entry.position,
        `providers.${name}: a provider's name has only letters, digits, dots, dashes and underscores`,
      );
    }
    const path = `providers.${name}`;
    const shape = shapeFor(entry.node, kinds);
    let whole = true;
    const report = (position: Position, message: string) => {
      whole = false;
      context.report(position, message);
    };
    const value = readValue(entry.node, shape, path, { ...context, report }, entry.position);
    if (value === undefined) continue;
    const fields = value as ProviderFile;
    providers.set(name, fields);
    // Fields that were wrong are left out of the provider: checking it further would report them as missing, too.
    const mistakes = whole ? kinds.get(fields.kind)?.mistakes(toProvider(name, fields, folder)) : undefined;
    for (const mistake of mistakes ?? []) context.report(entry.position, `${path}: ${mistake}`);
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
  for (const name of [...COMMON_FIELDS, ...kind.required, ...kind.optional]) {
    const field = EVERY_FIELD[name];
    if (field === undefined) throw new Error(`A provider kind names ${name}, which is no field of the configuration.`);
    properties[name] = name === "dialects" ? { ...field, items: { enum: kind.dialects } } : field;
  }
  return { type: "object", properties, required: ["kind", ...kind.required] };
}
