/** What every client script prints: one JSON line with what the client itself made of its calls. */
export const { TRIVIUM_URL: url, TRIVIUM_API_KEY: key, TRIVIUM_MODEL: model } = process.env;
export const { TRIVIUM_BROKEN_MODEL: brokenModel } = process.env;
export const UNKNOWN_MODEL = "acme/unknown";
export const HELLO = "Hello, who are you?";
export const WEATHER = "Use get_weather: what is the weather in Paris?";
/** A picture of one pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const WEATHER_SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const chunks = [];
const tools = [];
const errors = {};
let [input, output] = [0, 0];

export const addChunk = (text) => text && chunks.push(text);
export const tool = (name) => tools.push(name);
export const tokens = (sent, received) => {
  input += sent ?? 0;
  output += received ?? 0;
};
/** Calls, and keeps the name of the error that the client makes of it. */
export const error = async (name, call) => {
  errors[name] = null;
  try {
    await call();
  } catch (thrown) {
    errors[name] = thrown?.constructor?.name ?? typeof thrown;
  }
};
export const show = () =>
  console.log(JSON.stringify({ text: chunks.join(""), chunks: chunks.length, tools, input, output, ...errors }));
