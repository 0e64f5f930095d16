import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { LIST_FLAGS, printAdminList } from "../admin-list.ts";
import { EXIT, printJson, UsageError } from "../command.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const COLUMNS = ["id", "subject", "name", "issuer", "project", "used_at", "revoked_until"] as const;

const list = defineVerb({
  name: "list",
  usage: "[--issuer URL] [--project P]",
  summary: "list the subjects of clients' tokens, the most recently used first",
  flags: {
    issuer: { type: "string", value: "URL", about: "only subjects of this issuer" },
    project: { type: "string", value: "P", about: "only those whose last token was for this project" },
    ...LIST_FLAGS,
  },
  run: ({ values }) => {
    const { issuer, project } = values;
    return printAdminList(values, "/api/subjects", { issuer, project }, COLUMNS);
  },
});

const revoke = defineVerb({
  name: "revoke",
  usage: "SUBJECT --issuer URL",
  summary: "refuse all tokens of a subject that were issued until now",
  flags: { issuer: { type: "string", value: "URL", about: "the issuer of the tokens" }, ...ADMIN_FLAGS },
  takes: 1,
  run: async ({ values, positionals: [subject] }) => {
    const { issuer } = values;
    if (!subject) throw new UsageError("Missing subject. Pass the `sub` of the tokens to revoke.");
    if (!issuer) throw new UsageError("Missing issuer. Pass --issuer URL, as it is in the tokens.");
    const client = await connectAdmin(values);
    const revoked = (await client.change("POST", "/api/subjects/revoke", { issuer, subject })) as {
      revoked_until: string;
      sessions: number;
    };
    if (values.json) printJson(revoked);
    else
      console.log(
        `Tokens of ${subject} issued until ${revoked.revoked_until} are refused. Sessions ended: ${revoked.sessions}.`,
      );
    return EXIT.ok;
  },
});

export const subjects = withVerbs([list, revoke]);
