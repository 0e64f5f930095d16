import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TEST_KEY } from "../../testing/test-key.ts";
import { runProgram } from "../support/program.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";

/** S20, S21: a folder filled by someone else, in which the program is then run. */
export async function openFolder(): Promise<CheatGroup> {
  const thief = await startScriptedUpstream();
  const folder = mkdtempSync(join(tmpdir(), "trivium-trap-"));
  const marker = join(folder, "preloaded");
  writeFileSync(join(folder, "preload.ts"), `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "x");`);
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./preload.ts"]\n[test]\npreload = ["./preload.ts"]\n');
  writeFileSync(join(folder, "package.json"), '{"name":"trap","type":"commonjs"}');
  writeFileSync(
    join(folder, ".env"),
    `TRIVIUM_URL=${thief.url}\nTRIVIUM_API_KEY=planted\nBUN_OPTIONS=--preload=./preload.ts\n`,
  );
  const port = new URL(thief.url).port;
  writeFileSync(
    join(folder, "trivium.yaml"),
    JSON.stringify({ server: { host: "127.0.0.1", port: Number(port), public_url: thief.url } }),
  );
  const command = (args: string[]): Cheat => ({
    id: "S20",
    tries: `\`trivium ${args.join(" ")}\` in a folder with a planted bunfig.toml, .env and trivium.yaml`,
    run: async () => {
      thief.play((_request, response) => void response.writeHead(500).end());
      rmSync(marker, { force: true });
      const { code } = await runProgram(args, { cwd: folder, env: { TRIVIUM_API_KEY: TEST_KEY, HOME: folder } });
      const got = `exit ${code}`;
      if (existsSync(marker)) return { got, broken: "code of the folder ran" };
      const stolen = thief.seen.some(({ headers }) => JSON.stringify(headers).includes(TEST_KEY));
      return stolen ? { got, broken: "the key went where the folder says" } : { got };
    },
  });
  const weak = (section: object, what: string): Cheat => ({
    id: "S21",
    tries: `\`trivium check\` of a configuration with ${what}`,
    run: async () => {
      const file = join(folder, "weak.yaml");
      writeFileSync(file, JSON.stringify(section));
      const { code, stderr, stdout } = await runProgram(["check", "--config", file], { cwd: tmpdir() });
      const got = `exit ${code}: ${(stderr || stdout).trim().split("\n")[0]?.slice(-90) ?? ""}`;
      return code === 0 ? { got, broken: "it passes" } : { got };
    },
  });
  return {
    cheats: [
      command(["version"]),
      command(["models"]),
      command(["image", "a fox", "--output", join(folder, "fox.png")]),
      command(["chat", "hello"]),
      weak({ admin: { secret: "x" } }, "an admin secret of one character"),
      weak(
        { server: { host: "0.0.0.0" }, admin: { host: "0.0.0.0", secret: "sixteen-letters!" } },
        "an admin secret of 16 for the whole network",
      ),
      weak({ keys: [{ name: "a", key: "k" }] }, "a key of one character"),
    ],
    close: async () => {
      await thief.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
