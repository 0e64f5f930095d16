import { expect, test } from "bun:test";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import { kling } from "./index.ts";
import { signToken, tokenBearer } from "./token.ts";

const NOW = 1_767_225_600;

test("providers 3.4: a token equals one that was made with openssl", () => {
  expect(signToken("AK-example", "SK-example", NOW)).toBe(
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." +
      "eyJpc3MiOiJBSy1leGFtcGxlIiwiZXhwIjoxNzY3MjI3NDAwLCJuYmYiOjE3NjcyMjU1OTV9." +
      "AJfxIl2kf83HibrDN4KTxatXYmBoWxKMA0G3fBlH5zE",
  );
});

test("providers 3.4: a token is kept until a minute before it expires", () => {
  let nowSeconds = NOW;
  const authenticate = tokenBearer("AK-example", "SK-example", () => nowSeconds * 1000);
  const first = authenticate();
  nowSeconds = NOW + 1800 - 61;
  expect(authenticate()).toBe(first);
  nowSeconds = NOW + 1800 - 60;
  expect(authenticate()).toEqual({ authorization: `Bearer ${signToken("AK-example", "SK-example", nowSeconds)}` });
  expect(authenticate()).not.toEqual(first);
});

test("providers 3.4: an account has a key or a pair of keys", () => {
  const settings = { name: "kling", kind: "kling" };
  expect(kling.authenticate({ ...settings, apiKey: new Secret("key-1") }, system)()).toEqual({
    authorization: "Bearer key-1",
  });
  const pair = { accessKey: new Secret("AK-example"), secretKey: new Secret("SK-example") };
  expect(kling.authenticate({ ...settings, ...pair }, system)()).toEqual({
    authorization: expect.stringMatching(/^Bearer eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
  });
  expect(() => kling.authenticate({ ...settings, accessKey: pair.accessKey }, system)).toThrow(
    "either api_key or both access_key and secret_key are required",
  );
});
