import { recordAct } from "../../access/audit.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import {
  checkDraft,
  environmentDrafts,
  type ProviderDraft,
  type ProviderForm,
  providersYaml,
} from "./provider-form.ts";
import { CheckedProviderAnswer, ProviderDraftRequest, ProviderFormsAnswer } from "./schemas/provider-form.ts";

export const listProviderKinds = adminRoute({
  method: "GET",
  path: "/api/providers/kinds",
  id: "listProviderKinds",
  summary: "List the kinds of providers that a configuration can declare, with their fields.",
  roles: ["admin", "viewer"],
  answers: [json(ProviderFormsAnswer, "The kinds of providers.")],
  handle: (_call, _context, { forms }) => ({ data: forms }),
});

export const checkProvider = adminRoute({
  method: "POST",
  path: "/api/providers/check",
  id: "checkProvider",
  summary:
    "Check a provider that is not in the configuration yet, and show the lines that declare it. Nothing is saved.",
  roles: ["admin"],
  body: ProviderDraftRequest,
  answers: [json(CheckedProviderAnswer, "The lines, the mistakes in them, and whether the provider accepts the key.")],
  handle: async ({ body, operator, connection }, { storage, gateway }, { forms, config, probeDraft }) => {
    const draft: ProviderDraft = { name: body.name, kind: body.kind, fields: body.fields ?? {} };
    const form = checkDraft(draft, forms);
    const { providers } = gateway.snapshot;
    const isOfEnvironment = config.show().origins["providers"] === "environment";
    const others = isOfEnvironment ? environmentDrafts([...providers.keys()], forms) : [];
    const named = others.filter(({ name }) => name !== draft.name);
    const yaml = providersYaml([...named, draft]);
    const problems = config.check(yaml).problems.map(({ message }) => message);
    if (!isOfEnvironment && providers.has(draft.name)) problems.push(`A provider named ${draft.name} already exists.`);
    const mayTry = problems.length === 0 && isAtHome(draft, form);
    if (mayTry) {
      const about = { act: "provider.check", target: draft.name, after: { kind: draft.kind, fields: draft.fields } };
      await recordAct(storage, { ...actorOf(operator, connection), ...about }, gateway);
    }
    const credential = mayTry ? await probeDraft(yaml, draft.name) : undefined;
    return {
      data: {
        yaml,
        ok: problems.length === 0,
        problems,
        from_environment: named.map(({ name }) => name),
        credential:
          credential === undefined
            ? null
            : { host: credential.host, state: credential.state, detail: credential.detail },
      },
    };
  },
});

/**
 * Whether a request could only reach the vendor's own address. Someone who may name any variable and any address could
 * make the gateway send its secrets there, so a provider with its own address is only tested once it is in the file.
 */
const isAtHome = ({ fields }: ProviderDraft, form: ProviderForm): boolean =>
  form.fields.every(({ name, secret, required }) => (secret ? true : fields[name] === undefined && !required));
