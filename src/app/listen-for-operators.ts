import { authorize } from "../server/admin/authorize.ts";
import { OverviewMemory } from "../server/admin/overview/overview-memory.ts";
import { adminRoutes } from "../server/admin/routes.ts";
import { WrongSecrets } from "../server/admin/wrong-secrets.ts";
import { askWithin } from "../server/ask-within.ts";
import { consoleRoutes } from "../server/console.ts";
import { type Listener, listen } from "../server/listener.ts";
import { LoginThrottle } from "../server/login-throttle.ts";
import { createRequestHandler } from "../server/request-handler.ts";
import { routesOf } from "../server/routes.ts";
import type { Assembled } from "./assemble.ts";
import { bundledConsole } from "./bundled-console.ts";
import { removeUpdate } from "./catalogue/catalogue-updates.ts";
import { updateCatalogue } from "./catalogue/update-catalogue.ts";
import { providerForms } from "./provider-forms.ts";
import { tryProvider } from "./try-provider.ts";

/** The Admin API and the console. */
export function listenForOperators(made: Assembled, sharesPorts: boolean): Listener {
  const { config, gateway, storage, context, access, oidc, registry } = made;
  const { alerts, budgets, exports, history, metrics, adminParts, questions, others } = made;
  const { server, admin } = config;
  const { clock, random, log } = gateway;
  const wrongSecrets = new WrongSecrets({ clock, random, storage, log });
  const { publicUrl } = admin;
  return listen({
    ...admin,
    sharesPorts,
    context,
    routes: [
      ...adminRoutes({
        access,
        logins: new LoginThrottle(clock),
        wrongSecrets,
        oidc,
        publicUrl,
        config: history,
        catalogue: {
          update: (request, actor) => updateCatalogue(storage, request, gateway, actor),
          remove: (number, actor) => removeUpdate(storage, number, gateway, actor),
        },
        alerts,
        exports,
        questions,
        others,
        parts: adminParts,
        budgets: () => budgets.uses,
        overviews: new OverviewMemory(),
        clientsUrl: context.publicUrl,
        listener: askWithin(createRequestHandler({ ...server, context, routes: routesOf(registry.dialects) })),
        metrics: { open: admin.openMetrics, collect: metrics.all },
        probe: (name) => Promise.all((gateway.snapshot.providers.get(name) ?? []).map(tryProvider)),
        forms: providerForms(registry),
        probeDraft: async (yaml, name) => {
          const [draft] = history.providersOf(yaml).get(name) ?? [];
          return draft && (await tryProvider(draft));
        },
      }),
      ...consoleRoutes(bundledConsole),
    ],
    authorize: (request, roles, connection) =>
      authorize(request, roles, connection, { access, wrongSecrets, publicUrl }),
  });
}
