import type { AuthorizationServer, Client, ClientAuth } from "oauth4webapi";
import type { GroupRole, PeopleRoles } from "../access/people/person.ts";
import { isLoopbackUrl } from "../base/address-class.ts";
import { isPlainLine } from "../base/is-plain-line.ts";
import type { Secret } from "../base/secret.ts";
import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import { ASYMMETRIC } from "../canon/settings/signature-algorithms.ts";
import type { Log } from "../observe/log.ts";
import type { StoredPerson } from "../storage/tables/operator-sessions.ts";
import { claimAt } from "./claim-at.ts";
import { Issuer, IssuerError, type IssuerFetch } from "./issuer.ts";
import { LEEWAY_SECONDS } from "./issuer-tokens.ts";
import { beginLogin, LOGIN_MS, type LoginInProgress, readLogin } from "./login-cookie.ts";

/** An issuer at which operators log in. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /** The claim with the groups of a person. */
  readonly groupsClaim: string;
  readonly scopes: readonly string[];
  readonly roles: readonly GroupRole[];
}

interface OidcLoginOptions extends Sources {
  fetch: IssuerFetch;
  log: Log;
  /** Where browsers reach the Admin API. */
  publicUrl: string;
  settings: OidcSettings | undefined;
}

const CALLBACK_PATH = "/api/session/oidc/callback";

/** What is kept of a person's groups. */
const MAX_GROUPS = 1_000;
const MAX_GROUP_LENGTH = 500;
const MAX_NAME_LENGTH = 200;
const MAX_SUBJECT_LENGTH = 1_024;

/** Logs operators in at an issuer: authorization code with PKCE. */
export class OidcLogin {
  readonly #options: OidcLoginOptions;
  #settings: OidcSettings | undefined;
  #issuer: Issuer | undefined;

  constructor(options: OidcLoginOptions) {
    this.#options = options;
    this.reconfigure(options.settings);
  }

  /** How long the cookie of a login in progress is valid. */
  readonly lastsMs = LOGIN_MS;

  /** Undefined if none is configured. */
  get people(): PeopleRoles | undefined {
    return this.#settings;
  }

