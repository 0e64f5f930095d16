import { type MeasuredGroups, measuredAttempts } from "../../../ledger/measured.ts";
import { OVERVIEW_WINDOWS, windowLengthMs } from "../../../ledger/overview.ts";
import { healthReport } from "../../../routing/health/health-report.ts";
import { type CredentialState, type ModelState, providerStates } from "../../../routing/health/provider-states.ts";
import { json } from "../../openapi/operation.ts";
import { adminRoute } from "../define-route.ts";
import { oneOfField } from "../query-fields.ts";
import { ProvidersAnswer } from "../schemas/provider.ts";
import { lastErrorView } from "./last-error-view.ts";
import { measuredView } from "./measured-view.ts";

export const listProviders = adminRoute({
  method: "GET",
  path: "/api/providers",
  id: "listProviders",
  summary: "Show the state of every provider's credentials and models, and what the ledger measured of them.",
  roles: ["admin", "viewer"],
  query: { window: oneOfField("How far back attempts are measured. Default: `1h`.", OVERVIEW_WINDOWS) },
  answers: [json(ProvidersAnswer, "The configured providers.")],
  handle: async ({ query }, { gateway, storage }) => {
    const { snapshot, health, clock, instance } = gateway;
    const wallMs = clock.wallMs();
    const range = { sinceMs: wallMs - windowLengthMs(query.window ?? "1h"), untilMs: wallMs + 1 };
    const measured = await measuredAttempts(storage, range);
    const nowMs = clock.nowMs();
    const states = new Map(providerStates(snapshot, health, { nowMs, wallMs }).map((one) => [one.provider, one]));
    const served = new Map<string, number>();
    for (const { offers } of snapshot.catalogue.list()) {
      for (const provider of new Set(offers.map((offer) => offer.provider)))
        served.set(provider, (served.get(provider) ?? 0) + 1);
    }
    const data = healthReport(snapshot, health, nowMs).map(({ provider, credentials }) => {
      const state = states.get(provider);
      const [first] = snapshot.providers.get(provider) ?? [];
      return {
        provider,
        kind: first?.kind ?? "",
        host: first?.host ?? null,
        models_served: served.get(provider) ?? 0,
        traits: first?.stated ?? null,
        ...stateView(state),
        measured: measuredView(measured.of(provider)),
        credentials: credentials.map((credential, index) =>
          credentialView(credential, state?.credentials[index], (label) => measured.of(provider, label)),
        ),
      };
    });
    return { data, health_of: instance, measured: { from: moment(measured.fromMs), to: moment(wallMs) } };
  },
});

type Report = ReturnType<typeof healthReport>[number]["credentials"][number];

const credentialView = (
  { label, weight, models }: Report,
  state: CredentialState | undefined,
  measuredOf: (label: string) => ReturnType<MeasuredGroups["of"]>,
) => ({
  label,
  weight,
  ...stateView(state),
  measured: measuredView(measuredOf(label ?? "")),
  models: models.map((model, index) => {
    const known = state?.models[index];
    const { state: _, ...seen } = stateView(known);
    return { ...model, ...seen, limits: known?.limits.map(limitView) ?? [] };
  }),
});

const stateView = (state: Omit<CredentialState, "label" | "models"> | undefined) => ({
  state: state?.state ?? null,
  since: momentOf(state?.sinceMs),
  until: momentOf(state?.untilMs),
  last_error: lastErrorView(state?.lastError),
  last_success_at: momentOf(state?.lastSuccessMs),
});

const limitView = ({ header, remaining, resetsAtMs, atMs }: ModelState["limits"][number]) => ({
  header,
  remaining,
  resets_at: momentOf(resetsAtMs),
  at: moment(atMs),
});

const moment = (ms: number): string => new Date(ms).toISOString();
const momentOf = (ms: number | undefined): string | null => (ms === undefined ? null : moment(ms));
