/** Scopes: a plugin gets one instead of the registry. */

import type { Rule } from '../../api/rule.ts';
import type { AnyTool, ToolRegistration } from '../../api/tool.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { anything, kind, type TableOf, text, withDefault } from '../../values/options/index.ts';
import { internalsOf, renameDefinition } from '../tool/definition.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';

/** Registers, lists, drains and disposes its own tools. It cannot see other tools. */
export interface ToolScope<S = unknown> {
  /** Names the origin of its tools: the `source` in rules, events and errors. */
  readonly source: string;
  /**
   * Adds a tool, with the scope's prefix before its name.
   * @throws MisuseError like the registry's `register`, and `closed` once the scope is disposed.
   */
  register(definition: AnyTool<S>): ToolRegistration;
  /**
   * Adds all of the tools or, if one is refused, none. Emits one `tools:changed`.
   * @throws MisuseError like `register`.
   */
  registerAll(definitions: readonly AnyTool<S>[]): readonly ToolRegistration[];
  /** The names of the scope's own tools, with the prefix, in the order in which they were added. */
  listNames(): readonly string[];
  /** Resolves when no call to the scope's tools is in flight. */
  drain(): Promise<void>;
  /** Removes the scope's tools and rules, then waits for calls in flight. Idempotent. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface ScopePort<S> {
  readonly source: string;
  readonly prefix: string;
  add(definitions: readonly AnyTool<S>[]): readonly ToolRegistration[];
  entries(): readonly ToolEntry[];
  remove(entries: readonly ToolEntry[]): void;
  disposed(): void;
}

export function createScope<S>(port: ScopePort<S>): ToolScope<S> {
  const { source, prefix } = port;
  let disposed = false;
  const add = (definitions: readonly AnyTool<S>[]): readonly ToolRegistration[] => {
    if (disposed) throw new MisuseError('closed', `The scope \`${source}\` is disposed.`);
    return port.add(
      prefix === '' ? definitions : definitions.map((definition) => renamed(definition, prefix)),
    );
  };
  const drain = async (): Promise<void> => {
    await Promise.all(port.entries().map((entry) => entry.drain()));
  };
  const dispose = async (): Promise<void> => {
    if (disposed) return;
    disposed = true;
    const entries = port.entries();
    if (entries.length > 0) port.remove(entries);
    port.disposed();
    await Promise.all(entries.map((entry) => entry.drain()));
  };
  return Object.freeze({
    source,
    register: (definition: AnyTool<S>) => add([definition])[0] as ToolRegistration,
    registerAll: add,
    listNames: () => [...new Set(port.entries().map(({ name }) => name))],
    drain,
    dispose,
    [Symbol.asyncDispose]: dispose,
  });
}

function renamed<S>(definition: AnyTool<S>, prefix: string): AnyTool<S> {
  internalsOf(definition);
  return renameDefinition(definition as AnyTool, prefix + definition.name) as AnyTool<S>;
}

/** Options of `HostToolRegistry.scope`. */
export interface ScopeOptions {
  /** Prepended to the name of each of the scope's tools. @default "" */
  readonly prefix?: string | undefined;
  /** Rules for the scope's own tools. @default none */
  readonly rules?: readonly Rule[] | undefined;
}

/** The source of the tools that the host registers itself. */
export const host = 'host';

export const scopeTable = {
  prefix: withDefault(text(), ''),
  rules: anything<readonly Rule[]>(),
} satisfies TableOf<ScopeOptions>;

export const scopeSource = kind<string>(
  'a non-blank string other than "host" and "session"',
  (value) =>
    typeof value === 'string' && value.trim() !== '' && value !== host && value !== 'session',
);
