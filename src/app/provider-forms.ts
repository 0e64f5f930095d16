import { configSchema } from "../config/read-values.ts";
import { ProviderFile } from "../config/schema/provider-file.ts";
import type { Registry } from "../providers/registry.ts";
import type { ProviderForm, ProviderFormField } from "../server/admin/provider-form.ts";

/** Built in; no configuration declares it. */
const SIMULATOR = "simulator";
/** Lists, which a form of plain text fields cannot enter. */
const NOT_ASKED: readonly string[] = ["dialects"];
const FIELDS = configSchema(ProviderFile).properties ?? {};

/** The fields that declare a provider of each kind. */
export function providerForms({ kinds }: Registry): ProviderForm[] {
  return [...kinds.values()]
    .filter(({ kind }) => kind !== SIMULATOR)
    .map(({ kind, fields: { required, optional }, variables = {} }) => {
      const names = new Set([...required, ...optional, "base_url"]);
      const fields = [...names]
        .filter((name) => !NOT_ASKED.includes(name))
        .map(
          (name): ProviderFormField => ({
            name,
            required: required.includes(name),
            secret: isSecret(name),
            variable: variables[name] ?? null,
          }),
        );
      return { kind, fields };
    });
}

/** The path of a credentials file is not a secret. */
const isSecret = (name: string): boolean => name !== "credentials" && FIELDS[name]?.writeOnly === true;
