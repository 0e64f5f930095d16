import { createOperator, listOperators, type OperatorView, revokeOperator } from "../../access/operators.ts";
import { system } from "../../base/system.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { ROLES } from "../../canon/role.ts";
import { COMMAND_LINE } from "../actor.ts";
import { EXIT, printJson, printTable, UsageError } from "../command.ts";
import { withStorage } from "../with-storage.ts";
import { defineVerb, withVerbs } from "../with-verbs.ts";

const create = defineVerb({
  name: "create",
  usage: "--name NAME --role ROLE [--project P]",
  summary: "create an operator and print the secret once",
  flags: {
    name: { type: "string", value: "NAME", about: "name of the operator" },
    role: { type: "string", value: "ROLE", about: `one of ${ROLES.join(", ")}` },
    project: { type: "string", value: "P", about: 'project that an operator with the role "project" manages' },
  },
  run: async ({ values }) => {
    const { name, role, project } = values;
    if (!name) throw new UsageError("Missing name. Pass --name NAME.");
    if (!role) throw new UsageError(`Missing role. Pass --role with one of ${ROLES.join(", ")}.`);
    const request = { name, role, ...withoutAbsent({ project }) };
    const created = await withStorage(
      values.config,
      (storage) => createOperator(storage, request, system, COMMAND_LINE),
      { mayCreate: true },
    );
    if (values.json) printJson(created);
    else
      console.log(
        `${created.secret}\n\nSave this secret now: it is not shown again. The operator's id is ${created.id}.`,
      );
    return EXIT.ok;
  },
});

const list = defineVerb({
  name: "list",
  usage: "",
  summary: "list operators; secrets are hidden",
  flags: {},
  run: async ({ values }) => {
    const found = await withStorage(values.config, listOperators);
    if (values.json) printJson(found);
    else printTable(["id", "name", "role", "project", "secret", "made", "state"], found.map(row));
    return EXIT.ok;
  },
});

const revoke = defineVerb({
  name: "revoke",
  usage: "ID",
  summary: "revoke an operator by id or name and end their sessions",
  flags: {},
  takes: 1,
  run: async ({ values, positionals: [id] }) => {
    if (!id) throw new UsageError("Missing operator. Pass the id or name of the operator to revoke.");
    const revoked = await withStorage(values.config, (storage) => revokeOperator(storage, id, system, COMMAND_LINE));
    if (values.json) printJson(revoked);
    else console.log(`Revoked ${revoked.name} (${revoked.id}).`);
    return EXIT.ok;
  },
});

const row = ({ id, name, role, project, hint, created_at, revoked_at }: OperatorView): string[] => [
  id,
  name,
  role,
  project ?? "-",
  `…${hint}`,
  created_at.slice(0, 10),
  revoked_at === null ? "valid" : "revoked",
];

export const operators = withVerbs([create, list, revoke]);
