/** What only the runtime of the tool contract needs: its Node binding, its hook stream, its modules. */

export type { CoordinatorFault, FaultListener } from './amplifier/coordinator-faults.ts';
export type { HookEvent, HookPolicyBefore, HookPolicyDeny, HookToolAfter, HookToolBefore } from './amplifier/hook-events.ts';
export { hookEvents } from './amplifier/hook-events.ts';
export type { ModuleOptions, ToolModule } from './amplifier/module.ts';
export { createModule } from './amplifier/module.ts';
export type { ModuleConfig } from './amplifier/module-config.ts';
export type { NodeBindingOptions, NodeCoordinator } from './amplifier/node-binding.ts';
export { fromNodeBinding } from './amplifier/node-binding.ts';
export type { NodeBinding, NodeHookResult, NodeHooks } from './amplifier/node-binding-port.ts';
export type { AsyncHandlers, NodeHooksPort } from './amplifier/node-hooks.ts';
