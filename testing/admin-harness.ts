import { createHash } from "node:crypto";
import { OperatorAccess } from "../src/access/operator-access.ts";
import { createOperator } from "../src/access/operators.ts";
import { Alerts } from "../src/alerts/alerts.ts";
import { ConfigHistory } from "../src/app/admin-config.ts";
import { removeUpdate } from "../src/app/catalogue/catalogue-updates.ts";
import { updateCatalogue } from "../src/app/catalogue/update-catalogue.ts";
import { providerForms } from "../src/app/provider-forms.ts";
import { readConfig } from "../src/app/read-config.ts";
import { makeSnapshot } from "../src/app/snapshot.ts";
import type { Random } from "../src/base/sources.ts";
import { withoutAbsent } from "../src/base/without-absent.ts";
import type { Role } from "../src/canon/role.ts";
import { OidcLogin } from "../src/identity/oidc-login.ts";
import { Questions } from "../src/instances/questions.ts";
import { BUILT_IN } from "../src/providers/index.ts";
import { authorize } from "../src/server/admin/authorize.ts";
import type { AdminParts } from "../src/server/admin/define-route.ts";
import { OverviewMemory } from "../src/server/admin/overview/overview-memory.ts";
import { adminRoutes } from "../src/server/admin/routes.ts";
import { answerOperators } from "../src/server/admin/running/answer-operators.ts";
import { WrongSecrets } from "../src/server/admin/wrong-secrets.ts";
import { askWithin } from "../src/server/ask-within.ts";
import { LoginThrottle } from "../src/server/login-throttle.ts";
import { createRequestHandler, type RequestHandler, type ServedConnection } from "../src/server/request-handler.ts";
import { routesOf } from "../src/server/routes.ts";
import { Harness, type HarnessOptions, makeMachine } from "./harness.ts";

export const ADMIN_SECRET = "an-admin-secret-for-the-tests";
const URL_OF_ADMIN = "http://127.0.0.1:8081";
const CLIENTS_URL = "http://127.0.0.1:8080";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export interface AdminAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body, if it is JSON. */
  json: Record<string, unknown>;
}

export interface AdminRequest {
  secret?: string;
  /** Of a session. */
  cookie?: string;
  csrf?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Where it comes from. */
  address?: string;
}

type GivenParts = Partial<AdminParts> & { adminHash?: () => string | undefined };

/** Bytes that differ from call to call, and are the same in every run. */
function countedBytes(): Random["bytes"] {
  let made = 0;
  return (length) => {
    const bytes = new Uint8Array(length);
    const hash = createHash("sha512").update(String(++made)).digest();
    for (let at = 0; at < length; at++) bytes[at] = hash[at % hash.length] ?? 0;
    return bytes;
  };
}

/** The operator's listener of a gateway in memory. */
export class AdminHarness {
  readonly gateway: Harness;
  readonly parts: AdminParts;
  readonly #sources: { clock: Harness["clock"]; random: Random };
  readonly #handle: RequestHandler;