  reconfigure(settings: OidcSettings | undefined): void {
    if (settings?.issuer !== this.#settings?.issuer) this.#issuer = undefined;
    this.#settings = settings;
    if (settings !== undefined) this.#issuer ??= new Issuer({ ...this.#options, url: settings.issuer });
  }

  /** Whether a login can begin at this moment, and if not, why. */
  async condition(): Promise<{ issuer: string; available: boolean; reason: string | null } | undefined> {
    if (this.#settings === undefined || this.#issuer === undefined) return undefined;
    const { issuer } = this.#settings;
    try {
      endpointsOf(await this.#issuer.metadata());
      const reason = this.#issuer.failure ?? null;
      return { issuer, available: reason === null, reason };
    } catch (thrown) {
      return { issuer, available: false, reason: reasonOf(thrown) };
    }
  }

  /** The URL at the issuer, and the value of the cookie. */
  async begin(): Promise<{ url: string; cookie: string }> {
    const { settings, issuer } = this.#configured();
    const as = await this.#metadata(issuer);
    const { calculatePKCECodeChallenge } = await import("oauth4webapi");
    const { login, value } = beginLogin(this.#options.random, sealKey(settings), this.#options.clock.wallMs());
    const url = new URL(endpointsOf(as).authorization);
    const asked: Record<string, string> = {
      response_type: "code",
      client_id: settings.clientId,
      redirect_uri: this.#redirectUri,
      scope: settings.scopes.join(" "),
      state: login.state,
      nonce: login.nonce,
      code_challenge: await calculatePKCECodeChallenge(login.codeVerifier),
      code_challenge_method: "S256",
    };
    for (const [name, text] of Object.entries(asked)) url.searchParams.set(name, text);
    return { url: url.href, cookie: value };
  }

  /** The login that a cookie is for; throws if it has expired or is not one of ours. */
  inProgress(cookie: string | undefined): LoginInProgress {
    const { settings } = this.#configured();
    const login = cookie && readLogin(cookie, sealKey(settings), this.#options.clock.wallMs());
    if (login) return login;
    throw failed("This login was not begun in this browser, or more than ten minutes ago. Start again.");
  }

  /** Refuses a response that is not for this login. Nothing is sent anywhere. */
  async check(login: LoginInProgress, response: URLSearchParams): Promise<URLSearchParams> {
    const { settings, issuer } = this.#configured();
    const oauth = await import("oauth4webapi");
    const as = await this.#metadata(issuer);
    try {
      return oauth.validateAuthResponse(as, clientOf(settings), response, login.state);
    } catch (cause) {
      if (cause instanceof oauth.AuthorizationResponseError) {
        const code = plainCode(cause.error);
        throw new GatewayError("forbidden", `The issuer refused the login: ${code}.`, { code: "login_refused", cause });
      }
      throw failed("The response of the issuer does not belong to the login of this browser. Start again.", cause);
    }
  }

  /** Exchanges the code. `checked` is what `check` returned. */
  async finish(login: LoginInProgress, checked: URLSearchParams): Promise<StoredPerson> {
    const { settings, issuer } = this.#configured();
    const oauth = await import("oauth4webapi");
    const as = await this.#metadata(issuer);
    const client = { ...clientOf(settings), [oauth.clockTolerance]: LEEWAY_SECONDS };
    const options = { [oauth.customFetch]: issuer.fetch, [oauth.allowInsecureRequests]: isLoopbackUrl(issuer.url) };
    try {
      const authentication = await clientAuthentication(as, settings);
      const response = await oauth.authorizationCodeGrantRequest(
        as,
        client,
        authentication,
        checked,
        this.#redirectUri,
        login.codeVerifier,
        options,
      );
      const expected = { expectedNonce: login.nonce, requireIdToken: true };
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, expected);
      const claims = await this.#verified(tokens.id_token ?? "", as, issuer, settings);
      const more =
        claimAt(claims, settings.groupsClaim) === undefined && as.userinfo_endpoint !== undefined
          ? await oauth.processUserInfoResponse(
              as,
              client,
              String(claims["sub"]),
              await oauth.userInfoRequest(as, client, tokens.access_token, options),
            )
          : undefined;
      return personOf(settings, claims, more ?? {});
    } catch (thrown) {
      throw this.#failure(thrown, settings);
    }
  }

  /** The library trusts the connection to the issuer; the signature also holds where that ends at a proxy. */
  async #verified(token: string, as: AuthorizationServer, issuer: Issuer, { clientId }: OidcSettings) {
    const { jwtVerify } = await import("jose");
    const { payload } = await jwtVerify(token, issuer.keyOf, {
      issuer: as.issuer,
      audience: clientId,
      algorithms: [...ASYMMETRIC],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(this.#options.clock.wallMs()),
      requiredClaims: ["sub", "exp"],
    });
    return payload;
  }

  #configured(): { settings: OidcSettings; issuer: Issuer } {
    if (this.#settings !== undefined && this.#issuer !== undefined)
      return { settings: this.#settings, issuer: this.#issuer };
    throw new GatewayError("not_found", "No issuer is configured for logins (admin.oidc). Log in with a secret.", {
      code: "oidc_not_configured",
    });
  }

  async #metadata(issuer: Issuer): Promise<AuthorizationServer> {
    try {
      const as = await issuer.metadata();
      endpointsOf(as);
      return as;
    } catch (cause) {
      throw unavailable(cause);
    }
  }

  #failure(thrown: unknown, { issuer }: OidcSettings): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    this.#options.log.warn({ err: thrown, issuer }, "a login at the issuer failed");
    const { cause } = thrown as { cause?: unknown };
    const away = [thrown, cause].find((one) => one instanceof IssuerError);
    if (away !== undefined) return unavailable(away);
    const { error } = thrown as { error?: unknown };
    if (typeof error === "string") {
      const message = `The issuer refused to finish the login: ${plainCode(error)}. The gateway's log has details.`;
      return new GatewayError("upstream_failed", message, { code: "login_failed", cause: thrown });
    }
    return failed("The issuer's response could not be verified. The gateway's log has details.", thrown);
  }

  get #redirectUri(): string {
    return this.#options.publicUrl + CALLBACK_PATH;
  }
}

/** Whoever knows the client's secret can log in as this client anyway. */
const sealKey = ({ clientId, clientSecret, issuer }: OidcSettings): string =>
  JSON.stringify([issuer, clientId, clientSecret.reveal()]);

const clientOf = ({ clientId }: OidcSettings): Client => ({ client_id: clientId });

/** In the header, unless the issuer only takes it in the body. */
async function clientAuthentication(
  { token_endpoint_auth_methods_supported: methods }: AuthorizationServer,
  { clientSecret }: OidcSettings,
): Promise<ClientAuth> {
  const { ClientSecretBasic, ClientSecretPost } = await import("oauth4webapi");
  const secret = clientSecret.reveal();
  const takesBasic = methods === undefined || methods.includes("client_secret_basic");
  return takesBasic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

function endpointsOf({ authorization_endpoint: authorization, issuer }: AuthorizationServer) {
  const isUsable =
    authorization !== undefined &&
    URL.canParse(authorization) &&
    (authorization.startsWith("https://") || (isLoopbackUrl(authorization) && isLoopbackUrl(issuer)));
  if (isUsable) return { authorization };
  throw new IssuerError("The discovery document of the issuer names no https authorization endpoint.");
}

function personOf(
  { issuer, groupsClaim }: OidcSettings,
  claims: Record<string, unknown>,
  more: Record<string, unknown>,
): StoredPerson {
  const subject = claims["sub"];
  if (typeof subject !== "string" || subject === "" || subject.length > MAX_SUBJECT_LENGTH || !isPlainLine(subject))
    throw failed("The issuer returned no usable subject.");
  const all = { ...more, ...claims };
  const email = all["email_verified"] === false ? undefined : all["email"];
  const names = [all["preferred_username"], email, subject];
  const name = names.find(
    (one) => typeof one === "string" && one.trim() !== "" && one.length <= MAX_NAME_LENGTH && isPlainLine(one),
  );
  return {
    issuer,
    subject,
    name: typeof name === "string" ? name : subject.slice(0, MAX_NAME_LENGTH),
    groups: groupsIn(claimAt(claims, groupsClaim) ?? claimAt(more, groupsClaim)),
  };
}

/** A claim is one group or a list of them. Whatever else it is, it is no group. */
function groupsIn(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim : [claim];
  return all
    .filter((one): one is string => typeof one === "string" && one.length <= MAX_GROUP_LENGTH && isPlainLine(one))
    .slice(0, MAX_GROUPS);
}

const plainCode = (code: string): string => (/^[\w.-]{1,60}$/.test(code) ? code : "an unknown error");

const reasonOf = (thrown: unknown): string =>
  thrown instanceof IssuerError ? thrown.message : "The issuer cannot be used.";

const unavailable = (cause: unknown): GatewayError =>
  new GatewayError("overloaded", `${reasonOf(cause)} Try again in a moment, or log in with a secret.`, {
    code: "issuer_unavailable",
    retryAfterSeconds: 5,
    cause,
  });

const failed = (message: string, cause?: unknown): GatewayError =>
  new GatewayError("unauthenticated", message, { code: "login_failed", cause });
