/**
 * The entry `host-tools/extend`: how adapters, executors, stores and observers reach the core. The
 * surfaces of this package use it too.
 */

// Gates

export { defineGate } from './core/gates/define-gate.ts';
export { PolicyFault } from './core/rules/policies.ts';

// Observers

export type { CallObserver, CallRecord } from './core/call/call-observers.ts';
export type { CallEnd, CallStart, CallTrace, CallTracer } from './core/call/call-tracers.ts';
export { type Observing, observeCalls, traceCalls } from './core/registry/observe-calls.ts';

// Adapters

export { inspectRegistry, type RegistryView } from './extend/registry-view.ts';
export { inspectSession, type SessionView } from './extend/session-view.ts';
export { inspectTool, type ToolView } from './extend/tool-view.ts';

// Executors

export { offerPlaces } from './core/call/take-place.ts';
export { type RunningCall, runningCall } from './extend/running-call.ts';

// Definitions

export type { OutsideOrigin, OutsidePlace } from './core/tool/definition.ts';
export { createDefinition, optionNames } from './extend/definitions.ts';

// Stores

export type { Store } from './api/store.ts';
