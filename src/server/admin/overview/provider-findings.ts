import type { CredentialState, ModelState, ProviderState } from "../../../routing/health/provider-states.ts";
import { lastErrorView } from "../providers/last-error-view.ts";
import type { Finding } from "../schemas/attention.ts";

type ProviderFinding = Extract<Finding, { kind: "provider_down" }>;
type State = Pick<CredentialState, "sinceMs" | "untilMs" | "lastError">;

const isDown = ({ state }: Pick<ModelState, "state">): boolean => state === "open" || state === "half_open";

/** The providers that are out of use; of those that are in use, their credentials or models that are not. */
export function providerFindings(states: readonly ProviderState[]): ProviderFinding[] {
  return states.flatMap((provider) => {
    if (isDown(provider)) {
      const models = provider.credentials.flatMap(downModels);
      return [finding("bad", provider.provider, null, [...new Set(models)], provider)];
    }
    return provider.credentials.flatMap((credential) => {
      if (isDown(credential))
        return [finding("warn", provider.provider, credential.label, downModels(credential), credential)];
      return credential.models
        .filter(isDown)
        .map((model) => finding("warn", provider.provider, credential.label, [model.model], model));
    });
  });
}

const downModels = ({ models }: CredentialState): string[] => models.filter(isDown).map(({ model }) => model);

const finding = (
  severity: ProviderFinding["severity"],
  provider: string,
  credential: string | null,
  models: string[],
  { sinceMs, untilMs, lastError }: State,
): ProviderFinding => ({
  kind: "provider_down",
  severity,
  since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
  provider,
  credential,
  models,
  until: untilMs === undefined ? null : new Date(untilMs).toISOString(),
  error: lastErrorView(lastError),
});
