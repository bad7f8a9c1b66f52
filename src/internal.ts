/** What the package's own subpaths may use beside the public list. No export of the package names this module. */
export { scrubStrings } from './call/secrets.ts';
export { contentParts } from './content.ts';
export { registryStateOf } from './default-registry.ts';
export { createDefinition } from './define-tool.ts';
export { internalsOf, seal } from './definition.ts';
export { describe } from './errors.ts';
export { canonicalJson, cloneJson, copyJson, deepFreeze, escapePointer, isJsonObject } from './json.ts';
export { nearestNames } from './names.ts';
export { createRedactor } from './redact.ts';
export { stateOf } from './session.ts';
