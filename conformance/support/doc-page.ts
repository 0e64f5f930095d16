import { afterAll, beforeAll, expect, test } from "bun:test";
import { programsPresent } from "../../testing/is-present.ts";
import { ExampleFolder, Page } from "./doc-examples.ts";
import { startTestGateway } from "./test-gateway.ts";

interface DocPage {
  /** How many blocks of each language it has: all of them must be run. */
  blocks: Readonly<Record<string, number>>;
  /** What its shell examples use. Without them, those are skipped. */
  programs?: readonly string[];
}

type Run = (page: Page, folder: ExampleFolder) => Promise<void>;

/** Tests the examples of a page as a reader runs them, against a gateway with the simulator. */
export function testPage(file: string, { blocks, programs = [] }: DocPage) {
  const page = new Page(file);
  const canPaste = programs.length === 0 || programsPresent(`shell examples of ${file}`, ...programs);
  let folder: ExampleFolder | undefined;
  let stop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    const gateway = await startTestGateway({ config: { simulator: true } });
    stop = () => gateway.stop();
    folder = new ExampleFolder({
      TRIVIUM_URL: gateway.url,
      TRIVIUM_API_KEY: gateway.key,
      TRIVIUM_ADMIN_URL: gateway.adminUrl,
      TRIVIUM_ADMIN_SECRET: gateway.adminSecret,
    });
  });
  afterAll(async () => {
    await stop?.();
    folder?.remove();
  });

  test(`every block of ${file} is run here`, () => {
    expect(page.counts()).toEqual(blocks);
  });

  const example = (isRun: boolean) => (behaviour: string, run: Run) =>
    test.skipIf(!isRun)(`${file}: ${behaviour}`, async () => {
      if (folder === undefined) throw new Error("The gateway has not started.");
      await run(page, folder);
    });
  return { testShell: example(canPaste), testTypescript: example(true) };
}
