import { ADMIN_FLAGS, connectAdmin } from "../admin-client.ts";
import { defineCommand, EXIT, printJson, printTable } from "../command.ts";

interface Guards {
  data: {
    name: string;
    use: string;
    on: string[];
    action: string;
    on_failure: string;
    verdicts: { on: string; verdict: string; calls: number }[];
  }[];
}

export const guards = defineCommand({
  flags: ADMIN_FLAGS,
  run: async ({ values }) => {
    const found = (await (await connectAdmin(values)).readAll("/api/guards")) as unknown as Guards;
    if (values.json) printJson(found);
    else
      printTable(
        ["name", "use", "on", "action", "on failure", "verdicts"],
        found.data.map(({ name, use, on, action, on_failure, verdicts }) => [
          name,
          use,
          on.join(", "),
          action,
          on_failure,
          verdicts.map((one) => `${one.on} ${one.verdict} ${one.calls}`).join(", "),
        ]),
      );
    return EXIT.ok;
  },
});
