/** Plain JSON Schemas, and regular expressions in rules. */
export { jsonSchemas } from './part.ts';
