// Writes src/api/schema.d.ts, the types of the API, from openapi.json.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const api = JSON.parse(readFileSync("openapi.json", "utf-8"));
// Later versions may add fields to an answer; a name that is not known now is a mistake all the same.
for (const schema of Object.values(api.components.schemas))
  if (schema.properties) delete schema.additionalProperties;
writeFileSync("src/api/schema.d.ts", astToString(await openapiTS(api, { alphabetize: true })));
