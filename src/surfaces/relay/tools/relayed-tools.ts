/**
 * Keeps the application's tools in a governed session up to date: registers new ones, replaces
 * changed ones in their place, and removes the others.
 */
import {
  type AnyTool,
  type Executor,
  type JsonObject,
  MisuseError,
  type ToolContext,
  type ToolRegistration,
  type ToolSession,
} from '../../../core.ts';
import type { OutsidePlace } from '../../../extend.ts';
import { canonicalJson } from '../../../values/json/index.ts';
import type { RelayedDefinition, ToolsDocument } from '../ports/documents.ts';
import type { RelayLogger } from '../settings.ts';
import { definitionPause } from './read-definitions.ts';
import { defineRelayedTool, learnApplication } from './relayed-tool.ts';

/** The tools of one session. */
export interface RelayedTools {
  /**
   * Makes the session's own tools match the document, and its facts match what the application
   * declares. It lets other requests run between tools. Calls to this function must not overlap.
   */
  show(document: ToolsDocument): Promise<void>;
  has(name: string): boolean;
  /** Characters of the definitions as JSON. */
  readonly chars: number;
}

/** Options of {@link createRelayedTools}. */
export interface RelayedToolsOptions {
  readonly code: string;
  readonly session: ToolSession;
  /** Milliseconds that a call may take. */
  readonly requestTimeoutMs: number;
  readonly logger: RelayLogger;
  run(input: JsonObject, context: ToolContext, idempotent: boolean): Promise<unknown>;
}

interface Shown {
  /** The definition as JSON. A tool with the same text is left unchanged. */
  readonly text: string;
  readonly registration: ToolRegistration;
  readonly place: OutsidePlace | undefined;
}

/**
 * Starts without tools. Longer than 60 lines, since registering, replacing and removing tools all
 * work on the same map.
 */
export function createRelayedTools({
  code,
  session,
  requestTimeoutMs,
  logger,
  run,
}: RelayedToolsOptions): RelayedTools {
  const shown = new Map<string, Shown>();
  const executorOf = (idempotent: boolean): Executor =>
    Object.freeze({
      kind: 'remote' as const,
      execute: (input: JsonObject, context: ToolContext) => run(input, context, idempotent),
    });
  const executors = { once: executorOf(false), again: executorOf(true) };

  const put = (definition: RelayedDefinition, pluginType: string): void => {
    const text = canonicalJson({ ...definition, pluginType });
    const { name } = definition;
    const before = shown.get(name);
    if (before?.text === text) return;
    let place: OutsidePlace | undefined;
    const tool = defineRelayedTool(definition, {
      source: `relay:${code}`,
      pluginType,
      timeoutMs: requestTimeoutMs,
      executor: definition.annotations?.idempotent === true ? executors.again : executors.once,
      onRegistered: (registered) => {
        place = registered;
      },
    }) as AnyTool<unknown>;
    if (before?.place === undefined) {
      before?.registration.unregister();
      const registration = session.register(tool);
      shown.set(name, { text, registration, place });
    } else {
      before.place.replace(tool);
      shown.set(name, { text, registration: before.registration, place: before.place });
    }
  };

  return {
    async show({ definitions, pluginType, capabilities }) {
      const pause = definitionPause();
      // The facts come first, because tools of the host may depend on them: then agents hear of one
      // change instead of two.
      learnApplication(session, capabilities);
      const wanted = new Set(definitions.map(({ name }) => name));
      for (const [name, { registration }] of shown) {
        if (wanted.has(name)) continue;
        shown.delete(name);
        registration.unregister();
      }
      for (const definition of definitions) {
        try {
          put(definition, pluginType);
        } catch (error) {
          if (error instanceof MisuseError && error.code === 'closed') return;
          // For example, a tool of the host has got the same name in the meantime. The former
          // definition must not stay callable.
          shown.get(definition.name)?.registration.unregister();
          shown.delete(definition.name);
          logger.warn(
            { tool: definition.name, error: error instanceof Error ? error.message : typeof error },
            'relay: a registered tool cannot be shown',
          );
        }
        await pause();
      }
    },
    has: (name) => shown.has(name),
    get chars() {
      let chars = 0;
      for (const { text } of shown.values()) chars += text.length;
      return chars;
    },
  };
}
