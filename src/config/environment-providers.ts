import type { ProviderSettings } from "./config.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { configSchema, expectation, fits } from "./read-values.ts";
import { ProviderFile } from "./schema/provider-file.ts";
import { toProviders } from "./to-config.ts";

/** The environment variables that declare a provider of a kind: the names that the vendors' own tools read. */
interface KnownVariables {
  kind: string;
  /** Field of the configuration file → variable. */
  variables: Readonly<Record<string, string>>;
}

const FIELDS = configSchema(ProviderFile).properties ?? {};

/**
 * A provider for each kind all of whose variables are set, named after it. Used when no file declares providers. Values are
 * checked like the fields of a file; surrounding white space, such as the newline at the end of a secrets file, is trimmed.
 */
export function environmentProviders(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly KnownVariables[],
): ProviderSettings[] {
  const providers = new Map<string, ProviderSettings>();
  const problems: ConfigProblem[] = [];
  for (const { kind, variables } of known) {
    const fields = Object.entries(variables).map(([field, variable]) => ({
      field,
      variable,
      value: environment[variable]?.trim(),
    }));
    if (fields.length === 0 || providers.has(kind) || fields.some(({ value }) => !value)) continue;
    for (const { field, variable, value } of fields) {
      const shape = FIELDS[field];
      if (shape === undefined || fits(value, shape)) continue;
      const message = `${variable} must be ${expectation(shape)}`;
      problems.push({ file: "environment", line: 1, column: 1, message });
    }
    const values = Object.fromEntries(fields.map(({ field, value }) => [field, value]));
    for (const settings of toProviders(kind, { kind, ...values } as ProviderFile, process.cwd())) {
      providers.set(kind, settings);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return [...providers.values()];
}
