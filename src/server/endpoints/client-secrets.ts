import { checkProtocol, checkScopes } from "../../access/scopes.ts";
import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { LIVE_DIALECTS } from "../../dialects/live-dialects.ts";
import { keptHeaders, OF_SESSION } from "../../relay/derived/kept-headers.ts";
import { readSmallBody } from "../../relay/request/read-body.ts";
import { incomingOf } from "../incoming-request.ts";
import { callerOf, checkFrames } from "../live/begin-relayed.ts";
import { createLiveSecret } from "../live/live-secrets.ts";
import { namingOf } from "../naming.ts";
import { ClientSecret, ClientSecretRequest } from "../openapi/client-secret-answers.ts";
import { json } from "../openapi/operation.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { dropInChatPaths } from "./paths.ts";
import { withCaller } from "./with-caller.ts";

const PROTOCOL = "realtime";
const MAX_BYTES = 256 * 1024;
const DEFAULT_SECONDS = 60;
const MIN_SECONDS = 10;
const MAX_SECONDS = 600;

/** `POST /v1/realtime/client_secrets`: a secret that opens Realtime with one model for a short time, for browsers and phones. */
const create = withCaller(async (principal, routed, context) => {
  const { gateway, storage, publicUrl } = context;
  checkProtocol(principal, PROTOCOL);
  const headers = keptHeaders(incomingOf(routed), principal, OF_SESSION, gateway);
  const body = await readSmallBody(routed.request, MAX_BYTES, principal, gateway);
  const seconds = readSeconds(body);
  const session = readSession(body);
  const name = stringAt(session, "model");
  if (!name)
    throw new GatewayError("invalid_request", "session.model is missing: name the only model that the secret opens.", {
      path: "session.model",
    });
  const naming = namingOf(routed);
  const resolved = gateway.snapshot.catalogue.resolve(name, naming);
  const { model, offers } = resolved;
  checkScopes(principal, { model: model.id, dialect: PROTOCOL }, gateway.clock.wallMs());
  gateway.snapshot.targets.live(model, offers);
  const client = {
    id: "",
    release: () => {},
    caller: () => principal,
    principal,
    dialect: PROTOCOL,
    isOlder: false,
    model: name,
  } as const;
  const live = callerOf(routed, client, { resolved, naming, publicUrl });
  const update = JSON.stringify({ type: "session.update", session });
  checkFrames(LIVE_DIALECTS[PROTOCOL], live, [update], gateway);
  const { model: _model, ...settings } = session;
  const opens = { principal, model: name, session: settings, headers };
  const made = await createLiveSecret(storage, { ...opens, seconds }, gateway);
  const expiresAt = Math.floor(made.expiresAtMs / 1000);
  return Response.json({
    value: made.value,
    expires_at: expiresAt,
    session: {
      ...session,
      type: "realtime",
      object: "realtime.session",
      id: `sess_${gateway.random.id()}`,
      expires_at: 0,
    },
  });
});

function readSeconds(body: JsonObject): number {
  const after = body["expires_after"] ?? undefined;
  if (after === undefined) return DEFAULT_SECONDS;
  const seconds = isObject(after) ? (numberAt(after, "seconds") ?? DEFAULT_SECONDS) : Number.NaN;
  if (Number.isInteger(seconds) && seconds >= MIN_SECONDS && seconds <= MAX_SECONDS) return seconds;
  const message = `expires_after.seconds must be a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}.`;
  throw new GatewayError("invalid_request", message, { path: "expires_after.seconds" });
}

function readSession(body: JsonObject): JsonObject {
  const session = objectAt(body, "session") ?? {};
  const type = session["type"] ?? "realtime";
  if (type === "realtime") return session;
  const message = `session.type must be "realtime"; sessions that only transcribe are not supported.`;
  throw new GatewayError("unsupported_parameter", message, { path: "session.type" });
}

export const createClientSecret: ClientEndpoint = {
  method: "POST",
  paths: dropInChatPaths("/realtime/client_secrets"),
  id: "createClientSecret",
  summary: "Create a secret that opens a Realtime session with one model, for clients that must not have a key",
  dialect: "chat",
  request: ClientSecretRequest,
  answers: [json(ClientSecret, "The secret. It is shown only here.")],
  handle: create,
};
