/**
 * The parts that only the amplifier runtime needs: its Node binding, its hook stream and its
 * modules.
 */

export type { CoordinatorFault, FaultListener } from './coordinator-state.ts';
export type {
  HookEvent,
  HookPolicyBefore,
  HookPolicyDeny,
  HookPolicyShadow,
  HookToolAfter,
  HookToolBefore,
} from './hook-events.ts';
export { hookEvents } from './hook-events.ts';
export type { ModuleOptions, ToolModule } from './module.ts';
export { createModule } from './module.ts';
export type { ModuleConfig } from './module-config.ts';
export type { ModuleSource } from './module-source.ts';
export { fromNodeBinding, type NodeBindingOptions, type NodeCoordinator } from './node-binding.ts';
export type { NodeBinding, NodeHookResult, NodeHooks } from './node-binding-port.ts';
export type { AsyncHandlers, NodeHooksPort } from './node-hooks.ts';
