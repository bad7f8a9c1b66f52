/**
 * The async context in which code of the host was running, such as the stores of its
 * `AsyncLocalStorage`. Code that runs later on behalf of a call runs in the context of that call,
 * and not in that of whoever owns the timer or the connection.
 */

/** A context to which code can return. */
export interface AsyncScope {
  runInAsyncScope<T>(run: () => T): T;
}

interface Runtime {
  readonly process?: {
    getBuiltinModule?(name: string): { AsyncResource?: new (type: string) => AsyncScope };
  };
}

/** Looked up at run time, so that the core imports no module that browsers lack. */
const Resource = asyncResource();

function asyncResource(): (new (type: string) => AsyncScope) | undefined {
  try {
    return (globalThis as Runtime).process?.getBuiltinModule?.('node:async_hooks').AsyncResource;
  } catch {
    // A runtime that only looks like Node has no such contexts.
    return undefined;
  }
}

/** The present context; undefined if the runtime has none. */
export function currentScope(): AsyncScope | undefined {
  return Resource === undefined ? undefined : new Resource('host-tools');
}

/** Runs a function in a context; in the present one if none is given. */
export function inScope<T>(scope: AsyncScope | undefined, run: () => T): T {
  return scope === undefined ? run() : scope.runInAsyncScope(run);
}