  private constructor(gateway: Harness, adminHash: () => string | undefined, parts: Partial<AdminParts>) {
    this.gateway = gateway;
    const { clock, storage, context } = gateway;
    this.#sources = { clock, random: gateway.machine.random };
    const oidc =
      parts.oidc ??
      new OidcLogin({
        ...this.#sources,
        fetch: () => Promise.reject(new Error("no issuer")),
        log: gateway.gateway.log,
        publicUrl: URL_OF_ADMIN,
        settings: gateway.config.admin.oidc,
      });
    const access = new OperatorAccess({ ...this.#sources, storage, adminHash, people: () => oidc.people });
    this.parts = {
      access,
      oidc,
      logins: new LoginThrottle(clock),
      wrongSecrets: new WrongSecrets({ ...this.#sources, storage, log: gateway.gateway.log }),
      publicUrl: URL_OF_ADMIN,
      catalogue: {
        update: (request, actor) => updateCatalogue(gateway.storage, request, gateway.gateway, actor),
        remove: (number, actor) => removeUpdate(gateway.storage, number, gateway.gateway, actor),
      },
      config: new ConfigHistory({
        started: gateway.config,
        read: (text) => readConfig({ text, cwd: "/nowhere", environment: {} }),
        build: (config) => makeSnapshot(config, {}, this.#sources, undefined),
        wallMs: clock.wallMs,
      }),
      alerts: new Alerts({
        ...this.#sources,
        storage,
        instance: "instance_test",
        settings: gateway.config.alerts,
        observe: () => [],
        countCalls: async () => [],
        providers: () => [],
        post: async () => ({ status: 200, retryAfterMs: 0, body: "ok" }),
        onProblem: () => {},
      }),
      exports: { read: async () => [], states: () => [], run: async () => false },
      questions: ownQuestions(gateway),
      others: () => ({ instances: 0, runningCalls: 0 }),
      parts: () => [{ part: "storage", ok: true, detail: "writable", age_ms: 0 }],
      budgets: () => [],
      overviews: new OverviewMemory(),
      metrics: { open: false, collect: async () => gateway.gateway.metrics.families() },
      clientsUrl: () => CLIENTS_URL,
      listener: askWithin(
        createRequestHandler({
          host: "127.0.0.1",
          publicUrl: CLIENTS_URL,
          routes: routesOf(context.dialects),
          context,
        }),
      ),
      forms: providerForms(BUILT_IN),
      probeDraft: async () => ({ host: "upstream.localhost", state: "ok", detail: "key accepted" }),
      probe: async () => [{ host: "upstream.localhost", state: "ok", detail: "key accepted" }],
      ...parts,
    };
    this.#handle = createRequestHandler({
      host: "127.0.0.1",
      publicUrl: URL_OF_ADMIN,
      routes: adminRoutes(this.parts),
      authorize: (request, roles, connection) => authorize(request, roles, connection, this.parts),
      context,
    });
  }

  static async start(options: HarnessOptions = {}, parts: GivenParts = {}): Promise<AdminHarness> {
    const machine = options.machine ?? (await makeMachine());
    // Every key and secret is different.
    const random = { ...machine.random, bytes: countedBytes() };
    return AdminHarness.over(await Harness.start({ ...options, machine: { ...machine, random } }), parts);
  }

  /** The listener of a gateway that runs. */
  static over(gateway: Harness, { adminHash = () => sha256(ADMIN_SECRET), ...parts }: GivenParts = {}): AdminHarness {
    return new AdminHarness(gateway, adminHash, parts);
  }

  /** The secret of a new operator. */
  async operator(role: Role, project?: string): Promise<string> {
    const request = { name: `${role} ${project ?? ""} ${this.#sources.random.id()}`, role };
    const { secret } = await createOperator(
      this.gateway.storage,
      project === undefined ? request : { ...request, project },
      this.#sources,
      { who: "tests" },
    );
    return secret;
  }

  /** A session, as a browser has it. */
  async login(secret: string): Promise<{ cookie: string; csrf: string }> {
    const answer = await this.ask("POST", "/api/session", { body: { secret } });
    if (answer.status !== 201) throw new Error(answer.text);
    const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
    return { cookie, csrf: (answer.json["data"] as { csrf: string }).csrf };
  }

  /** Sends a request; the answer is read to its end, unless it is a stream of events. */
  async ask(method: string, path: string, request: AdminRequest = {}): Promise<AdminAnswer> {
    const response = await this.clock.until(this.open(method, path, request));
    const isStream = response.headers.get("content-type") === "text/event-stream";
    if (isStream) await response.body?.cancel();
    const text = isStream ? "" : await this.clock.until(response.text());
    return { status: response.status, headers: response.headers, text, json: parsed(text) };
  }

  /** The same, without reading the body of the answer. */
  open(method: string, path: string, request: AdminRequest = {}): Promise<Response> {
    const { secret, cookie, csrf, body, headers = {}, address = "127.0.0.1" } = request;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = new Request(URL_OF_ADMIN + path, {
      method,
      headers: {
        ...withoutAbsent({
          authorization: secret === undefined ? undefined : `Bearer ${secret}`,
          cookie,
          "x-trivium-csrf": csrf,
        }),
        ...(text === undefined
          ? {}
          : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
        ...headers,
      },
      ...withoutAbsent({ body: text }),
    });
    return this.#handle(sent, connectionFrom(address));
  }

  get clock(): Harness["clock"] {
    return this.gateway.clock;
  }
}

/** Of a process without others. */
function ownQuestions({ storage, clock, gateway, context }: Harness): Questions {
  const questions = new Questions({
    storage,
    clock,
    instance: gateway.instance,
    hasOthers: false,
    hasEnded: () => false,
    seen: () => [],
    onProblem: () => {},
  });
  answerOperators(questions, gateway, context.live);
  return questions;
}

const connectionFrom = (address: string): ServedConnection => ({
  address,
  trusted: false,
  held: false,
  hold: () => {},
  rest: () => {},
  hangUp: () => {},
});

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
