import { openObject } from "../../dialects/reading/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import { patternOf, type Route } from "../route-table.ts";
import type { Handler } from "../routed-request.ts";
import { deliverAlert, listAlerts, showAlertSettings, testAlerts } from "./alerts.ts";
import { listAudit } from "./audit.ts";
import { cancelBatchRoute, listBatchesRoute, showBatchRoute } from "./batches.ts";
import { showBodiesRoute } from "./bodies.ts";
import { listCatalogueUpdates, removeCatalogueUpdate, updateCatalogueRoute } from "./catalogue.ts";
import { checkConfig, showConfig } from "./config.ts";
import { type AdminParts, type AdminRoute, openRoute } from "./define-route.ts";
import {
  limitEndUserRoute,
  listEndUsersRoute,
  resetEndUserRoute,
  showEndUserRoute,
} from "./end-users/end-user-routes.ts";
import { watchEvents } from "./events.ts";
import { listExports } from "./exports/list-exports.ts";
import { runExport } from "./exports/run-export.ts";
import { listGuards } from "./guards/list-guards.ts";
import { healthRoute, readinessRoute } from "./health.ts";
import {
  createKeyRoute,
  listKeysRoute,
  revokeKeyRoute,
  rotateKeyRoute,
  showKeyRoute,
  updateKeyRoute,
} from "./keys/key-routes.ts";
import { metricsRoute } from "./metrics.ts";
import { listModels } from "./models.ts";
import { deleteObjectRoute, listObjectsRoute } from "./objects.ts";
import { adminDocument } from "./openapi.ts";
import { cancelOperation, listOperations } from "./operations.ts";
import { showOverview } from "./overview/show-overview.ts";
import { beginOidc, finishOidc, showLoginWays } from "./people/oidc.ts";
import { endSession, listSessions } from "./people/sessions.ts";
import { listSubjectsRoute, revokeSubjectRoute } from "./people/subjects.ts";
import { playFileRoute, playRoute } from "./play.ts";
import { listPrices } from "./prices.ts";
import {
  createProjectRoute,
  deleteProjectRoute,
  listProjectsRoute,
  showProjectRoute,
  updateProjectRoute,
} from "./projects.ts";
import { checkProvider, listProviderKinds } from "./provider-draft.ts";
import { testProvider } from "./provider-test.ts";
import { listProviders } from "./providers/list-providers.ts";
import { listReceiptsRoute, showReceiptRoute } from "./receipts/receipt-routes.ts";
import { showRefusals } from "./refusals.ts";
import { listCalls, stopCall } from "./running/calls.ts";
import { endLiveSession, listLiveSessions } from "./running/live-sessions.ts";
import { closeSession, openSession, showSession } from "./session.ts";
import { exportUsage, showUsage } from "./usage.ts";

const documentRoute = openRoute({
  method: "GET",
  path: "/openapi.json",
  id: "openApi",
  summary: "This document.",
  answers: [json(openObject(), "An OpenAPI 3.1 document.")],
  handle: (_call, { version }, { publicUrl }) => adminDocument(ADMIN_ROUTES, { url: publicUrl, version }),
});

/** Every endpoint of the operators' listener, with its roles. No other endpoint exists. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  healthRoute,
  readinessRoute,
  metricsRoute,
  documentRoute,
  openSession,
  showSession,
  closeSession,
  showLoginWays,
  beginOidc,
  finishOidc,
  listSessions,
  endSession,
  listSubjectsRoute,
  revokeSubjectRoute,
  showOverview,
  watchEvents,
  listReceiptsRoute,
  showReceiptRoute,
  showBodiesRoute,
  listProjectsRoute,
  createProjectRoute,
  showProjectRoute,
  updateProjectRoute,
  deleteProjectRoute,
  listKeysRoute,
  createKeyRoute,
  showKeyRoute,
  updateKeyRoute,
  revokeKeyRoute,
  rotateKeyRoute,
  listEndUsersRoute,
  showEndUserRoute,
  limitEndUserRoute,
  resetEndUserRoute,
  listProviders,
  listProviderKinds,
  checkProvider,
  testProvider,
  listModels,
  listCatalogueUpdates,
  updateCatalogueRoute,
  removeCatalogueUpdate,
  listPrices,
  showUsage,
  exportUsage,
  showRefusals,
  listCalls,
  stopCall,
  listLiveSessions,
  listGuards,
  endLiveSession,
  playRoute,
  playFileRoute,
  listOperations,
  cancelOperation,
  listObjectsRoute,
  deleteObjectRoute,
  listBatchesRoute,
  showBatchRoute,
  cancelBatchRoute,
  listExports,
  runExport,
  listAlerts,
  showAlertSettings,
  testAlerts,
  deliverAlert,
  listAudit,
  showConfig,
  checkConfig,
];

/** The same in the listener's form. */
export const adminRoutes = (parts: AdminParts): Route<Handler>[] =>
  ADMIN_ROUTES.map(({ method, path, idsMayHaveSlashes, roles, isOpen, run }) => ({
    method,
    path: patternOf(path, idsMayHaveSlashes),
    ...(roles === "open" || isOpen?.(parts) === true ? { access: "open" } : { access: "admin", roles }),
    dialect: "chat",
    door: "contract",
    handle: (routed, context) => run(routed, context, parts),
  }));
