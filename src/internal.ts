/** What the package's own subpaths may use beside the public list. No export of the package names this module. */
export { readArguments } from './bind-host-tool.ts';
export { idsInFlight, newId } from './call/call-id.ts';
export { scrubStrings } from './call/secrets.ts';
export { alternatives, nullReader, resolve, takesNull } from './call/strict-nulls.ts';
export { contentParts, markContent, partText } from './content.ts';
export { registryStateOf } from './default-registry.ts';
export { createDefinition } from './define-tool.ts';
export { internalsOf, type OutsideOrigin, type OutsidePlace, seal } from './definition.ts';
export { describe, messageOf } from './errors.ts';
export { canonicalJson, cloneJson, copyJson, deepFreeze, escapePointer, isJsonObject } from './json.ts';
export { checkToolName, didYouMean, nameSkeleton, nearestNames } from './names.ts';
export { createRedactor } from './redact.ts';
export { resumeCall } from './resume.ts';
export { compileRules } from './rules.ts';
export { gateSchema } from './schema/gate.ts';
export type { SharedPatterns } from './schema/pattern-budget.ts';
export { sanitizeText } from './serialize.ts';
export { stateOf } from './session.ts';
