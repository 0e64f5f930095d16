import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plainPng } from "../../src/media/images.sample.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
const STRANGER = "trv_stranger_of_this_test_00001";
let picture: string;
let notes: string;

beforeAll(async () => {
  const keys = [
    { name: "tests", key: "trv_owner_key_of_this_test_0001" },
    { name: "stranger", key: STRANGER, project: "blue" },
  ];
  gateway = await startTestGateway({ config: { simulator: true, keys } });
  picture = await upload(Buffer.from(plainPng(320, 320).base64, "base64"), "fox.png", "image/png");
  notes = await upload(Buffer.from("words"), "notes.txt", "text/plain");
});
afterAll(() => gateway.stop());

const OWNER = "trv_owner_key_of_this_test_0001";

async function upload(bytes: Buffer, name: string, type: string): Promise<string> {
  const form = new FormData();
  form.append("file", new Blob([bytes], { type }), name);
  form.append("purpose", "vision");
  const headers = { authorization: `Bearer ${OWNER}` };
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
  return ((await answer.json()) as { id: string }).id;
}

function post(path: string, body: object, key = OWNER): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
}

const edit = (id: string, key?: string) =>
  post("/v1/images/edits", { model: "sim/image", prompt: "a hat", images: [{ file_id: id }] }, key);
const video = (id: string, key?: string) =>
  post("/v1/videos", { model: "sim/video", prompt: "a fox", input_reference: { file_id: id } }, key);

describe("choices 12: uploaded images in media requests", () => {
  test("an image is edited, and is the first frame of a video", async () => {
    const [edited, filmed] = [await edit(picture), await video(picture)];
    expect([edited.status, filmed.status]).toEqual([200, 200]);
  });

  test.each([
    ["an unknown id", () => "file-AAAAAAAAAAAAAAAAAAAAAA", OWNER],
    ["the id of a vendor", () => "file-abc123", OWNER],
    ["the image of another project", () => picture, STRANGER],
    ["a file that is no image", () => notes, OWNER],
  ])("%s is refused with its path", async (_name, id, key) => {
    for (const [answer, path] of [
      [await edit(id(), key), "images[0].file_id"],
      [await video(id(), key), "input_reference.file_id"],
    ] as const) {
      const { error } = (await answer.json()) as { error: { param: string } };
      expect([answer.status, error.param]).toEqual([400, path]);
    }
  });
});
