/** The testing kit's public list. It imports no test runner and exports plain values and data. */

// Programs
export { codeRunnerConformance } from './conformance/code-runner-conformance.ts';
// Coordinators
export {
  type CoordinatorConformanceOptions,
  coordinatorConformance,
} from './conformance/coordinator-conformance.ts';
export type {
  ConformanceRule,
  ConformanceTarget,
  CoordinatorFeature,
} from './conformance/coordinator-conformance-rule.ts';
// Executors
export type {
  ExecutorConformanceOptions,
  ExecutorFeature,
  ExecutorRule,
} from './conformance/executor-conformance.ts';
export { executorConformance, executorFeatures } from './conformance/executor-conformance.ts';
export type { ExecutorTask } from './conformance/executor-world.ts';
export type { PortRule } from './conformance/port-rule.ts';
export { storeConformance } from './conformance/store-conformance.ts';
// Surfaces
export type {
  SurfaceAnswer,
  SurfaceConformanceOptions,
  SurfaceRule,
  SurfaceUnderTest,
} from './conformance/surface-conformance.ts';
export { surfaceConformance } from './conformance/surface-conformance.ts';
export type { SurfaceFeature } from './conformance/surface-conformance-rows.ts';
export { surfaceFeatures } from './conformance/surface-conformance-rows.ts';
export { TestCoordinator } from './coordinator/coordinator.ts';
export type { TestHooks } from './coordinator/coordinator-hooks.ts';
export type {
  TestNodeBinding,
  TestNodeBindingOptions,
} from './coordinator/coordinator-node-binding.ts';
export { createTestNodeBinding } from './coordinator/coordinator-node-binding.ts';
export type {
  ApprovalStub,
  MountRecord,
  StubAnswer,
  TestCancellation,
  TestCoordinatorOptions,
} from './coordinator/coordinator-options.ts';
export type { RecordedEvent } from './coordinator/event-recorder-coordinator.ts';
export { EventRecorder } from './coordinator/event-recorder-coordinator.ts';
// Models, clocks, ids, events
export type { EventLog } from './event-log.ts';
export { recordEvents } from './event-log.ts';
export { type FixedClock, fixedClock, sequentialIds } from './fixed-clock.ts';
// Tools and sessions
export type { AnyObject, MockCall, MockSpies, MockTool, MockToolConfig } from './mock-tool.ts';
export { mockTool } from './mock-tool.ts';
export type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedModel,
  ScriptedRequest,
  ScriptedTurn,
} from './scripted-model.ts';
export { scriptedModel } from './scripted-model.ts';
// Tapes
export type { TapeRecording } from './tape/record-tape.ts';
export { recordTape } from './tape/record-tape.ts';
export type {
  TapeMismatch,
  TapeReplay,
  TapeReport,
  TapeUnconsumed,
  TapeUndeclared,
} from './tape/replay-tape.ts';
export { replayTape } from './tape/replay-tape.ts';
export type { Tape, TapeCall, TapeFailure, TapeSuccess, TapeTool } from './tape/tape.ts';
export type { TestSession, TestSessionOptions } from './test-session.ts';
export { createTestSession } from './test-session.ts';
