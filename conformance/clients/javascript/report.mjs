/** What every client script prints: one JSON line with what the client itself made of its calls. */
export const { TRIVIUM_URL: url, TRIVIUM_API_KEY: key, TRIVIUM_MODEL: model } = process.env;
export const { TRIVIUM_BROKEN_MODEL: brokenModel, TRIVIUM_REFUSING_MODEL: refusingModel } = process.env;
export const { TRIVIUM_FAILING_MODEL: failingModel } = process.env;
export const UNKNOWN_MODEL = "acme/unknown";
export const HELLO = "Hello, who are you?";
export const WEATHER = "Use get_weather: what is the weather in Paris?";
export const TWO_CITIES = "Use get_weather in parallel for Paris and Rome.";
export const DESCRIBE = "Describe a city.";
export const LOOK = "What is this?";
/** An image of one pixel. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const WEATHER_SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const chunks = [];
const tools = [];
const errors = {};
const shown = [];
let [input, output] = [0, 0];

export const addChunk = (text) => text && chunks.push(text);
export const tool = (name) => tools.push(name);
export const tokens = (sent, received) => {
  input += sent ?? 0;
  output += received ?? 0;
};
/** Something that the client must have shown; what it showed instead is printed. */
export const showCase = (name, holds, seen) => {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(seen)}`);
  shown.push(name);
};
/** A model that will not answer: the client tells it in words of its own, or by an error. */
export const decline = async (name, call) => {
  let told;
  try {
    told = await call();
  } catch (thrown) {
    told = thrown?.constructor?.name ?? typeof thrown;
  }
  showCase(name, Boolean(told) && !told.includes("simulator speaking"), told);
  errors[name] = told;
};
/** Calls, and keeps the name of the error that the client makes of it. */
export const error = async (name, call) => {
  errors[name] = null;
  try {
    await call();
  } catch (thrown) {
    errors[name] = thrown?.constructor?.name ?? typeof thrown;
    return thrown;
  }
};
export const show = () =>
  console.log(JSON.stringify({ text: chunks.join(""), chunks: chunks.length, tools, input, output, shown, ...errors }));
