import { freePort } from "../../testing/free-port.ts";
import {
  startTestGateway,
  TEST_ADMIN_SECRET,
  type TestGateway,
  type TestGatewayOptions,
} from "../support/test-gateway.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./certified-provider.ts";

export const ROLES = [
  { group: "platform", role: "admin" },
  { group: "readers", role: "viewer" },
  { group: "shop-team", role: "project", project: "shop" },
  { group: "ghost-team", role: "project", project: "ghost" },
];

/** The section of the configuration for logins at an issuer. */
export const oidcSection = (issuer: string, roles: readonly object[] = ROLES) => ({
  issuer,
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
  groups_claim: "groups",
  roles,
});

/** A gateway whose operators log in at this issuer, on a port that the issuer knows. */
export function startPeopleGateway(
  issuer: string,
  adminPort: number,
  { config = {}, ...options }: TestGatewayOptions & { roles?: readonly object[] } = {},
): Promise<TestGateway> {
  return startTestGateway({
    ...options,
    config: {
      admin: {
        host: "127.0.0.1",
        port: adminPort,
        secret: TEST_ADMIN_SECRET,
        oidc: oidcSection(issuer, options.roles),
      },
      simulator: true,
      auth: { jwt: [{ issuer, audience: "trivium", project_claim: "team" }] },
      ...config,
    },
  });
}

/** A port for the Admin API, and where an issuer returns to there. */
export function adminPlace(): { port: number; callback: string } {
  const port = freePort();
  return { port, callback: `http://127.0.0.1:${port}/api/session/oidc/callback` };
}
