/**
 * What the package's own subpaths may use beside the public list. No export of the package names
 * this module.
 */
export { takeAnswer } from './approval/wrong-answer.ts';
export { alternatives } from './call/schema-places.ts';
export { nullReader, takesNull } from './call/takes-null.ts';
export { rememberSeen } from './call/remember.ts';
export { loggedError, logTo } from './logging.ts';
export { packageFault } from './packages/missing-package.ts';
export { packageVersion } from './packages/own-version.ts';
export { PolicyFault } from './policy/policy-fault.ts';
export { compileQuotas } from './policy/quotas.ts';
export { compileRules } from './policy/rules.ts';
export { registryStateOf } from './registry/default-registry.ts';
export { readArguments } from './session/bind-host-tool.ts';
export { resumeCall } from './session/resume.ts';
export { stateOf } from './session/session.ts';
export { readSessionOptions, sessionOptionNames } from './session/session-options.ts';
export { idsInFlight, newId } from './state/calls-in-flight.ts';
export { registryOptionNames, safeClock } from './state/registry-options.ts';
export { followOrigins, overheard } from './state/session-origins.ts';
export { createDefinition, toolFieldNames } from './tool/define-tool.ts';
export { internalsOf, type OutsideOrigin, type OutsidePlace, seal } from './tool/definition.ts';
