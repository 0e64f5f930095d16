import { GatewayError } from "../../canon/error.ts";

export interface ProviderFormField {
  name: string;
  required: boolean;
  /** Its value is named, and never said. */
  secret: boolean;
  /** In which the vendor's own tools look for it. */
  variable: string | null;
}

/** What a person has to say to declare a provider of a kind. */
export interface ProviderForm {
  kind: string;
  fields: readonly ProviderFormField[];
}

/** A provider as it would stand in the configuration, with references in place of secrets. */
export interface ProviderDraft {
  name: string;
  kind: string;
  fields: Readonly<Record<string, string>>;
}

/** `${NAME}` or `${file:path}`, and nothing else: a default would be a secret that was written down. */
const REFERENCE = /^\$\{(?:[A-Za-z_]\w*|file:[^{}\r\n]+)\}$/;
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]*$/;

/**
 * Refuses what is no draft. A secret is taken by its name alone, so that none is in a browser, a log or a proxy's; what is no secret
 * names nothing, since it is shown.
 */
export function checkDraft({ kind, fields }: ProviderDraft, forms: readonly ProviderForm[]): ProviderForm {
  const form = forms.find((one) => one.kind === kind);
  if (form === undefined) {
    const known = forms.map((one) => one.kind).join(", ");
    throw refused(`There is no kind ${JSON.stringify(kind)} of provider; known are ${known}.`, "unknown_kind");
  }
  for (const [name, value] of Object.entries(fields)) {
    const field = form.fields.find((one) => one.name === name);
    if (field === undefined) throw refused(`A provider of the kind ${kind} has no field ${name}.`, "unknown_field");
    if (field.secret && !REFERENCE.test(value)) {
      const example = `\${${field.variable ?? "MY_KEY"}} or \${file:/run/secrets/key}`;
      throw refused(
        `${name} is a secret: it is not taken here. Name where the gateway finds it, as ${example}.`,
        "secret_not_taken",
      );
    }
    if (!field.secret && value.includes("${"))
      throw refused(`${name} is no secret: say its value itself.`, "reference_not_taken");
  }
  return form;
}

const refused = (message: string, code: string) => new GatewayError("invalid_request", message, { code });

/** The section of the file that declares these. */
export function providersYaml(drafts: readonly ProviderDraft[]): string {
  const lines = drafts.flatMap(({ name, kind, fields }) => [
    `  ${word(name)}:`,
    `    kind: ${word(kind)}`,
    ...Object.entries(fields).map(([field, value]) => `    ${field}: ${REFERENCE.test(value) ? value : word(value)}`),
  ]);
  return `${["providers:", ...lines].join("\n")}\n`;
}

const word = (text: string): string => (PLAIN.test(text) && !isSpecial(text) ? text : JSON.stringify(text));

/** What YAML takes for something else than a text. */
const isSpecial = (text: string): boolean => /^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text);

/** Those that the environment declares: named after their kind, with its usual variables. */
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
