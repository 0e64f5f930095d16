import { GatewayError } from "../../canon/error.ts";

export interface ProviderFormField {
  name: string;
  required: boolean;
  /** Its value is given as a reference, never literally. */
  secret: boolean;
  /** The environment variable that the vendor's own tools use. */
  variable: string | null;
}

/** The fields that declare a provider of a kind. */
export interface ProviderForm {
  kind: string;
  fields: readonly ProviderFormField[];
}

/** A provider as it would appear in the configuration, with references instead of secrets. */
export interface ProviderDraft {
  name: string;
  kind: string;
  fields: Readonly<Record<string, string>>;
}

/** `${NAME}` or `${file:path}`, and nothing else: a default would be a literal secret. */
const REFERENCE = /^\$\{(?:[A-Za-z_]\w*|file:[^{}\r\n]+)\}$/;
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]*$/;

/**
 * Rejects an invalid draft. A secret must be a reference, so that it never passes through a browser, a log or a proxy;
 * other fields must not be references, because their values are shown.
 */
export function checkDraft({ kind, fields }: ProviderDraft, forms: readonly ProviderForm[]): ProviderForm {
  const form = forms.find((one) => one.kind === kind);
  if (form === undefined) {
    const known = forms.map((one) => one.kind).join(", ");
    throw refused(`There is no provider kind ${JSON.stringify(kind)}; expected one of ${known}.`, "unknown_kind");
  }
  for (const [name, value] of Object.entries(fields)) {
    const field = form.fields.find((one) => one.name === name);
    if (field === undefined) throw refused(`A provider of the kind ${kind} has no field ${name}.`, "unknown_field");
    if (field.secret && !REFERENCE.test(value)) {
      const example = `\${${field.variable ?? "MY_KEY"}} or \${file:/run/secrets/key}`;
      throw refused(
        `${name} is a secret and must not be sent here. Send a reference to it, such as ${example}.`,
        "secret_not_taken",
      );
    }
    if (!field.secret && value.includes("${"))
      throw refused(`${name} is not a secret: send its value instead of a reference.`, "reference_not_taken");
  }
  return form;
}

const refused = (message: string, code: string) => new GatewayError("invalid_request", message, { code });

/** The section of the file that declares these providers. */
export function providersYaml(drafts: readonly ProviderDraft[]): string {
  const lines = drafts.flatMap(({ name, kind, fields }) => [
    `  ${word(name)}:`,
    `    kind: ${word(kind)}`,
    ...Object.entries(fields).map(([field, value]) => `    ${field}: ${REFERENCE.test(value) ? value : word(value)}`),
  ]);
  return `${["providers:", ...lines].join("\n")}\n`;
}

const word = (text: string): string => (PLAIN.test(text) && !isSpecial(text) ? text : JSON.stringify(text));

/** Text that YAML would not read as a string. */
const isSpecial = (text: string): boolean => /^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);

/** The providers that the environment declares: named after their kind, with its usual variables. */
export const environmentDrafts = (names: readonly string[], forms: readonly ProviderForm[]): ProviderDraft[] =>
  forms
    .filter(({ kind }) => names.includes(kind))
    .map(({ kind, fields }) => ({
      name: kind,
      kind,
      fields: Object.fromEntries(
        fields.flatMap(({ name, variable }) => (variable === null ? [] : [[name, `\${${variable}}`]])),
      ),
    }));
