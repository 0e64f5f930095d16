import { PROVIDER_KINDS } from "../providers/index.ts";

/**
 * What an operator can do about a model without a provider. Environment variables declare providers only if the configuration
 * declares none.
 */
export function missingProvider(
  { publisher, providers }: { publisher: string; providers: readonly string[] },
  declared: boolean,
): string | undefined {
  const kinds = [...PROVIDER_KINDS.values()];
  const serving = kinds.filter(({ kind, publishers }) =>
    providers.length > 0 ? providers.includes(kind) : publishers.includes(publisher),
  );
  const usual = serving.find(({ variables }) => variables !== undefined);
  if (usual?.variables === undefined) return undefined;
  const variables = Object.values(usual.variables).join(" and ");
  return declared
    ? `Add a provider of kind ${usual.kind} under \`providers\` in the configuration, with ${variables}.`
    : `Set ${variables} and restart the gateway, or add a provider of kind ${usual.kind} to the configuration.`;
}
