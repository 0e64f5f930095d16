/** What every client script prints: one JSON line with what the client itself made of its calls. */
export const { TRIVIUM_URL: url, TRIVIUM_API_KEY: key, TRIVIUM_MODEL: model } = process.env;
export const HELLO = "Hello, who are you?";
export const WEATHER = "Use get_weather: what is the weather in Paris?";
export const WEATHER_SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const chunks = [];
const tools = [];
let [input, output] = [0, 0];

export const addChunk = (text) => text && chunks.push(text);
export const tool = (name) => tools.push(name);
export const tokens = (sent, received) => {
  input += sent ?? 0;
  output += received ?? 0;
};
export const show = () =>
  console.log(JSON.stringify({ text: chunks.join(""), chunks: chunks.length, tools, input, output }));
