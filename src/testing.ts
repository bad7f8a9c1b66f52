/** The testing kit's public list. Imports no test runner: what it gives are plain values and data. */

// Ports of the relay and of approvals
export type { RelayBus } from './relay/bus.ts';
export type { DueItem, LeaseHolder, LogEntry, RelayStore, StoredValue } from './relay/store.ts';
export { approvalStoreConformance } from './testing/approval-store-conformance.ts';
export { busConformance } from './testing/bus-conformance.ts';
// Coordinators
export type { MountRecord, TestCancellation, TestCoordinatorOptions } from './testing/coordinator.ts';
export { TestCoordinator } from './testing/coordinator.ts';
export type { ApprovalStub, StubAnswer } from './testing/coordinator-approval.ts';
export type { CoordinatorConformanceOptions } from './testing/coordinator-conformance.ts';
export { coordinatorConformance } from './testing/coordinator-conformance.ts';
export type { ConformanceRule, ConformanceTarget, CoordinatorFeature } from './testing/coordinator-conformance-rule.ts';
export type { TestHooks } from './testing/coordinator-hooks.ts';
export type { TestNodeBinding, TestNodeBindingOptions } from './testing/coordinator-node-binding.ts';
export { createTestNodeBinding } from './testing/coordinator-node-binding.ts';
export type { EventLog } from './testing/event-log.ts';
export { recordEvents } from './testing/event-log.ts';
export type { RecordedEvent } from './testing/event-recorder-coordinator.ts';
export { EventRecorder } from './testing/event-recorder-coordinator.ts';
export type { FixedClock } from './testing/fixed-clock.ts';
export { fixedClock } from './testing/fixed-clock.ts';
// Tools and sessions
export type { AnyObject, MockCall, MockSpies, MockTool, MockToolConfig } from './testing/mock-tool.ts';
export { mockTool } from './testing/mock-tool.ts';
export type { PortRule } from './testing/port-rule.ts';
// Tapes: recording and replaying
export type { TapeRecording } from './testing/record-tape.ts';
export { recordTape } from './testing/record-tape.ts';
export type { TapeMismatch, TapeReplay, TapeReport, TapeUnconsumed, TapeUndeclared } from './testing/replay-tape.ts';
export { replayTape } from './testing/replay-tape.ts';
// Models, clocks, ids
export type { ScriptedAnswer, ScriptedCall, ScriptedModel, ScriptedRequest, ScriptedTurn } from './testing/scripted-model.ts';
export { scriptedModel } from './testing/scripted-model.ts';
export { sequentialIds } from './testing/sequential-ids.ts';
export { storeConformance } from './testing/store-conformance.ts';
// Surfaces
export type { SurfaceAnswer, SurfaceConformanceOptions, SurfaceFeature, SurfaceRule, SurfaceUnderTest } from './testing/surface-conformance.ts';
export { surfaceConformance, surfaceFeatures } from './testing/surface-conformance.ts';
// Tapes: what they hold; test sessions
export type { Tape, TapeCall, TapeFailure, TapeSuccess, TapeTool } from './testing/tape.ts';
export type { TestSession, TestSessionOptions } from './testing/test-session.ts';
export { createTestSession } from './testing/test-session.ts';
