/**
 * What the package's own subpaths may use in addition to the public list. No export of the package
 * names this module.
 */

export { compileQuotas, compileRules, tryRule } from './assembly/compile.ts';
export { registryOptionNames, sessionOptionNames } from './assembly/part-table.ts';
export { takeAnswer } from './core/approval/wrong-answer.ts';
export type { CallObserver, CallRecord } from './core/call/call-observers.ts';
export type {
  CallEnd,
  CallStart,
  CallTrace,
  Phase,
  Told,
} from './core/call/call-tracers.ts';
export { idsInFlight, newId } from './core/call/calls-in-flight.ts';
export { type RemoteCall, remoteCall } from './core/call/remote-call.ts';
export { type Stop, stopOf } from './core/call/stop-of.ts';
export { offerPlaces } from './core/call/take-place.ts';
export { takeTraceContext } from './core/call/trace-context.ts';
export { traceContextOf } from './core/call/traced.ts';
export { judgingCopy } from './core/registry/judging-copy.ts';
export { type Observing, observeCalls } from './core/registry/observe-calls.ts';
export { type OpenSession, openSessions } from './core/registry/open-sessions.ts';
export { safeClock } from './core/registry/registry-options.ts';
export { registryStateOf } from './core/registry/state-of.ts';
export { traceCalls } from './core/registry/trace-calls.ts';
export { PolicyFault } from './core/rules/policy-fault.ts';
export type { CompiledRule } from './core/rules/rule.ts';
export { everyRule } from './core/rules/rule-use.ts';
export { readArguments } from './core/session/bind-host-tool.ts';
export { declareFacts } from './core/session/declared-facts.ts';
export { refusalOf } from './core/session/left-open.ts';
export { metricsOf } from './core/session/metrics.ts';
export { questionsOf } from './core/session/questions-of.ts';
export { stateOf } from './core/session/session.ts';
export { readSessionOptions } from './core/session/session-options.ts';
export { SessionState } from './core/session/session-state.ts';
export { unknownProfile } from './core/session/unknown-profile.ts';
export { listingOf } from './core/session/view.ts';
export { createDefinition, toolFieldNames } from './core/tool/define-tool.ts';
export {
  type FieldLabels,
  internalsOf,
  type OutsideOrigin,
  type OutsidePlace,
  seal,
} from './core/tool/definition.ts';
export { shownDescription } from './core/tool/deprecation.ts';
export { type Findable, findableIn, findToolsName } from './parts/discovery/discovery.ts';
export { durableSlot, keepApprovals } from './parts/durable-approvals/durable-state.ts';
export { isNamed } from './parts/durable-approvals/four-eyes.ts';
export { memoryApprovalStore } from './parts/durable-approvals/memory-store.ts';
export { resumeCall } from './parts/durable-approvals/resume.ts';
export { outcomeReader } from './parts/durable-approvals/settle-approval.ts';
export { isInboxStore, pageOf, rememberedMs } from './parts/durable-approvals/store.ts';
export { explain as explainCall } from './parts/explain/explain.ts';
export { type Judgement, judgeRecorded } from './parts/explain/judge-recorded.ts';
export { outputsOf } from './parts/offload/part.ts';
export { followOrigins, isTestedIn } from './parts/origins/follow-origins.ts';
export { overheard, rememberSeen } from './parts/origins/overhear.ts';
export { toldOrigins } from './parts/origins/told-origins.ts';
export { everyQuota, quotasOf, registryQuotas } from './parts/quotas/quota-state.ts';
export { reviewOf } from './parts/rule-review/rule-review.ts';
export { maskingOf } from './parts/secrets/secret-masking.ts';
export { packageVersion } from './values/packages/own-version.ts';
export { alternatives } from './values/schema/schema-places.ts';
export { nullReader, takesNull } from './values/schema/takes-null.ts';
