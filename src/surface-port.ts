/**
 * What the package's own subpaths may use in addition to the public list. No export of the package
 * names this module.
 */
export { isNamed } from './approval/four-eyes.ts';
export { memoryApprovalStore } from './approval/memory-store.ts';
export { isInboxStore, pageOf, rememberedMs } from './approval/store.ts';
export { createTokenSigner } from './approval/token.ts';
export { toldOrigins } from './approval/told-origins.ts';
export { takeAnswer } from './approval/wrong-answer.ts';
export { rememberSeen } from './call/remember.ts';
export { type RemoteCall, remoteCall } from './call/remote-call.ts';
export { alternatives } from './call/schema-places.ts';
export { type Stop, stopOf } from './call/stop-of.ts';
export { nullReader, takesNull } from './call/takes-null.ts';
export { traceContextOf } from './call/traced.ts';
export { loggedError, logTo } from './logging.ts';
export { packageVersion } from './packages/own-version.ts';
export { PolicyFault } from './policy/policy-fault.ts';
export { compileQuotas } from './policy/quotas.ts';
export type { CompiledRule } from './policy/rule.ts';
export { compileRules, tryRule } from './policy/rules.ts';
export { registryStateOf } from './registry/default-registry.ts';
export { type Observing, observeCalls } from './registry/observe-calls.ts';
export { type OpenSession, openSessions } from './registry/open-sessions.ts';
export { traceCalls } from './registry/trace-calls.ts';
export { readArguments } from './session/bind-host-tool.ts';
export { explain as explainCall } from './session/explain.ts';
export { type Judgement, judgeRecorded } from './session/judge-recorded.ts';
export { refusalOf } from './session/left-open.ts';
export { metricsOf } from './session/metrics.ts';
export { resumeCall } from './session/resume.ts';
export { stateOf } from './session/session.ts';
export { readSessionOptions, sessionOptionNames } from './session/session-options.ts';
export { inboxStoreOf, outcomeIn } from './session/settle-approval.ts';
export { unknownProfile } from './session/unknown-profile.ts';
export type { CallObserver, CallRecord } from './state/call-observers.ts';
export type {
  CallEnd,
  CallStart,
  CallTrace,
  CallTracer,
  Phase,
  Told,
} from './state/call-tracers.ts';
export { idsInFlight, newId } from './state/calls-in-flight.ts';
export { declareFacts } from './state/declared-facts.ts';
export { type Findable, findableIn, findToolsName, listingOf } from './state/discovery.ts';
export { judgingCopy } from './state/judging-copy.ts';
export { readerName } from './state/offload-options.ts';
export { offerPlaces } from './state/places.ts';
export { registryOptionNames, safeClock } from './state/registry-options.ts';
export { everyQuota, everyRule } from './state/rule-use.ts';
export { followOrigins, overheard } from './state/session-origins.ts';
export { SessionState } from './state/session-state.ts';
export { takeTraceContext } from './state/trace-context.ts';
export { createDefinition, toolFieldNames } from './tool/define-tool.ts';
export {
  type FieldLabels,
  internalsOf,
  type OutsideOrigin,
  type OutsidePlace,
  seal,
} from './tool/definition.ts';
export { shownDescription } from './tool/deprecation.ts';
