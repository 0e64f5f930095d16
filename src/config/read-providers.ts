import type { ProviderSettings } from "./config.ts";
import type { DocumentNode, Position, Report } from "./document-node.ts";
import { type ConfigSchema, configSchema, type ReadContext, readValue } from "./read-values.ts";
import { CredentialFile, ProviderFile } from "./schema/provider-file.ts";
import { toProviders } from "./to-config.ts";

/** Fields of every kind. */
const COMMON_FIELDS = ["base_url", "timeout_ms", "max_concurrent", "breaker", "trace_context", "traits"] as const;

/** The fields of a kind of provider, in addition to those of every kind, by their names in the file. */
export interface ProviderKind {
  required: readonly string[];
  optional: readonly string[];
  /** The dialects that its field `dialects` may list. */
  dialects: readonly string[];
  /** Checks across fields, such as a missing file of credentials. */
  mistakes: (settings: ProviderSettings) => readonly string[];
}

/** The name under which the built-in simulator offers its models. */
export const SIMULATOR = "simulator";

/** These must be the same for all credentials of a provider; otherwise it is another provider. */
const SHARED_FIELDS: ReadonlySet<string> = new Set(["base_url", "dialects"]);

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const EVERY_FIELD = configSchema(ProviderFile).properties ?? {};

/**
 * Reads the `providers` section, each entry with the fields of its kind. Relative paths start from `folder`. Undefined if the
 * section is empty or absent.
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
    context.report(node.position, "providers must be a mapping from provider names to settings");
    return providers;
  }
  for (const [name, entry] of node.entries) {
    if (name === SIMULATOR)
      context.report(
        entry.position,
        `providers.${SIMULATOR}: this name is reserved for the built-in simulator; choose another one`,
      );
    else if (!NAME.test(name)) {
      context.report(
        entry.position,
        `providers.${name}: provider names may contain only letters, digits, dots, dashes and underscores`,
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
    const kind = whole ? kinds.get(fields.kind) : undefined;
    if (kind === undefined) continue;
    reportBeside(entry.node, fields, path, context.report);
    const labels = new Set<string>();
    for (const settings of toProviders(name, fields, folder)) {
      const { credential } = settings;
      const at = credential === undefined ? path : `${path}.credentials[${credential.index}]`;
      for (const mistake of kind.mistakes(settings)) context.report(entry.position, `${at}: ${mistake}`);
      if (credential === undefined) continue;
      if (labels.has(credential.label))
        context.report(
          entry.position,
          `${at}: the label ${credential.label} is used twice in ${path}; labels must be unique`,
        );
      labels.add(credential.label);
    }
  }
  return providers;
}

function shapeFor(node: DocumentNode, kinds: ReadonlyMap<string, ProviderKind>): ConfigSchema {
  const kindNode = node.kind === "map" ? node.entries.get("kind")?.node : undefined;
  const kind =
    kindNode?.kind === "scalar" && typeof kindNode.value === "string" ? kinds.get(kindNode.value) : undefined;
  const kindShape = { enum: [...kinds.keys()] };
  if (kind === undefined) {
    return { type: "object", properties: { ...EVERY_FIELD, kind: kindShape }, required: ["kind"] };
  }
  const listed = node.kind === "map" && node.entries.get("credentials")?.node.kind === "list";
  const properties: Record<string, ConfigSchema> = { kind: kindShape };
  for (const name of [...COMMON_FIELDS, ...kind.required, ...kind.optional]) {
    const field = EVERY_FIELD[name];
    if (field === undefined)
      throw new Error(`A provider kind refers to ${name}, which is not a field of the configuration.`);
    properties[name] = name === "dialects" ? { ...field, items: { enum: kind.dialects } } : field;
  }
  if (listed || properties["credentials"] === undefined) {
    properties["credentials"] = { type: "array", minItems: 1, items: credentialShape(kind) };
  }
  if (!listed) return { type: "object", properties, required: ["kind", ...kind.required] };
  return { type: "object", properties, required: ["kind", ...kind.required.filter((name) => !isCredential(name))] };
}

/** A credential next to a list of them: it would be one more, or stand in for what an entry lacks. */
function reportBeside(node: DocumentNode, { credentials }: ProviderFile, path: string, report: Report): void {
  if (node.kind !== "map" || !Array.isArray(credentials)) return;
  for (const [name, { position }] of node.entries) {
    if (name !== "credentials" && isCredential(name))
      report(position, `${path}.${name} cannot be combined with a list of credentials; move it into the list`);
  }
}

/** Fields that hold a credential, or a part of one. */
const isCredential = (name: string): boolean => EVERY_FIELD[name]?.writeOnly === true;

/** One of several credentials: what the kind wants of one, and whatever else differs between its accounts. */
function credentialShape({ required, optional }: ProviderKind): ConfigSchema {
  const names = [...required, ...optional].filter((name) => !SHARED_FIELDS.has(name));
  const own = names.flatMap((name): [string, ConfigSchema][] => {
    const field = EVERY_FIELD[name];
    return field === undefined ? [] : [[name, field]];
  });
  const properties = { ...configSchema(CredentialFile).properties, ...Object.fromEntries(own) };
  return { type: "object", properties, required: required.filter(isCredential) };
}
