import { revokeSubject, subjectsPage } from "../../../access/people/subjects.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import { type Spent, spentByOwner } from "../../../ledger/queries.ts";
import { isUnavailable } from "../../../storage/is-unavailable.ts";
import { json } from "../../openapi/operation.ts";
import { actorOf } from "../actor.ts";
import { adminRoute } from "../define-route.ts";
import { projectOf } from "../project-scope.ts";
import { limitOf, PAGE_FIELDS, textField } from "../query-fields.ts";
import { dataAnswer, pageAnswer } from "../schemas/answers.ts";
import { RevokedSubject, SubjectItem, SubjectRequest } from "../schemas/subject.ts";

const NOTHING: Spent = { day: 0, week: 0, month: 0, quarter: 0, total: 0, requests: 0, tokens: 0 };

export const listSubjectsRoute = adminRoute({
  method: "GET",
  path: "/api/subjects",
  id: "listSubjects",
  summary: "List the subjects of clients' tokens with their spending, the most recently used first.",
  roles: ["admin", "viewer", "project"],
  query: {
    ...PAGE_FIELDS,
    issuer: textField("Only subjects of this issuer."),
    subject: textField("Only those with this `sub`."),
    project: textField("Only those whose last token was for this project."),
  },
  answers: [json(pageAnswer("SubjectList", SubjectItem), "Subjects. Tokens are not stored.")],
  handle: async ({ query, operator }, { storage, gateway }) => {
    const { issuer, subject, after } = query;
    const filter = withoutAbsent({ issuer, subject, project: projectOf(operator, query.project) });
    const { subjects, next } = await subjectsPage(storage, filter, { limit: limitOf(query), after });
    const { byKey } = await spentByOwner(storage, gateway.clock.wallMs());
    return { data: subjects.map((one) => ({ ...one, spent_nano_usd: byKey.get(one.id) ?? NOTHING })), next };
  },
});

export const revokeSubjectRoute = adminRoute({
  method: "POST",
  path: "/api/subjects/revoke",
  id: "revokeSubject",
  summary: "Refuse all tokens of a subject that were issued until now, and end its sessions in the console.",
  roles: ["admin"],
  body: SubjectRequest,
  answers: [json(dataAnswer("RevokedSubjectAnswer", RevokedSubject), "Applies within a second, at every instance.")],
  handle: async ({ body: { issuer, subject }, operator, connection }, { storage, gateway }, { oidc }) => {
    const { tokens, clock } = { ...gateway, tokens: gateway.keys.tokens };
    const known = new Set([...tokens.issuers, ...(oidc.people === undefined ? [] : [oidc.people.issuer])]);
    if (!known.has(issuer)) {
      const some = known.size === 0 ? "none is configured" : `the configured ones are ${[...known].join(", ")}`;
      const message = `\`issuer\` must be one whose tokens or logins this gateway accepts; ${some}.`;
      throw new GatewayError("invalid_request", message, { path: "issuer" });
    }
    const actor = actorOf(operator, connection);
    const untilMs = Math.floor(clock.wallMs());
    // Revoked here before anything else, because the storage may not answer.
    tokens.revokeHere({ issuer, subject }, untilMs);
    try {
      const { id, sessions } = await revokeSubject(storage, { issuer, subject }, untilMs, gateway, actor);
      await gateway.changes.spread();
      return { data: { id, issuer, subject, revoked_until: new Date(untilMs).toISOString(), sessions } };
    } catch (thrown) {
      if (!isUnavailable(thrown)) throw thrown;
      tokens.writeLater({ issuer, subject }, untilMs, actor);
      const message =
        "The subject's tokens no longer work at this instance, but the storage does not answer. They will be revoked everywhere as soon as the storage answers, unless this process stops first. Revoke them again then to be sure.";
      throw new GatewayError("overloaded", message, { code: "storage_away", retryAfterSeconds: 5, cause: thrown });
    }
  },
});
